import { CodedError } from '#contract/errors.ts';
import type { Clock } from '#domain/ports.ts';

/** What an exchange's caller is told of a call that is made again. */
export interface RepeatedCall {
  readonly exchange: string;
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  readonly waitMs: number;
  readonly error: unknown;
}

export interface RetryOptions {
  /** Default: the system's. */
  readonly clock?: Clock;
  /** Ends early, in whatever way, when the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal | undefined) => Promise<unknown>;
  /** In [0, 1): spreads the pauses of processes that were refused together. */
  readonly random: () => number;
  readonly onRepeat?: (call: RepeatedCall) => void;
}

/** Pauses of at most 1, 2, 4, 8 and 16 s: half a minute is longer than a gateway's restart. */
const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 1_000;
/**
 * An exchange from which no reply has come lately is tried for so long: below 5 s with the start of a process, and long
 * enough for a slow connection.
 */
const REACH_MS = 4_000;
/** A reply that is no older makes a failure an interruption, which is worth waiting for. */
const LATELY_MS = 60_000;
/** An exchange that was not reached is not tried again before. */
const UNREACHABLE_MS = 30_000;
/** Refusals for longer are bans: a collection that waited for their end would only seem to run. */
const LONGEST_PAUSE_MS = 5 * 60_000;

/** Failures that pass, by the names of ccxt's error classes, in words for a person. ccxt's own texts hold whole replies. */
const PASSING: Readonly<Record<string, string>> = {
  OperationFailed: 'failed',
  NetworkError: 'could not be reached',
  DDoSProtection: 'refuses more requests',
  RateLimitExceeded: 'refuses more requests',
  ExchangeNotAvailable: 'is not available',
  OnMaintenance: 'is under maintenance',
  InvalidNonce: 'did not accept the time of the request',
  ChecksumError: 'answered with a wrong checksum',
  RequestTimeout: 'did not answer in time',
  BadResponse: 'answered with something unreadable',
  NullResponse: 'answered with nothing',
};

/** Errors of ccxt that another attempt would meet again. */
const FINAL = new Set([
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

/** Calls of one exchange: repeats those whose failure may pass, and keeps the pauses that the exchange asks for. */
export class RetryingCaller {
  readonly #exchange: string;
  readonly #options: RetryOptions;
  readonly #clock: Clock;
  /** The exchange wants no request before, ms. */
  #notBefore = 0;
  /** Time of the last reply of any kind, ms. */
  #replied = Number.NEGATIVE_INFINITY;
  /** Until when the first reply is waited for, ms; without end once one has come. */
  #deadline = Number.POSITIVE_INFINITY;
  #unreachable: { readonly until: number; readonly error: CodedError } | undefined;

  constructor(exchange: string, options: RetryOptions) {
    this.#exchange = exchange;
    this.#options = options;
    this.#clock = options.clock ?? Date;
  }

  /** Notes a Retry-After: whole seconds, or a date. */
  noteRetryAfter(text: string): void {
    const now = this.#clock.now();
    const until = /^\d+(\.\d+)?$/.test(text) ? now + Number(text) * 1000 : Date.parse(text);
    if (until > this.#notBefore) this.#notBefore = until;
  }

  /** Notes that the exchange has answered something. */
  noteReply(): void {
    this.#replied = this.#clock.now();
    this.#deadline = Number.POSITIVE_INFINITY;
    this.#unreachable = undefined;
  }

  /** Milliseconds that a request may wait for its reply, at least 1. */
  get patienceMs(): number {
    return Math.max(1, this.#deadline - this.#clock.now());
  }

  /**
   * The result of `attempt`, which is made anew when it fails in a way that may pass. While no reply has come the attempts end
   * after {@link REACH_MS}.
   * @throws CodedError DATA003 when the exchange does not know the symbol, DATA004 for every other end; the signal's reason
   */
  async call<T>(attempt: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    this.#expectReply();
    for (let made = 1; ; made++) {
      await this.#keepPause(signal);
      try {
        return await attempt();
      } catch (error) {
        signal?.throwIfAborted();
        const longest = FIRST_PAUSE_MS * 2 ** (made - 1);
        const waitMs = Math.round(longest * (0.5 + this.#options.random() / 2));
        const end = this.#finalEnd(error, made, waitMs);
        if (end) throw end;
        this.#options.onRepeat?.({ exchange: this.#exchange, attempt: made, waitMs, error });
        this.#notBefore = Math.max(this.#notBefore, this.#clock.now() + waitMs);
      }
    }
  }

  /** Throws the failure of before where the exchange was not reached a moment ago. */
  #expectReply(): void {
    const now = this.#clock.now();
    if (this.#unreachable && now < this.#unreachable.until) throw this.#unreachable.error;
    const waited = Number.isFinite(this.#deadline) && now < this.#deadline;
    if (!waited && now - this.#replied >= LATELY_MS) this.#deadline = now + REACH_MS;
  }

  async #keepPause(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const wait = this.#notBefore - this.#clock.now();
    if (wait <= 0) return;
    if (wait > LONGEST_PAUSE_MS) {
      const until = new Date(this.#notBefore).toISOString();
      throw new CodedError('DATA004', {
        message: `${this.#exchange} refuses requests until ${until}`,
        context: { exchange: this.#exchange, until },
      });
    }
    await this.#options.sleep(wait, signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
    signal?.throwIfAborted();
  }

  #finalEnd(error: unknown, made: number, waitMs: number): CodedError | undefined {
    const { name } = error as Error;
    const exchange = this.#exchange;
    if (error instanceof CodedError) return error;
    if (name === 'BadSymbol') {
      const message = `${exchange} does not list the symbol`;
      return new CodedError('DATA003', { message, context: { exchange }, cause: error });
    }
    if (FINAL.has(name)) {
      const message = `${exchange} refused the request (${name})`;
      return new CodedError('DATA004', { message, context: { exchange }, cause: error });
    }
    const now = this.#clock.now();
    const isLate = now + waitMs >= this.#deadline;
    if (made < ATTEMPTS && !isLate) return undefined;
    // What has no name of ccxt's is a connection that broke, or a reply that ccxt stumbled over.
    const problem = PASSING[name] ?? 'broke off its answer';
    const message = `${exchange} ${problem}, ${made} ${made === 1 ? 'time' : 'times in a row'}`;
    const end = new CodedError('DATA004', { message, context: { exchange, attempts: made }, cause: error });
    if (isLate) this.#unreachable = { until: now + UNREACHABLE_MS, error: end };
    return end;
  }
}
