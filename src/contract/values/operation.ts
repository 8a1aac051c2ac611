import type * as z from 'zod';
import { ERRORS, type ErrorCode } from './errors.ts';
import { type NamedResource, OWNED_RESOURCES } from './sharing.ts';

export type ServiceName = 'backend' | 'strategy' | 'data_collection';

/** Functions with a route of their own. */
export type FunctionName = 'data_proxy';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `public` never needs a token; the others are the minimum role. */
export type Access = 'public' | 'viewer' | 'researcher' | 'approver' | 'admin';

/**
 * Offered to agents as a tool: `read` and `run` by default, `decide` on request. `decide` leads to Production or changes
 * live traffic.
 */
export type AgentUse = 'read' | 'run' | 'decide';

export interface OperationResponse {
  readonly description: string;
  /** JSON schema of the body. Absent: the body is not JSON (see `contentType`). */
  readonly schema?: z.ZodType;
  /** Default application/json. */
  readonly contentType?: string;
  /** Data of each event of a stream, by event name. */
  readonly events?: Readonly<Record<string, z.ZodType>>;
}

/** Statuses without a body. */
export const WITHOUT_BODY: readonly number[] = [204, 302, 304];

/** Error code of an operation; with a status where that is not the catalogue's. */
type OperationError = ErrorCode | { readonly code: ErrorCode; readonly status: number };

/**
 * One row of the operations table. From it come the API Gateway route, request validation and dispatch,
 * the OpenAPI document, the local servers and the clients' types.
 */
export interface Operation {
  /** Also the name of its handler and use case, for example `submitBacktest`. */
  readonly id: string;
  readonly service: ServiceName;
  readonly method: Method;
  /** With `{variables}`; one variable name per path position within a service. */
  readonly path: string;
  /** Second path with the same variables. */
  readonly alias?: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Checks presence and JSON type only; bounds and formats are domain rules with codes. Without required fields the body is optional. */
  readonly body?: z.ZodType;
  readonly success: Readonly<Record<number, OperationResponse>>;
  /** Specific codes. {@link documentedErrors} adds the codes that follow from the other fields. */
  readonly errors: readonly OperationError[];
  readonly access: Access;
  /** Absent: no tool of agents. */
  readonly agent?: AgentUse;
  /** Minimum role for fields of the body, when they are true or an object. */
  readonly fieldRoles?: Readonly<Record<string, Exclude<Access, 'public'>>>;
  /**
   * Owned resource in the path. Before the handler runs: 404 of its kind for an unknown ID, AUTH005 unless the caller is its
   * owner, an admin, or has a grant of that level.
   */
  readonly resource?: NamedResource;
  /** True when a call can change state and is recorded in the audit trail. Default: true unless the method is GET. */
  readonly changesState?: boolean;
  /**
   * Resource in the audit trail of a call whose body names it: its kind, and the field with its ID. Without a kind the field has the
   * path of the resource, such as `models/ema_crossover`. Default: that of the path.
   */
  readonly auditedAs?: { readonly kind?: string; readonly field: string };
  /** Takes the header Touchstone-Session: the submitted job counts as a trial of that session. */
  readonly takesSession?: true;
  /** Creates something with each call, also a repeated one: takes no Idempotency-Key. */
  readonly createsEachTime?: true;
  /** Starts work that needs disk space in local mode: DATA005 when too little is free. */
  readonly startsWork?: true;
  /**
   * Returns server-sent events (content type `text/event-stream`) for minutes: behind API Gateway a separate function
   * streams them.
   */
  readonly streams?: true;
  /**
   * Handled by this function instead of the service's handlers. API Gateway passes the request unchanged, and requires an IAM
   * signature where authentication is enforced.
   */
  readonly integration?: {
    readonly function: FunctionName;
    /** Body of the function's own errors; errors of the gateway have the usual body. */
    readonly rejection: z.ZodType;
  };
}

/** All paths of an operation. */
export function pathsOf({ path, alias }: Pick<Operation, 'path' | 'alias'>): string[] {
  return alias === undefined ? [path] : [path, alias];
}

/** True when no field of the body is required: an absent body is read as `{}`. */
export function isBodyOptional({ body }: Operation): boolean {
  return body?.safeParse({}).success ?? true;
}

/** True when a service creates nothing twice for requests with the same `Idempotency-Key`. */
export function takesIdempotencyKey(operation: Operation): boolean {
  const { method, body, startsWork, integration, createsEachTime } = operation;
  const isCreation = method === 'POST' && (body !== undefined || startsWork === true);
  return isCreation && integration === undefined && createsEachTime === undefined;
}

/** True when calls are recorded in the audit trail. */
export function changesState({
  method,
  changesState = method !== 'GET',
}: Pick<Operation, 'method' | 'changesState'>): boolean {
  return changesState;
}

/**
 * True for a read that rejects query parameters it does not know. Health is exempt because probes add their own, MLflow's paths because
 * MLflow ignores them.
 */
export function rejectsUnknownQuery({ method, path }: Pick<Operation, 'method' | 'path'>): boolean {
  return method === 'GET' && path.startsWith(API_ROOT) && path !== `${API_ROOT}health`;
}

const API_ROOT = '/api/v1/';

/** Every error code of an operation with its status: its own and those that follow from its fields. */
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

/** Errors of API Gateway itself: missing, invalid or insufficient signature, and limits. */
const GATEWAY_ERRORS: ErrorCode[] = [
  'AUTH001',
  'AUTH002',
  'AUTH003',
  'AUTH004',
  'HTTP413',
  'HTTP414',
  'HTTP429',
  'HTTP431',
  'SVC001',
  'SVC002',
  'SVC006',
];

function errorsFromShape(operation: Operation): ErrorCode[] {
  return [
    ...(operation.params || operation.query ? (['VAL004', 'VAL005'] as const) : []),
    ...(rejectsUnknownQuery(operation) ? (['VAL005'] as const) : []),
    ...(operation.access === 'public'
      ? []
      : (['AUTH001', 'AUTH002', 'AUTH003', 'AUTH004', 'HTTP503'] as const)),
    ...(operation.resource ? ownershipErrors(operation.resource) : []),
    ...(operation.body ? (['HTTP415'] as const) : []),
    ...(operation.startsWork ? (['DATA005'] as const) : []),
    // A call that changes state is rejected while the audit trail cannot be written.
    ...(changesState(operation) ? (['SVC005'] as const) : []),
    'HTTP413',
    'HTTP414',
    'HTTP429',
    'HTTP431',
    'SVC001',
    'SVC006',
  ];
}

function ownershipErrors({ kind, evidence }: NamedResource): ErrorCode[] {
  const { unknown, unavailable, ...owned } = OWNED_RESOURCES[kind];
  return [
    'AUTH005',
    unknown,
    unavailable,
    ...('expires' in owned ? (['RES006'] as const) : []),
    ...(evidence ? (['SVC005'] as const) : []),
  ];
}
