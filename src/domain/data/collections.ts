import { CodedError } from '#contract/errors.ts';
import { DAY_MS, type Timeframe } from '#engine/timeframe.ts';
import { idSuffix } from '../id-suffix.ts';
import type { Digest, Exchange, Ids } from '../ports.ts';
import { checkSymbol, checkTimeframe, isoTime } from '../validate.ts';
import { type CollectDeps, collectCandles } from './collect-candles.ts';
import { describeOutcomes } from './describe-outcomes.ts';
import { parseRange } from './time-range.ts';

export interface CollectionInput {
  readonly body: {
    readonly symbols: readonly string[];
    readonly timeframe: string;
    readonly start?: string;
    readonly end?: string;
    readonly exchange?: string;
  };
  readonly owner: string;
  /** Header Idempotency-Key: the same key of the same owner always means the same collection. */
  readonly idempotencyKey: string | null;
}

/** A collection as it is shown. */
export interface Collection {
  readonly collection_id: string;
  readonly status: 'pending' | 'running' | 'completed' | 'failed';
  readonly exchange: string;
  readonly symbols: readonly string[];
  readonly timeframe: string;
  readonly start: string;
  readonly end: string;
  /** Share of the work that is done, 0 to 1. */
  readonly progress: number;
  /** Candles stored so far. */
  readonly candles: number;
  readonly error: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface CollectionsDeps extends CollectDeps {
  readonly exchanges: ReadonlyMap<string, Exchange>;
  readonly defaultExchange: string;
  readonly ids: Ids;
  readonly digest: Digest;
  /** Told of what ended a collection unforeseen. */
  readonly onFault: (collectionId: string, error: unknown) => void;
}

interface Plan {
  readonly exchange: Exchange;
  readonly symbols: readonly string[];
  readonly timeframe: Timeframe;
  readonly start: number;
  readonly end: number;
}

interface Entry {
  readonly requestDigest: string;
  collection: Collection;
}

const DEFAULT_DAYS = 90;
const MAX_SYMBOLS = 200;
/** One runs, the others wait: exchanges count requests per address, not per collection. */
const MAX_UNFINISHED = 20;
/** Finished ones beyond this are forgotten, the oldest first. About 30 KB each at most. */
const MAX_KEPT = 500;

/**
 * Collections of this process, run one after another in the order of their start. They live as long as the process;
 * what a collection has stored stays, and starting it again goes on from there.
 */
export class Collections {
  readonly #deps: CollectionsDeps;
  readonly #entries = new Map<string, Entry>();
  readonly #stop = new AbortController();
  #queue: Promise<void> = Promise.resolve();
  #unfinished = 0;

  constructor(deps: CollectionsDeps) {
    this.#deps = deps;
  }

  /**
   * Starts a collection, or answers the one that this owner's Idempotency-Key has started.
   * Throws VAL001, VAL002, VAL003, VAL005, RES005 (key used with another body), HTTP429 (too many unfinished).
   */
  start(input: CollectionInput): Collection {
    const plan = this.#plan(input.body);
    const id = `co-${idSuffix(this.#deps, input.owner, input.idempotencyKey)}`;
    const requestDigest = this.#deps.digest(JSON.stringify(input.body));
    const known = this.#entries.get(id);
    if (known) return repeated(known, requestDigest);
    if (this.#unfinished >= MAX_UNFINISHED) {
      throw new CodedError('HTTP429', {
        message: `${MAX_UNFINISHED} collections are waiting or running: try again when one has ended`,
        context: { unfinished: this.#unfinished, max: MAX_UNFINISHED },
      });
    }
    const now = isoTime(this.#deps.clock.now());
    const entry: Entry = { requestDigest, collection: newCollection(id, plan, now) };
    this.#entries.set(id, entry);
    this.#unfinished++;
    this.#queue = this.#queue.then(() => this.#run(entry, plan));
    return entry.collection;
  }

  /** Throws COL001 for an id that this process does not know. */
  get(id: string): Collection {
    const entry = this.#entries.get(id);
    if (!entry) throw new CodedError('COL001', { field: 'collection_id', context: { collection_id: id } });
    return entry.collection;
  }

  /** Resolves when no collection waits or runs. */
  idle(): Promise<void> {
    return this.#queue;
  }

  /** Ends what runs after its current fetch, and everything that waits. */
  async stop(): Promise<void> {
    this.#stop.abort(
      new CodedError('HTTP503', { message: 'The service was stopped: start the collection again' }),
    );
    await this.#queue;
  }

  #plan(body: CollectionInput['body']): Plan {
    const symbols = checkSymbols(body.symbols);
    const timeframe = checkTimeframe(body.timeframe, 'timeframe');
    const exchange = this.#exchange(body.exchange ?? this.#deps.defaultExchange);
    const range = parseRange(body);
    const end = range.end ?? this.#deps.clock.now();
    const start = range.start ?? end - DEFAULT_DAYS * DAY_MS;
    if (start >= end) {
      throw new CodedError('VAL001', {
        message: 'start lies in the future',
        field: 'start',
        context: { start: isoTime(start), end: isoTime(end) },
      });
    }
    return { exchange, symbols, timeframe, start, end };
  }

