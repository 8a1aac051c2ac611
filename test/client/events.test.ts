import { describe, expect, it } from 'vitest';
import { NotFoundError, UnavailableError, watchHyperopt, watchJobs } from '../../src/client/index.ts';
import { broken, clientOf, rejected, streamed } from './service.ts';

const ended = () => new Response(null, { status: 204 });
const event = (id: number, name = 'job') => `id: ${id}\nevent: ${name}\ndata: {"n":${id}}\n\n`;

async function all(events: AsyncIterable<{ name: string; id: string; data: unknown }>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { name, id, data } of events) found.push([name, id, data]);
  return found;
}

describe('events', () => {
  it('continue after the last one when the connection breaks or is renewed, until the stream ends', async () => {
    const { connection, sent, pauses } = clientOf([
      streamed([': comment\n\n', event(1), event(2)], false),
      broken,
      streamed(['event: reconnect\ndata: {}\n\n']),
      streamed([event(3)]),
      ended,
    ]);
    expect(await all(watchJobs(connection, { types: '*' }))).toEqual([
      ['job', '1', { n: 1 }],
      ['job', '2', { n: 2 }],
      ['job', '3', { n: 3 }],
    ]);
    expect(sent.map(({ headers }) => headers.get('Last-Event-ID'))).toEqual([null, '2', '2', '2', '3']);
    expect(sent[0]!.url).toBe('/services/backend/api/v1/events?types=*');
    expect(sent[0]!.headers.get('Accept')).toBe('text/event-stream');
    // Pauses grow while no event arrives, and begin anew with the next.
    expect(pauses[1]).toBeGreaterThanOrEqual(750);
    expect(pauses[3]).toBeLessThanOrEqual(625);
  });

  it('are read from pieces of any size and with either line break', async () => {
    const text =
      'id: 1\r\nevent: trial\r\ndata: {"a":\r\ndata: "Zoë\u2028"}\r\n\r\nid: 2\ndata: 2\n\nid: 3\ndata: 3\n';
    const bytes = [...new TextEncoder().encode(text)];
    const { connection } = clientOf([
      () =>
        new Response(
          new ReadableStream({
            pull(controller) {
              const byte = bytes.shift();
              if (byte === undefined) controller.close();
              else controller.enqueue(Uint8Array.of(byte));
            },
          }),
        ),
      ended,
    ]);
    expect(await all(watchHyperopt(connection, { job_id: 'ho-1' }))).toEqual([
      ['trial', '1', { a: 'Zoë\u2028' }],
      ['message', '2', 2],
    ]);
  });

  it('begin after the given id', async () => {
    const { connection, sent } = clientOf([ended]);
    await all(watchHyperopt(connection, { job_id: 'ho-1', after: '7' }));
    expect(sent[0]!.headers.get('Last-Event-ID')).toBe('7');
  });

  it('a rejected stream is an error at once, one that does not come back after 24 connections', async () => {
    const rejection = clientOf([rejected(404, 'OPT001')]);
    await expect(all(watchHyperopt(rejection.connection, { job_id: 'ho-1' }))).rejects.toThrow(NotFoundError);
    const down = clientOf(Array.from({ length: 24 }, () => rejected(503, 'HTTP503', { 'Retry-After': '3' })));
    await expect(all(watchJobs(down.connection))).rejects.toThrow(UnavailableError);
    expect(down.sent).toHaveLength(24);
    expect(Math.min(...down.pauses)).toBeGreaterThanOrEqual(3_000);
  });

  it('end with the reason of the signal, and cancel the connection when the consumer stops', async () => {
    const stop = new AbortController();
    const { connection } = clientOf([streamed([event(1), event(2)], false)], {
      pause: async (_, signal) => signal?.throwIfAborted(),
    });
    const read = async () => {
      for await (const _ of watchJobs(connection, {}, { signal: stop.signal }))
        stop.abort(new Error('enough'));
    };
    await expect(read()).rejects.toThrow('enough');

    let cancelled = false;
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(event(1))),
      cancel: () => {
        cancelled = true;
      },
    });
    const second = clientOf([() => new Response(body)]);
    for await (const _ of watchJobs(second.connection)) break;
    expect(cancelled).toBe(true);
  });
});
