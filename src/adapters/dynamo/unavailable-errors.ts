import { CodedError, type ErrorCode } from '#contract/values/errors.ts';

/** Names of SDK errors of a temporarily unavailable service. */
const TRANSIENT_NAMES = new Set([
  'AbortError',
  'InternalServerError',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestTimeout',
  // A table or function is being restored or replaced.
  'ResourceNotFoundException',
  'ServiceUnavailable',
  'SlowDown',
  'ThrottledException',
  'Throttling',
  'ThrottlingException',
  'TimeoutError',
  'TooManyRequestsException',
  // A retry arrived while its transaction was in progress.
  'TransactionInProgressException',
]);

/** Codes of Node's network errors. */
const NETWORK_CODES = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
]);

/** True when the service failed to respond (throttled, unreachable, timeout, 5xx); false when it rejected the request. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { name, code, $metadata } = error as Error & {
    code?: unknown;
    $metadata?: { httpStatusCode?: number };
  };
  return (
    TRANSIENT_NAMES.has(name) ||
    (typeof code === 'string' && NETWORK_CODES.has(code)) ||
    ($metadata?.httpStatusCode ?? 0) >= 500
  );
}

interface ClientWithMiddleware {
  readonly middlewareStack: {
    add(
      middleware: (next: (args: never) => Promise<never>) => (args: never) => Promise<never>,
      options: { step: 'initialize'; priority: 'high'; name: string },
    ): void;
  };
}

/**
 * Makes each command of `client` throw a CodedError of `code` when the service is still unavailable after the SDK's
 * retries. Other errors are unchanged.
 */
export function reportUnavailable<C>(client: C, code: ErrorCode): C {
  (client as ClientWithMiddleware).middlewareStack.add(
    (next) => async (args) => {
      try {
        return await next(args);
      } catch (error) {
        throw isUnavailable(error) ? new CodedError(code, { cause: error }) : error;
      }
    },
    { step: 'initialize', priority: 'high', name: 'reportUnavailable' },
  );
  return client;
}
