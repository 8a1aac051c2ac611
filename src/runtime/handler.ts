import type * as z from 'zod';
import type { Immutable } from '#contract/common/immutable.ts';
import type { GroupsOf, OperationGroup, OperationOf } from '#contract/operations/operations.ts';
import type { ServiceName } from '#contract/values/operation.ts';
import type { Principal } from './authenticate.ts';

type Output<O, K extends string> = O extends { [P in K]: infer S extends z.ZodType }
  ? Immutable<z.output<S>>
  : undefined;

type BodyOf<R> = R extends { contentType: 'text/event-stream' }
  ? ReadableStream<Uint8Array>
  : R extends { schema: infer S extends z.ZodType }
    ? Immutable<z.input<S>>
    : string | ReadableStream<Uint8Array>;

/** Request of a handler, validated by the operation's row. */
export interface HandlerRequest<O> {
  readonly params: Output<O, 'params'>;
  readonly query: Output<O, 'query'>;
  readonly body: Output<O, 'body'>;
  readonly headers: Headers;
  readonly principal: Principal;
  readonly correlationId: string;
  /** Aborted when the request's deadline passes. */
  readonly signal: AbortSignal;
  /** Aborted when the host stops serving, so that open streams end. Absent on hosts that stop without notice. */
  readonly closing: AbortSignal | undefined;
}

/** Model, and number of its version, that a call was about. */
export interface ChangedVersion {
  readonly model_name: string;
  readonly version: string;
}

/**
 * One of the row's success responses. A body without a schema is sent unchanged: a string, the bytes of a file, or an event
 * stream.
 */
type HandlerResponse<O> = O extends { success: infer S }
  ? {
      [K in keyof S & number]: {
        readonly status: K;
        readonly body: BodyOf<S[K]>;
        readonly headers?: Readonly<Record<string, string>>;
        /** For the audit trail, where the body does not say it. */
        readonly changed?: ChangedVersion;
      };
    }[keyof S & number]
  : never;

type Handler<O> = (request: HandlerRequest<O>) => Promise<HandlerResponse<O>>;

/** One handler for each row of a group, except rows with a function integration. A missing handler does not compile. */
export type GroupHandlers<G extends OperationGroup> = {
  readonly [O in OperationOf<G> as O extends { integration: object } ? never : O['id']]: Handler<O>;
};

/** The handlers of all groups of a service. */
export type Handlers<S extends ServiceName> = { readonly [G in GroupsOf<S>]: GroupHandlers<G> };

/** Handlers of the streaming rows of a service. */
export type StreamHandlers<S extends ServiceName> = {
  readonly [O in OperationOf<GroupsOf<S>> as O extends { streams: true } ? O['id'] : never]: Handler<O>;
};