  #exchange(name: string): Exchange {
    const exchange = this.#deps.exchanges.get(name);
    if (exchange) return exchange;
    const allowed = [...this.#deps.exchanges.keys()];
    throw new CodedError('VAL005', {
      message: `exchange must be one of ${allowed.join(', ')}`,
      field: 'exchange',
      context: { value: name.slice(0, 100), allowed },
    });
  }

  async #run(entry: Entry, plan: Plan): Promise<void> {
    this.#update(entry, { status: 'running' });
    try {
      const outcomes = await collectCandles(this.#deps, {
        ...plan,
        signal: this.#stop.signal,
        onProgress: ({ done, candles }) => this.#update(entry, { progress: done, candles }),
      });
      const { status, message } = describeOutcomes(outcomes);
      this.#update(entry, { status, progress: 1, error: status === 'failed' ? message : null });
    } catch (error) {
      const coded = error instanceof CodedError ? error : new CodedError('SVC001');
      if (coded.code === 'SVC001') this.#deps.onFault(entry.collection.collection_id, error);
      this.#update(entry, { status: 'failed', error: `${coded.code} ${coded.message}` });
    }
    this.#unfinished--;
    this.#forget();
  }

  #update(entry: Entry, change: Partial<Collection>): void {
    entry.collection = { ...entry.collection, ...change, updated_at: isoTime(this.#deps.clock.now()) };
  }

  #forget(): void {
    for (const [id, { collection }] of this.#entries) {
      if (this.#entries.size <= MAX_KEPT) return;
      if (collection.status === 'completed' || collection.status === 'failed') this.#entries.delete(id);
    }
  }
}

function checkSymbols(symbols: readonly string[]): string[] {
  if (symbols.length === 0 || symbols.length > MAX_SYMBOLS) {
    throw new CodedError('VAL005', {
      message: `symbols must hold 1 to ${MAX_SYMBOLS} symbols`,
      field: 'symbols',
      context: { count: symbols.length, min: 1, max: MAX_SYMBOLS },
    });
  }
  return [...new Set(symbols.map((symbol, index) => checkSymbol(symbol, `symbols.${index}`)))];
}

function repeated({ requestDigest, collection }: Entry, digest: string): Collection {
  if (requestDigest === digest) return collection;
  throw new CodedError('RES005', {
    message: 'This Idempotency-Key was used with another request body',
    field: 'Idempotency-Key',
    context: { collection_id: collection.collection_id },
  });
}

function newCollection(id: string, plan: Plan, now: string): Collection {
  return {
    collection_id: id,
    status: 'pending',
    exchange: plan.exchange.name,
    symbols: plan.symbols,
    timeframe: plan.timeframe,
    start: isoTime(plan.start),
    end: isoTime(plan.end),
    progress: 0,
    candles: 0,
    error: null,
    created_at: now,
    updated_at: now,
  };
}
