import type { OPERATIONS } from './operations.ts';

/** Types of the calls of operations, inferred from their rows. Nothing of this file is there at run time. */

/** Types of a schema; a structural type, because clients import nothing of zod. */
interface Schema {
  readonly _zod: { readonly input: unknown; readonly output: unknown };
}
type Row = (typeof OPERATIONS)[number];
/** ID of an operation. */
export type OperationId = Row['id'];
type RowOf<I extends OperationId> = Extract<Row, { readonly id: I }>;
type InputOf<R, K extends string> = R extends { readonly [P in K]: infer S extends Schema }
  ? OrParsed<S['_zod']['input'], S['_zod']['output']>
  : undefined;
/** A query is text, so its schema takes text. The parsed value, such as a number, may be given as well. */
type OrParsed<I, O> = I extends object ? { [K in keyof I]: I[K] | (K extends keyof O ? O[K] : never) } : I;
type Responses<R> = R extends { readonly success: infer S } ? S[keyof S] : never;
type Body<R> =
  Responses<R> extends infer S
    ? S extends { readonly schema: infer Z extends Schema }
      ? Z['_zod']['output']
      : never
    : never;
/** Response body of an operation. */
export type ResponseOf<I extends OperationId> = Body<RowOf<I>>;
/** Data of the events of a streaming operation, by event name. */
export type EventsOf<I extends OperationId> =
  Extract<Responses<RowOf<I>>, { readonly events: unknown }> extends { readonly events: infer E }
    ? { readonly [N in keyof E]: E[N] extends Schema ? E[N]['_zod']['output'] : never }
    : never;
type Part<K extends string, T> = [T] extends [undefined]
  ? { readonly [P in K]?: never }
  : Record<never, never> extends T
    ? { readonly [P in K]?: T }
    : { readonly [P in K]: T };
type KnownKeys<T> = keyof { [K in keyof T as string extends K ? never : K]: T[K] };
/** A body without the keys that services ignore: a misspelled one does not compile. */
type Known<T> = T extends readonly (infer Item)[]
  ? readonly Known<Item>[]
  : T extends object
    ? [KnownKeys<T>] extends [never]
      ? T
      : { [K in keyof T as string extends K ? never : K]: Known<T[K]> }
    : T;
/** Path variables, query and body of an operation. */
export type RequestOf<I extends OperationId> = Part<'params', InputOf<RowOf<I>, 'params'>> &
  Part<'query', InputOf<RowOf<I>, 'query'>> &
  Part<'body', Known<InputOf<RowOf<I>, 'body'>>>;
