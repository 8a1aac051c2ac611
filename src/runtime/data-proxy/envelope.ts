import { CodedError, type ErrorCode } from '#contract/values/errors.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Error in the request or the function's configuration. */
interface ProxyError {
  readonly code: ErrorCode;
  readonly message: string;
  /** Name of the invalid parameter; empty if no parameter is invalid. */
  readonly field: string;
}

interface ProxyBody {
  readonly success: boolean;
  readonly data: { readonly operation: string; readonly result: JsonObject | null };
  /** Present exactly when `success` is false. */
  readonly error?: ProxyError;
}

/** Result for an orchestrator or another account: the body is an object, so that a workflow can branch on it. */
export interface ProxyEnvelope {
  readonly statusCode: number;
  readonly body: ProxyBody;
}

/** Outcome of one call, for metrics and the log. */
export interface ProxyOutcome {
  /** One of the five operations, or `unknown`, so that callers cannot create metric dimensions. */
  readonly operation: string;
  readonly latencyMs: number;
  readonly correlationId: string;
  /** Reason of a failure; absent on success. */
  readonly failure?: string;
  /** True when the caller did not cause the failure: its status is 5xx. */
  readonly upstream?: boolean;
  /** Error behind an SVC001, for the log only. */
  readonly cause?: unknown;
}

export interface ProxyResult {
  readonly envelope: ProxyEnvelope;
  readonly outcome: ProxyOutcome;
}

/** Result for API Gateway, which accepts only string bodies. */
export interface ProxyHttpResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function successEnvelope(operation: string, result: JsonObject): ProxyEnvelope {
  return { statusCode: 200, body: { success: true, data: { operation, result } } };
}

/** A request that was not sent: `result` is null unless the operation always returns its shape. */
export function rejected(operation: string, error: CodedError, result: JsonObject | null): ProxyEnvelope {
  return {
    statusCode: error.status,
    body: {
      success: false,
      data: { operation, result },
      error: { code: error.code, message: error.message, field: error.field },
    },
  };
}

/** True for a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The error to show to the caller: an unexpected one becomes SVC001 without its message. */
export function asCodedError(error: unknown): CodedError {
  return error instanceof CodedError ? error : new CodedError('SVC001', { cause: error });
}
