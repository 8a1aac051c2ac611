import { type ConnectOptions, connect } from '../../src/client/index.ts';

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** One response, or a broken connection. */
type Reply = (sent: Sent, signal: AbortSignal) => Response | Promise<Response>;

export const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Reply =>
  () =>
    Response.json(body, { status, headers });

export const rejected = (status: number, code: string, headers: Record<string, string> = {}) =>
  json({ detail: { code, message: `Why ${code}`, field: 'x', context: { n: 1 } } }, status, headers);

export const broken: Reply = () => Promise.reject(new TypeError('fetch failed'));

/** A stream of these chunks that then ends or, without `ends`, breaks. */
export const streamed =
  (chunks: readonly string[], ends = true): Reply =>
  () => {
    const parts = [...chunks];
    const body = new ReadableStream({
      pull(controller) {
        const next = parts.shift();
        if (next !== undefined) controller.enqueue(new TextEncoder().encode(next));
        else if (ends) controller.close();
        else controller.error(new TypeError('terminated'));
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  };

/** A client of a service with these replies, in turn. Pauses take no time: they are in `pauses`, ms. */
export function clientOf(replies: readonly Reply[], options: ConnectOptions = {}) {
  const sent: Sent[] = [];
  const pauses: number[] = [];
  const connection = connect('http://touchstone.test/', {
    fetch: async (input, init = {}) => {
      const body = init.body ? JSON.parse(String(init.body)) : undefined;
      const call = {
        method: init.method!,
        url: String(input).replace('http://touchstone.test', ''),
        headers: new Headers(init.headers),
        body,
      };
      const reply = replies[sent.length];
      sent.push(call);
      if (!reply) throw new Error(`Nothing replies to call ${sent.length}: ${call.method} ${call.url}`);
      init.signal?.throwIfAborted();
      return reply(call, init.signal!);
    },
    pause: async (ms) => {
      pauses.push(ms);
    },
    ...options,
  });
  return { connection, sent, pauses };
}
