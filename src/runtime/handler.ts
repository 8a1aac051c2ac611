import type * as z from 'zod';
import type { ServiceName } from '#contract/operation.ts';
import type { OperationsOf } from '#contract/operations.ts';
import type { Principal } from './authenticate.ts';

type Readonlyed<T> = T extends readonly (infer E)[]
  ? readonly Readonlyed<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Readonlyed<T[K]> }
    : T;

type Output<O, K extends string> = O extends { [P in K]: infer S extends z.ZodType }
  ? Readonlyed<z.output<S>>
  : undefined;

type BodyOf<R> = R extends { schema: infer S extends z.ZodType } ? Readonlyed<z.input<S>> : string;

/** What a handler is given: everything validated by the operation's row. */
export interface HandlerRequest<O> {
  readonly params: Output<O, 'params'>;
  readonly query: Output<O, 'query'>;
  readonly body: Output<O, 'body'>;
  readonly headers: Headers;
  readonly principal: Principal;
  readonly correlationId: string;
  /** Aborted when the request's deadline passes. */
  readonly signal: AbortSignal;
}

/** One of the row's success responses. A body without a schema is text, sent as it is. */
export type HandlerResponse<O> = O extends { success: infer S }
  ? {
      [K in keyof S & number]: {
        readonly status: K;
        readonly body: BodyOf<S[K]>;
        readonly headers?: Readonly<Record<string, string>>;
      };
    }[keyof S & number]
  : never;

export type Handler<O> = (request: HandlerRequest<O>) => Promise<HandlerResponse<O>>;

/** One handler for every row of a service: a row without one does not compile. */
export type Handlers<S extends ServiceName> = {
  readonly [O in OperationsOf<S> as O['id']]: Handler<O>;
};
