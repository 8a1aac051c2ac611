import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Receiver of webhooks on this machine. `respond` returns the status of a request. */
export async function startReceiver(
  respond: (request: Received) => number | Promise<number> = () => 204,
): Promise<{ readonly url: string; readonly requests: Received[]; close(): Promise<void> }> {
  const requests: Received[] = [];
  const server = createServer(async (request, reply) => {
    const received = {
      path: request.url!,
      headers: request.headers as Record<string, string>,
      body: await text(request),
    };
    requests.push(received);
    const status = await respond(received);
    reply.writeHead(status, status === 302 ? { location: 'http://127.0.0.1:1/' } : {}).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
