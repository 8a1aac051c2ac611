import type { ErrorCode } from '#contract/values/errors.ts';

/** One problem of a body that does not fit its schema. */
export interface BodyIssue {
  /** For example `missing` or `string_type`. */
  readonly type: string;
  /** Location in the request, starting with `body`. */
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
}

export interface ErrorDetails {
  readonly status: number;
  /** A code of the catalogue. `INVALID_BODY`: see `issues`. `NO_RESPONSE`: the service did not respond, or not with JSON. */
  readonly code: ErrorCode | 'INVALID_BODY' | 'NO_RESPONSE' | (string & {});
  readonly message: string;
  /** Dotted path of the invalid field; empty without one. */
  readonly field?: string;
  /** Values that explain the error. */
  readonly context?: Readonly<Record<string, unknown>>;
  readonly issues?: readonly BodyIssue[];
  /** ID by which the operator finds the request in the logs. */
  readonly correlationId?: string | null;
  /** Pause after which the request may be repeated, s; undefined if the response does not say. */
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/** Any failure of a call. Its subclasses tell what kind of code it has. */
export class TouchstoneError extends Error {
  override readonly name: string = 'TouchstoneError';
  // Declared only: `Object.assign` sets them, in half the bytes.
  declare readonly status: number;
  declare readonly code: ErrorDetails['code'];
  declare readonly field: string;
  declare readonly context: Readonly<Record<string, unknown>>;
  declare readonly issues: readonly BodyIssue[];
  declare readonly correlationId: string | null;
  declare readonly retryAfterSeconds: number | undefined;

  constructor({ message, cause, ...details }: ErrorDetails) {
    super(message, { cause });
    Object.assign(this, { field: '', context: {}, issues: [], correlationId: null }, details);
  }
}

/** VAL codes, or a body that does not fit its schema: fix the request. */
export class ValidationError extends TouchstoneError {
  override readonly name = 'ValidationError';
}
/** AUTH001 to AUTH003: the token is expired, invalid or missing. */
export class AuthenticationError extends TouchstoneError {
  override readonly name = 'AuthenticationError';
}
/** AUTH004 and AUTH005: the caller's role or grant does not allow the call. */
export class AccessError extends TouchstoneError {
  override readonly name = 'AccessError';
}
/** No such job, strategy, version, challenge, collection, symbol or path. */
export class NotFoundError extends TouchstoneError {
  override readonly name = 'NotFoundError';
}
/** RES005: the state does not allow the call, for example of a job that is already terminal. */
export class ConflictError extends TouchstoneError {
  override readonly name = 'ConflictError';
}
/** RES006: archived or deleted. */
export class ExpiredError extends TouchstoneError {
  override readonly name = 'ExpiredError';
}
/** DATA001, DATA002, OPT002: the candles or trials do not suffice. */
export class DataError extends TouchstoneError {
  override readonly name = 'DataError';
}
/** HTTP429: more calls than allowed, still after the repetitions. */
export class RateLimitError extends TouchstoneError {
  override readonly name = 'RateLimitError';
}
/** A service or dependency failed or did not respond, still after the repetitions. */
export class UnavailableError extends TouchstoneError {
  override readonly name = 'UnavailableError';
}

/** Class by code. The first pattern that matches applies; other codes are a plain {@link TouchstoneError}. */
const CLASSES: readonly (readonly [RegExp, typeof TouchstoneError])[] = [
  [/^VAL|^INVALID_BODY/, ValidationError],
  [/^AUTH00[123]/, AuthenticationError],
  [/^AUTH/, AccessError],
  [/^RES00[1-4]|^(OPT|CHL|COL)001|^DATA003|^HTTP404/, NotFoundError],
  [/^RES005/, ConflictError],
  [/^RES006/, ExpiredError],
  [/^DATA00[12]|^OPT002/, DataError],
  [/^HTTP429/, RateLimitError],
  [/^SVC|^DATA|^HTTP5|^NO_RESPONSE/, UnavailableError],
];

/** The error with the class of its code. */
export function errorOf(details: ErrorDetails): TouchstoneError {
  const [, Class = TouchstoneError] = CLASSES.find(([codes]) => codes.test(details.code)) ?? [];
  return new Class(details);
}

/** The error of a response in either documented shape, or in none. */
export async function readError(response: Response): Promise<TouchstoneError> {
  const { status, headers } = response;
  const { detail } = ((await response.json().catch(() => undefined)) ?? {}) as {
    detail?: readonly BodyIssue[] | Partial<Pick<ErrorDetails, 'code' | 'message' | 'field' | 'context'>>;
  };
  const coded = Array.isArray(detail)
    ? {
        code: 'INVALID_BODY',
        message: detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '),
        issues: detail as readonly BodyIssue[],
      }
    : { code: `HTTP${status}`, message: `The service responded with status ${status}`, ...detail };
  return errorOf({
    ...coded,
    status,
    correlationId: headers.get('X-Correlation-ID'),
    retryAfterSeconds: retryAfterOf(headers.get('Retry-After')),
  });
}

/** Seconds of a `Retry-After`, which is a number of seconds or a date. */
function retryAfterOf(value: string | null): number | undefined {
  if (!value) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
