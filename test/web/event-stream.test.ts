import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { followStream, type RawEvent, type Rejection } from '../../web/src/api/event-stream.ts';

/** The dashboard's follower of server-sent events, against connections made here and a clock that the tests turn. */

interface Connection {
  readonly lastId: string | undefined;
  send(data: string | Uint8Array): void;
  end(): void;
  fail(): void;
}

const event = (id: number, data = 'x') => `event: trial\nid: ${id}\ndata: ${data}\n\n`;

let connections: Connection[];
let rejections: Rejection[];
let isOver: boolean;
let stop: AbortController;
let states: string[];
let events: RawEvent[];

beforeEach(() => {
  vi.useFakeTimers();
  [connections, rejections, states, events] = [[], [], [], []];
  isOver = false;
  stop = new AbortController();
});
afterEach(() => {
  stop.abort();
  vi.useRealTimers();
});

function open(lastId: string | undefined): Promise<Response | Rejection> {
  const rejection = rejections.shift();
  if (rejection) return Promise.resolve(rejection);
  if (isOver) return Promise.resolve(new Response(null, { status: 204 }));
  let control!: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start: (made) => {
      control = made;
    },
  });
  connections.push({
    lastId,
    send: (data) => control.enqueue(typeof data === 'string' ? new TextEncoder().encode(data) : data),
    end: () => control.close(),
    fail: () => control.error(new Error('connection reset')),
  });
  return Promise.resolve(new Response(body));
}

function start(lastId?: string): Promise<void> {
  return followStream({
    signal: stop.signal,
    open,
    lastId,
    onEvent: (each) => events.push(each),
    onState: (state) => states.push(state),
  });
}

const ids = () => events.map(({ id }) => id);
/** Lets everything that is due within a minute happen. */
const minute = () => vi.advanceTimersByTimeAsync(60_000);
const now = () => vi.advanceTimersByTimeAsync(0);

describe('follower of an event stream', () => {
  test('continues from the last event after a break, without loss or repetition', async () => {
    void start();
    await now();
    connections[0]!.send(event(1) + event(2));
    await now();
    connections[0]!.fail();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(connections[1]!.lastId).toBe('2');
    connections[1]!.send(event(3));
    await now();
    expect(ids()).toEqual(['1', '2', '3']);
    expect(states).toEqual(['connecting', 'live', 'retrying', 'live']);
  });

  test('starts after the event that the caller has', async () => {
    void start('41');
    await now();
    expect(connections[0]!.lastId).toBe('41');
  });

  test('reads events cut anywhere, also within a character', async () => {
    void start();
    await now();
    for (const byte of new TextEncoder().encode(event(1, 'µ'))) connections[0]!.send(Uint8Array.of(byte));
    await now();
    expect(events).toEqual([{ name: 'trial', id: '1', data: 'µ' }]);
  });

  test('ends at 204 and does not reconnect', async () => {
    const done = start();
    await now();
    isOver = true;
    connections[0]!.end();
    await minute();
    await done;
    expect(states.at(-1)).toBe('ended');
    expect(connections).toHaveLength(1);
  });

  test('reconnect ends a connection without reaching the caller', async () => {
    void start();
    await now();
    connections[0]!.send(`${event(7)}event: reconnect\ndata: {}\n\n`);
    connections[0]!.end();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(ids()).toEqual(['7']);
    expect(connections[1]!.lastId).toBe('7');
  });

  test('a final rejection is not tried again', async () => {
    rejections = [{ error: new Error('403'), isFinal: true }];
    await start();
    await minute();
    expect(states).toEqual(['connecting', 'refused']);
    expect(connections).toHaveLength(0);
  });

  test('a passing rejection is tried again, not before its Retry-After', async () => {
    rejections = [{ error: new Error('503'), isFinal: false, retryAfter: 20 }];
    void start();
    await vi.advanceTimersByTimeAsync(19_900);
    expect(connections).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(200);
    expect(connections).toHaveLength(1);
  });

  test('pauses grow while a service dies after each connection, and stay below 40 s', async () => {
    void start();
    const opened: number[] = [];
    const begin = Date.now();
    for (let count = 0; count < 12; count++) {
      while (connections.length <= count) await vi.advanceTimersByTimeAsync(50);
      opened.push(Date.now() - begin);
      // The same event each time, as a snapshot has it: no progress.
      connections[count]!.send(event(1));
      connections[count]!.fail();
      await now();
    }
    const pauses = opened.slice(1).map((at, index) => at - opened[index]!);
    expect(pauses[0]).toBeLessThan(1_000);
    expect(pauses.at(-1)).toBeGreaterThan(20_000);
    expect(Math.max(...pauses)).toBeLessThan(40_000);
  });

  test('a connection silent for 45 s is given up, one with comments is not', async () => {
    void start();
    await now();
    for (let beats = 0; beats < 8; beats++) {
      connections[0]!.send(': heartbeat\n\n');
      await vi.advanceTimersByTimeAsync(15_000);
    }
    expect(connections).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(connections.length).toBeGreaterThan(1);
  });

  test('stops when the caller leaves', async () => {
    const done = start();
    await now();
    stop.abort();
    connections[0]!.fail();
    await done;
    await minute();
    expect(connections).toHaveLength(1);
  });
});
