import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a port of this machine that can be cut, as a network does. */
export interface Proxy {
  readonly url: string;
  /** Breaks every connection; further ones pass. */
  cut(): void;
  stop(): Promise<void>;
}

export async function startProxy(port: number): Promise<Proxy> {
  const open = new Set<Socket>();
  const keep = (socket: Socket) => {
    open.add(socket);
    // A cut connection reports a reset, which is the purpose.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
  };
  const server = createServer((client) => {
    const service = connect(port, '127.0.0.1');
    for (const socket of [client, service]) keep(socket);
    client.pipe(service).pipe(client);
    client.on('close', () => service.destroy());
    service.on('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    stop: async () => {
      server.close();
      cut();
      await once(server, 'close');
    },
  };
}
