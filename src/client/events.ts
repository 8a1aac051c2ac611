import { backOff, type Connection, type Input, mayPass, noResponse, type Route, send } from './connection.ts';
import { TouchstoneError } from './errors.ts';

interface Event {
  readonly name: string;
  readonly id: string;
  readonly data: unknown;
}

/** Services send a comment every 15 s: a connection that is silent for three of them is dead. */
const SILENCE_MS = 45_000;
/** Failures in a row, after which a stream or a wait ends with the error: some ten minutes. */
export const MAX_FAILURES = 24;

/**
 * Events of a stream until it ends. After a break it continues after the last event. `after` of the input is the ID of the event to
 * begin after.
 *
 * @throws TouchstoneError when the stream is rejected or does not come back, the reason of `signal` when it is aborted
 */
export async function* follow(
  connection: Connection,
  route: Route,
  input: Input = {},
  signal?: AbortSignal,
): AsyncGenerator<Event, void, undefined> {
  const position: Position = { last: input.after === undefined ? '' : String(input.after), failures: 0 };
  for (;;) {
    let wait = 0;
    try {
      if (yield* connectOnce(connection, route, input, signal, position)) return;
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof TouchstoneError) || !mayPass(error)) throw error;
      if (position.failures + 1 >= MAX_FAILURES) throw error;
      wait = (error.retryAfterSeconds ?? 0) * 1000;
    }
    await connection.pause(Math.max(wait, backOff(++position.failures)), signal);
  }
}

interface Position {
  /** ID of the last event. */
  last: string;
  /** Connections in a row that brought no event. */
  failures: number;
}

/** Events of one connection; returns true when the stream has no further ones. */
async function* connectOnce(
  connection: Connection,
  route: Route,
  input: Input,
  signal: AbortSignal | undefined,
  position: Position,
): AsyncGenerator<Event, boolean, undefined> {
  const silence = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const restart = () => {
    clearTimeout(timer);
    timer = setTimeout(() => silence.abort(noResponse('The stream was silent for 45 s')), SILENCE_MS);
  };
  try {
    restart();
    const response = await send(
      // The pauses of the stream grow until events arrive again.
      { ...connection, attempts: 1 },
      route,
      input,
      {
        signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
        timeoutMs: Number.POSITIVE_INFINITY,
        headers: { Accept: 'text/event-stream', ...(position.last && { 'Last-Event-ID': position.last }) },
      },
      (opened) => opened,
    );
    if (response.status === 204) return true;
    for await (const event of eventsOf(response, restart)) {
      // A service that dies after each snapshot makes no progress: the pauses keep growing.
      if (event.id && event.id !== position.last) Object.assign(position, { last: event.id, failures: 0 });
      // It ends this connection; the next one continues.
      if (event.name === 'reconnect') continue;
      // Nothing is read while the consumer works.
      clearTimeout(timer);
      yield event;
      restart();
    }
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** Events of one connection. @throws TouchstoneError when it breaks */
async function* eventsOf(response: Response, onBytes: () => void): AsyncGenerator<Event, void, undefined> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw noResponse('The stream broke off', cause);
      });
      // An event without the empty line at its end is incomplete.
      if (done) return;
      onBytes();
      text += decoder.decode(value, { stream: true });
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop()!;
      for (const block of blocks) {
        const event = parsed(block);
        if (event) yield event;
      }
    }
  } finally {
    void reader.cancel().catch(() => {});
  }
}

/** The event of its lines; undefined if they have no data, such as a comment. */
function parsed(block: string): Event | undefined {
  const fields: Record<string, string> = {};
  for (const line of block.split(/\r?\n/)) {
    const [, name = '', value = ''] = /^(\w+)(?:: ?(.*))?$/s.exec(line) ?? [];
    fields[name] = name === 'data' && 'data' in fields ? `${fields.data}\n${value}` : value;
  }
  const { id = '', event: name = 'message', data } = fields;
  return data === undefined ? undefined : { name, id, data: JSON.parse(data) };
}
