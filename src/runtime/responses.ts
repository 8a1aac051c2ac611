import type { ErrorBody, RequestValidationError } from '#contract/common/error-bodies.ts';
import { CodedError, ERRORS } from '#contract/values/errors.ts';
import { type Operation, WITHOUT_BODY } from '#contract/values/operation.ts';
import type { ChangedVersion } from './handler.ts';
import type { Log } from './log.ts';
import { BodyError } from './request-json.ts';

/** An error response. */
export interface ErrorResponse {
  readonly status: number;
  /** Error code; null for the array shape, which has none. */
  readonly code: string | null;
  readonly body: ErrorBody | RequestValidationError;
  readonly headers: Readonly<Record<string, string>>;
}

/** Response to a thrown value. A value without a code becomes SVC001: logged in full, hidden from the caller. */
export function errorResponse(error: unknown, log: Log): ErrorResponse {
  if (error instanceof BodyError) {
    return { status: 400, code: null, body: { detail: [...error.issues] }, headers: {} };
  }
  const coded = error instanceof CodedError ? error : new CodedError('SVC001');
  if (coded.status >= 500) {
    log.error(coded.code === 'SVC001' ? 'Unhandled error' : coded.message, { code: coded.code, error });
  }
  const { code, message, field, context, status } = coded;
  return { status, code, body: { detail: { code, message, field, context } }, headers: errorHeaders(coded) };
}

function errorHeaders({ code, status, retryAfterSeconds = 1 }: CodedError): Record<string, string> {
  if (status === 401) {
    const problem =
      code === 'AUTH003' ? '' : `, error="invalid_token", error_description="${ERRORS[code].message}"`;
    return { 'WWW-Authenticate': `Bearer realm="touchstone"${problem}` };
  }
  return status === 429 || status === 503 ? { 'Retry-After': String(retryAfterSeconds) } : {};
}

/** Result of a handler. */
export interface HandlerResult {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly changed?: ChangedVersion;
}

export const BASE_HEADERS = { 'Cache-Control': 'no-store' };

/** Response of an operation, for the method of the request. */
export async function successResponse(
  operation: Operation,
  { status, body, headers }: HandlerResult,
  method: string,
): Promise<Response> {
  const { schema, contentType = 'application/json' } = operation.success[status]!;
  if (WITHOUT_BODY.includes(status)) {
    return new Response(null, { status, headers: { ...BASE_HEADERS, ...headers } });
  }
  const head = { status, headers: { ...BASE_HEADERS, 'Content-Type': contentType, ...headers } };
  if (method === 'HEAD' && body instanceof ReadableStream) {
    // The stream would never be read or closed.
    await body.cancel();
    return new Response(null, head);
  }
  return new Response(schema ? JSON.stringify(body) : (body as string | ReadableStream<Uint8Array>), head);
}
