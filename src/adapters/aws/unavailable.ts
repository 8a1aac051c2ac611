import { CodedError, type ErrorCode } from '#contract/errors.ts';

/** Names of SDK errors that say: not now. */
const TRANSIENT_NAMES = new Set([
  'AbortError',
  'InternalServerError',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestTimeout',
  // Of a table or function that is being restored or replaced.
  'ResourceNotFoundException',
  'ServiceUnavailable',
  'SlowDown',
  'ThrottledException',
  'Throttling',
  'ThrottlingException',
  'TimeoutError',
  'TooManyRequestsException',
  // Of a repeat that overtook the transaction it repeats.
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

/** Whether the service could not answer (throttled, unreachable, too slow, broken) rather than refused the request. */
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
 * Makes every command of `client` throw a CodedError of `code` when, after the SDK's own retries, the service is still
 * unavailable. Every other error passes.
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
