/**
 * The error catalogue: every code a client can meet, with its HTTP status and default message.
 * A code and its status never change: clients decide by them.
 */
export const ERRORS = {
  VAL001: { status: 400, message: 'Invalid date range: start must be before end, ISO 8601' },
  VAL002: { status: 400, message: 'Invalid symbol format: BASE/QUOTE:SETTLE' },
  VAL003: { status: 400, message: 'Invalid timeframe: one of 1m, 5m, 15m, 1h, 4h, 1d' },
  VAL004: { status: 400, message: 'Missing required field' },
  VAL005: { status: 400, message: 'Value out of range' },
  VAL006: { status: 400, message: 'Invalid config format' },
  AUTH001: { status: 401, message: 'Token expired' },
  AUTH002: { status: 401, message: 'Invalid token' },
  AUTH003: { status: 401, message: 'Missing token' },
  AUTH004: { status: 403, message: 'Insufficient permissions' },
  AUTH005: { status: 403, message: 'Resource access denied' },
  RES001: { status: 404, message: 'Backtest job not found' },
  RES002: { status: 404, message: 'Strategy not found' },
  RES003: { status: 404, message: 'Model version not found' },
  RES004: { status: 404, message: 'Config not found' },
  RES005: { status: 409, message: 'Resource conflict' },
  RES006: { status: 410, message: 'Resource expired' },
  SVC001: { status: 500, message: 'Internal server error' },
  SVC002: { status: 502, message: 'Bad gateway: upstream returned an invalid response' },
  SVC003: { status: 503, message: 'Strategy service unavailable' },
  SVC004: { status: 503, message: 'Data collection unavailable' },
  SVC005: { status: 503, message: 'Experiment tracking and model registry unavailable' },
  SVC006: { status: 504, message: 'Gateway timeout' },
  DATA001: { status: 400, message: 'Insufficient historical data' },
  DATA002: { status: 400, message: 'Data gap detected' },
  DATA003: { status: 404, message: 'Symbol not available' },
  DATA004: { status: 503, message: 'Exchange API error' },
  DATA005: { status: 503, message: 'Data storage unavailable' },
  OPT001: { status: 404, message: 'Hyperopt job not found' },
  OPT002: { status: 400, message: 'Every trial of the hyperopt job failed' },
  CHL001: { status: 404, message: 'Challenge not found' },
  APR001: { status: 404, message: 'Request for approval not found' },
  COL001: { status: 404, message: 'Collection not found' },
  IMP001: { status: 404, message: 'Import not found' },
  HOOK001: { status: 404, message: 'Webhook not found' },
  HOOK002: { status: 404, message: 'Delivery not found' },
  SIG001: { status: 404, message: 'File of signals not found' },
  HTTP400: { status: 400, message: 'Malformed HTTP request' },
  HTTP403: { status: 403, message: 'The local platform accepts requests from this machine only' },
  HTTP404: { status: 404, message: 'No such path' },
  HTTP405: { status: 405, message: 'Method not allowed on this path' },
  HTTP408: { status: 408, message: 'The request did not end in time' },
  HTTP413: { status: 413, message: 'Request body too large' },
  HTTP414: { status: 414, message: 'Request address too long' },
  HTTP415: { status: 415, message: 'Unsupported media type: send application/json' },
  HTTP429: { status: 429, message: 'Too many requests' },
  HTTP431: { status: 431, message: 'Request headers too large' },
  HTTP503: { status: 503, message: 'A dependency is unavailable' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof ERRORS;

export interface CodedErrorOptions {
  /** Cause and remedy. Default: the message of the catalogue. */
  readonly message?: string;
  /** Dotted path of the invalid field; empty without one. */
  readonly field?: string;
  /** Values that explain the error. Never secrets, stacks or internals. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Only where the row of the operation has another status than the catalogue (cancel of a terminal job: 400). */
  readonly status?: number;
  /** Pause after which the request may be repeated, s. Default for 429 and 503: 1. */
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/** A failure with a documented code: thrown by use cases and adapters, turned into a response by the runtime. */
export class CodedError extends Error {
  override readonly name = 'CodedError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly field: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, options: CodedErrorOptions = {}) {
    super(options.message ?? ERRORS[code].message, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? ERRORS[code].status;
    this.field = options.field ?? '';
    this.context = options.context ?? {};
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}
