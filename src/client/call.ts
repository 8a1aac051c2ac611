import type { EventsOf, OperationId, RequestOf, ResponseOf } from '#contract/operations/calls.ts';
import type { ServiceName } from '#contract/values/operation.ts';
import { type CallOptions, type Connection, type Input, noResponse, send } from './connection.ts';
import { follow } from './events.ts';

type Merged<T> = { [K in keyof T]: T[K] };
type Given<T> = [T] extends [undefined] ? unknown : T;
type Values<R> = R extends { readonly params?: infer P; readonly query?: infer Q }
  ? Given<NonNullable<P>> & Given<NonNullable<Q>>
  : unknown;
type WithBody<R> = R extends { readonly body?: infer B }
  ? [B] extends [undefined]
    ? unknown
    : Pick<R, 'body'>
  : unknown;

/** Path variables and query of an operation by name, and its `body`. */
export type InputOf<I extends OperationId> = Merged<Values<RequestOf<I>> & WithBody<RequestOf<I>>>;

type Arguments<I extends OperationId, Options> =
  Record<never, never> extends InputOf<I>
    ? [input?: InputOf<I>, options?: Options]
    : [input: InputOf<I>, options?: Options];

/**
 * An operation with a JSON response, or none. The variance is stated, here and below: to find it out TypeScript would compare the inputs of
 * all operations, which is too deep for it.
 */
export type Call<in out I extends OperationId> = (
  connection: Connection,
  ...args: Arguments<I, CallOptions>
) => Promise<[ResponseOf<I>] extends [never] ? void : ResponseOf<I>>;

/** An operation that returns a file, wherever it is kept. */
export type FileCall<in out I extends OperationId> = (
  connection: Connection,
  ...args: Arguments<I, CallOptions>
) => Promise<Response>;

/** An event of a streaming operation, by name. */
export type StreamEvent<I extends OperationId> = {
  [N in keyof EventsOf<I>]: { readonly name: N; readonly id: string; readonly data: EventsOf<I>[N] };
}[keyof EventsOf<I>];

/** An operation whose events are iterated: `for await (const { name, data } of watchJobs(connection))`. */
export type Stream<in out I extends OperationId> = (
  connection: Connection,
  ...args: Arguments<I, Pick<CallOptions, 'signal'>>
) => AsyncGenerator<StreamEvent<I>, void, undefined>;

// Names of services as values: bundlers shorten them, but keep the text of strings.
export const backend = 'backend';
export const strategy = 'strategy';
export const data_collection = 'data_collection';

/** Makes the call of an operation: `get(backend, '/backtests')`. */
type Make = <I extends OperationId>(service: ServiceName, path: string) => Call<I>;

const call =
  (method: string, keyed = false): Make =>
  (service, path) => {
    const run = (connection: Connection, input?: Input, options?: CallOptions) =>
      send(connection, [service, method, path, keyed], input, options, readJson);
    return run as Call<OperationId> as never;
  };

export const get = /* @__PURE__ */ call('GET');
export const put = /* @__PURE__ */ call('PUT');
export const patch = /* @__PURE__ */ call('PATCH');
export const remove = /* @__PURE__ */ call('DELETE');
/** A POST that takes an idempotency key. */
export const post = /* @__PURE__ */ call('POST', true);
/** A POST that the service does not recognize when it is repeated. */
export const postOnce = /* @__PURE__ */ call('POST');

export function file<I extends OperationId>(service: ServiceName, path: string): FileCall<I> {
  const run = (connection: Connection, input?: Input, options?: CallOptions) =>
    send(connection, [service, 'GET', path], input, options, async (response, signal) => {
      // 201: the file is elsewhere, at an address that needs no token and lasts for minutes.
      if (response.status !== 201) return response;
      const { url } = (await readJson(response)) as { readonly url: string };
      const stored = await connection.fetch(new URL(url, response.url || undefined), { signal });
      if (!stored.ok) throw noResponse(`The address of the file responded with status ${stored.status}`);
      return stored;
    });
  return run as FileCall<I>;
}

export function stream<I extends OperationId>(service: ServiceName, path: string): Stream<I> {
  return ((connection: Connection, input?: Input, options?: Pick<CallOptions, 'signal'>) =>
    follow(connection, [service, 'GET', path], input, options?.signal)) as unknown as Stream<I>;
}

async function readJson(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw noResponse(`${response.url} responded with something other than JSON`, cause);
  }
}
