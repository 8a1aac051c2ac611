import type * as z from 'zod';
import { ERRORS, type ErrorCode } from './errors.ts';
import { type NamedResource, OWNED_RESOURCES } from './sharing.ts';

export type ServiceName = 'backend' | 'strategy' | 'data_collection';

/** Functions that callers reach by a route of their own. */
export type FunctionName = 'data_proxy';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** `public` needs no token ever; the others are the least role that may call. */
export type Access = 'public' | 'viewer' | 'researcher' | 'approver' | 'admin';

export interface OperationResponse {
  readonly description: string;
  /** JSON schema of the body. Absent: the body is not JSON (see `contentType`). */
  readonly schema?: z.ZodType;
  /** Default application/json. */
  readonly contentType?: string;
  /** Of a stream of events: the data of each by its name. */
  readonly events?: Readonly<Record<string, z.ZodType>>;
}

/** Statuses whose responses have none. */
export const WITHOUT_BODY: readonly number[] = [204, 304];

/** A code that an operation may answer; with a status where the interface fixes another than the catalogue's. */
type OperationError = ErrorCode | { readonly code: ErrorCode; readonly status: number };

/**
 * One row of the operations table. From it come the API Gateway route, request validation and dispatch,
 * the OpenAPI document, the local servers and the clients' types. Nobody writes a route twice.
 */
export interface Operation {
  /** Also the name of its handler and use case, for example `submitBacktest`. */
  readonly id: string;
  readonly service: ServiceName;
  readonly method: Method;
  /** With `{variables}`; one variable name per path position within a service. */
  readonly path: string;
  /** A second path of the same variables, at which it is served alike. */
  readonly alias?: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Presence and JSON type alone; bounds, lists and formats are domain rules with codes. Without required fields it may be absent. */
  readonly body?: z.ZodType;
  readonly success: Readonly<Record<number, OperationResponse>>;
  /** Codes of its own; those that follow from the row's shape are added by {@link documentedErrors}. */
  readonly errors: readonly OperationError[];
  readonly access: Access;
  /** Fields of the body that ask for a higher role where they are true or an object: the least role that may set them so. */
  readonly fieldRoles?: Readonly<Record<string, Exclude<Access, 'public'>>>;
  /**
   * The owned resource that the path names. Whoever may not do that with it never gets to the handler: 404 of its kind when
   * there is none, AUTH005 unless the caller is its owner, an admin, or has it shared at that level.
   */
  readonly resource?: NamedResource;
  /** Whether a call can change anything, and so goes into the audit trail. Default: unless the method is GET. */
  readonly changesState?: boolean;
  /** Starts work that needs disk space on one machine: rejected with DATA005 while too little is free. */
  readonly startsWork?: true;
  /**
   * Answers server-sent events, which take minutes: behind API Gateway a function of its own streams them. They are the
   * response with the content type `text/event-stream`.
   */
  readonly streams?: true;
  /**
   * Answered by this function instead of the service's handlers. API Gateway hands it the request as it came, and asks
   * for IAM's signature where authentication is enforced.
   */
  readonly integration?: {
    readonly function: FunctionName;
    /** Body of the errors that the function words itself; those of the gateway are as everywhere. */
    readonly refusal: z.ZodType;
  };
}

/** Every path at which it is served. */
export function pathsOf({ path, alias }: Operation): string[] {
  return alias === undefined ? [path] : [path, alias];
}

/** Whether a call may come without a body, which then is read as `{}`: none of its fields is required. */
export function isBodyOptional({ body }: Operation): boolean {
  return body?.safeParse({}).success ?? true;
}

/** Whether a call of the operation goes into the audit trail. */
export function changesState({ method, changesState = method !== 'GET' }: Operation): boolean {
  return changesState;
}

/** Every code that an operation may answer, with its status: its own and those that follow from the row's shape. */
export function documentedErrors(
  operation: Operation,
): { readonly code: ErrorCode; readonly status: number }[] {
  const fromShape = new Set(operation.integration ? GATEWAY_ERRORS : errorsFromShape(operation));
  const own = operation.errors.map((error) =>
    typeof error === 'string' ? { code: error, status: ERRORS[error].status } : error,
  );
  const named = new Set<ErrorCode>(own.map((error) => error.code));
  const added = [...fromShape].filter((code) => !named.has(code));
  return [...own, ...added.map((code) => ({ code, status: ERRORS[code].status }))];
}

/** What API Gateway answers before and after a function: a signature that is missing, wrong or not enough, and limits. */
const GATEWAY_ERRORS: ErrorCode[] = [
  ...(['AUTH001', 'AUTH002', 'AUTH003', 'AUTH004'] as const),
  ...(['HTTP413', 'HTTP414', 'HTTP429', 'HTTP431', 'SVC001', 'SVC002', 'SVC006'] as const),
];

function errorsFromShape(operation: Operation): ErrorCode[] {
  return [
    ...(operation.params || operation.query ? (['VAL004', 'VAL005'] as const) : []),
    ...(operation.access === 'public'
      ? []
      : (['AUTH001', 'AUTH002', 'AUTH003', 'AUTH004', 'HTTP503'] as const)),
    ...(operation.resource ? ownershipErrors(operation.resource) : []),
    ...(operation.body ? (['HTTP415'] as const) : []),
    ...(operation.startsWork ? (['DATA005'] as const) : []),
    // Nothing is changed while the audit trail cannot be written.
    ...(changesState(operation) ? (['SVC005'] as const) : []),
    'HTTP413',
    'HTTP414',
    'HTTP429',
    'HTTP431',
    'SVC001',
    'SVC006',
  ];
}

function ownershipErrors({ kind }: NamedResource): ErrorCode[] {
  const { unknown, unavailable } = OWNED_RESOURCES[kind];
  return ['AUTH005', unknown, unavailable];
}
