import { CodedError } from '#contract/values/errors.ts';
import type { Clock } from '#domain/ports.ts';

/** A failed call that is about to be retried. */
export interface RetriedCall {
  readonly exchange: string;
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  readonly waitMs: number;
  readonly error: unknown;
}

export interface RetryOptions {
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Resolves or rejects early when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal | undefined) => Promise<unknown>;
  /** In [0, 1): spreads the backoff of processes that were rejected at the same time. */
  readonly random: () => number;
  readonly onRetry?: (call: RetriedCall) => void;
}

/** Attempts of a request. The backoffs between them, up to 1, 2, 4, 8 and 16 s, cover the restart of a gateway. */
const ATTEMPTS = 6;
const FIRST_BACKOFF_MS = 1_000;
/**
 * Time limit for the first response of an exchange. It covers a slow connection. Together with the start of a process it stays
 * below 5 s.
 */
const FIRST_RESPONSE_MS = 4_000;
/** A failure this soon after a response is an interruption: the limit for a first response does not apply. */
const RECENT_RESPONSE_MS = 60_000;
/** An unreachable exchange gets no request for this time. */
const UNREACHABLE_MS = 30_000;
/** A longer Retry-After is a ban: a collection that waited for its end would only seem to run. */
const MAX_DELAY_MS = 5 * 60_000;

/** Messages of transient failures, by ccxt's error class. ccxt's own messages contain whole responses. */
const TRANSIENT: Readonly<Record<string, string>> = {
  OperationFailed: 'reported a failed operation',
  NetworkError: 'could not be reached',
  DDoSProtection: 'rejected the request rate',
  RateLimitExceeded: 'rejected the request rate',
  ExchangeNotAvailable: 'was not available',
  OnMaintenance: 'was under maintenance',
  InvalidNonce: 'did not accept the time of the request',
  ChecksumError: 'sent a response with a wrong checksum',
  RequestTimeout: 'did not respond in time',
  BadResponse: 'sent an unreadable response',
  NullResponse: 'sent an empty response',
};

/** ccxt's error classes of failures that a retry would repeat. */
const PERMANENT = new Set([
  'BaseError',
  'ExchangeError',
  'AuthenticationError',
  'PermissionDenied',
  'AccountNotEnabled',
  'AccountSuspended',
  'ArgumentsRequired',
  'BadRequest',
  'BadSymbol',
  'OperationRejected',
  'MarketClosed',
  'RestrictedLocation',
  'ContractUnavailable',
  'NotSupported',
  'ExchangeClosedByUser',
]);

/** Calls of one exchange. Retries transient failures and obeys Retry-After. */
export class RetryingCaller {
  readonly #exchange: string;
  readonly #options: RetryOptions;
  readonly #clock: Clock;
  /** Earliest time of the next request, ms. */
  #notBefore = 0;
  /** Time of the last response of any status, ms. */
  #respondedAt = Number.NEGATIVE_INFINITY;
  /** Deadline of the first response, ms; infinite after it. */
  #deadline = Number.POSITIVE_INFINITY;
  #unreachable: { readonly until: number; readonly error: CodedError } | undefined;

  constructor(exchange: string, options: RetryOptions) {
    this.#exchange = exchange;
    this.#options = options;
    this.#clock = options.clock ?? Date;
  }

  /** Notes the value of a Retry-After header: seconds, or a date. */
  noteRetryAfter(value: string): void {
    const now = this.#clock.now();
    const until = /^\d+(\.\d+)?$/.test(value) ? now + Number(value) * 1000 : Date.parse(value);
    if (until > this.#notBefore) this.#notBefore = until;
  }

  /** Notes a response of any status. */
  noteResponse(): void {
    this.#respondedAt = this.#clock.now();
    this.#deadline = Number.POSITIVE_INFINITY;
    this.#unreachable = undefined;
  }

  /** Longest wait of a request for its response, ms; at least 1. */
  get responseTimeoutMs(): number {
    return Math.max(1, this.#deadline - this.#clock.now());
  }

  /**
   * The result of `attempt`, which is retried after a transient failure. Until the first response, attempts end after
   * {@link FIRST_RESPONSE_MS}.
   *
   * @throws CodedError DATA003 when the exchange does not list the symbol, DATA004 for any other failure; the signal's
   * reason
   */
  async call<T>(attempt: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    this.#expectResponse();
    for (let attempts = 1; ; attempts++) {
      await this.#delay(signal);
      try {
        return await attempt();
      } catch (error) {
        signal?.throwIfAborted();
        const maxBackoff = FIRST_BACKOFF_MS * 2 ** (attempts - 1);
        const waitMs = Math.round(maxBackoff * (0.5 + this.#options.random() / 2));
        const final = this.#finalError(error, attempts, waitMs);
        if (final) throw final;
        this.#options.onRetry?.({ exchange: this.#exchange, attempt: attempts, waitMs, error });
        this.#notBefore = Math.max(this.#notBefore, this.#clock.now() + waitMs);
      }
    }
  }

  /** Throws the last error again while the exchange counts as unreachable. */
  #expectResponse(): void {
    const now = this.#clock.now();
    if (this.#unreachable && now < this.#unreachable.until) throw this.#unreachable.error;
    const waited = Number.isFinite(this.#deadline) && now < this.#deadline;
    if (!waited && now - this.#respondedAt >= RECENT_RESPONSE_MS) this.#deadline = now + FIRST_RESPONSE_MS;
  }

  async #delay(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const wait = this.#notBefore - this.#clock.now();
    if (wait <= 0) return;
    if (wait > MAX_DELAY_MS) {
      const until = new Date(this.#notBefore).toISOString();
      throw new CodedError('DATA004', {
        message: `${this.#exchange} rejects requests until ${until}. Retry after that time.`,
        context: { exchange: this.#exchange, until },
      });
    }
    await this.#options.sleep(wait, signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
    signal?.throwIfAborted();
  }

  /** The error to throw; undefined if the call is to be retried. */
  #finalError(error: unknown, attempts: number, waitMs: number): CodedError | undefined {
    const { name } = error as Error;
    const exchange = this.#exchange;
    if (error instanceof CodedError) return error;
    if (name === 'BadSymbol') {
      const message = `${exchange} does not list the symbol`;
      return new CodedError('DATA003', { message, context: { exchange }, cause: error });
    }
    if (PERMANENT.has(name)) {
      const message = `${exchange} rejected the request (${name})`;
      return new CodedError('DATA004', { message, context: { exchange }, cause: error });
    }
    const now = this.#clock.now();
    const isLate = now + waitMs >= this.#deadline;
    if (attempts < ATTEMPTS && !isLate) return undefined;
    // Errors without a name of ccxt: a broken connection, or a response that made ccxt fail.
    const problem = TRANSIENT[name] ?? 'ended its response early';
    const message = `${exchange} ${problem} in ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}. Retry later.`;
    const final = new CodedError('DATA004', { message, context: { exchange, attempts }, cause: error });
    if (isLate) this.#unreachable = { until: now + UNREACHABLE_MS, error: final };
    return final;
  }
}
