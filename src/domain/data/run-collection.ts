import { CodedError } from '#contract/errors.ts';
import type { StoredCollection } from '#contract/stored-collection.ts';
import type { Exchanges } from '../exchange-ports.ts';
import type { Log } from '../ports.ts';
import { isoTime } from '../validate.ts';
import { type CollectDeps, type CollectProgress, collectCandles } from './collect-candles.ts';
import type { CollectionStore } from './collection-queue.ts';
import { describeOutcomes } from './describe-outcomes.ts';

export interface RunCollectionDeps extends CollectDeps {
  readonly exchanges: Exchanges;
  readonly collections: CollectionStore;
  readonly log: Log;
}

/** A collection that takes its process with it must not do so for ever. */
const MAX_ATTEMPTS = 5;
const PROGRESS_EVERY_MS = 1_000;

/**
 * Runs a collection to its end and records it, from where it was left: what is stored is not fetched again. When `signal` is
 * aborted it waits to be run again. False when another process has taken it over: then nothing more is written.
 * Throws DATA005 while storage is down: the collection waits.
 */
export async function runCollection(
  deps: RunCollectionDeps,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  const stored = await deps.collections.get(id);
  if (!stored || stored.status === 'completed' || stored.status === 'failed') return true;
  const record = new CollectionRecord(deps, stored);
  if (stored.attempts >= MAX_ATTEMPTS) {
    const reason = stored.error ?? 'SVC001 Its process ended';
    const error = `${reason}, ${MAX_ATTEMPTS} times without coming further`;
    return record.write({ status: 'failed', error });
  }
  if (!(await record.write({ status: 'running', attempts: stored.attempts + 1 }))) return false;
  const lost = new AbortController();
  record.onLost = () => lost.abort();
  const end = await collect(deps, stored, AbortSignal.any([signal, lost.signal]), record);
  return record.write(end);
}

type Change = Partial<Pick<StoredCollection, 'status' | 'progress' | 'candles' | 'error' | 'attempts'>>;

async function collect(
  deps: RunCollectionDeps,
  { collection_id, exchange, symbols, timeframe, start, end, attempts }: StoredCollection,
  signal: AbortSignal,
  record: CollectionRecord,
): Promise<Change> {
  try {
    const outcomes = await collectCandles(deps, {
      exchange: await deps.exchanges.open(exchange),
      symbols,
      timeframe,
      start: Date.parse(start),
      end: Date.parse(end),
      signal,
      onProgress: (progress) => record.report(progress),
    });
    const { status, message } = describeOutcomes(outcomes);
    const candles = outcomes.reduce((sum, each) => sum + each.candles, 0);
    const error = status === 'failed' ? message : null;
    return { status, progress: 1, candles: record.before + candles, error };
  } catch (error) {
    // Told to stop, it was not its own fault that it came no further.
    if (signal.aborted) return { status: 'pending', attempts };
    const coded = error instanceof CodedError ? error : new CodedError('SVC001');
    if (coded.code === 'DATA005') {
      await record.write({ status: 'pending', error: `${coded.code} ${coded.message}` });
      throw error;
    }
    if (coded.code === 'SVC001') deps.log.error('collection failed', { collection_id, error });
    return { status: 'failed', error: `${coded.code} ${coded.message}` };
  }
}

/** The stored state of a collection that runs here. Writes follow one another, each on the revision before. */
class CollectionRecord {
  /** Candles that earlier attempts have counted. */
  readonly before: number;
  /** Told when another process turns out to write it. */
  onLost: () => void = () => {};
  readonly #deps: RunCollectionDeps;
  #stored: StoredCollection;
  #writing: Promise<boolean> = Promise.resolve(true);
  #reported = Number.NEGATIVE_INFINITY;

  constructor(deps: RunCollectionDeps, stored: StoredCollection) {
    this.#deps = deps;
    this.#stored = stored;
    this.before = stored.candles;
  }

  /** Writes progress at most once a second. What cannot be written now is written with the end. */
  report({ done, candles }: CollectProgress): void {
    const now = this.#deps.clock.now();
    if (now - this.#reported < PROGRESS_EVERY_MS) return;
    this.#reported = now;
    const further = done > this.#stored.progress;
    const progress = Math.max(done, this.#stored.progress);
    this.write({ progress, candles: this.before + candles, ...(further ? { attempts: 0 } : {}) }).catch(
      () => undefined,
    );
  }

  /** False, and nothing written, when another process has come between. */
  write(change: Change): Promise<boolean> {
    const write = async () => {
      const updated_at = isoTime(this.#deps.clock.now());
      const written = await this.#deps.collections.update({ ...this.#stored, ...change, updated_at });
      if (written) this.#stored = written;
      else this.onLost();
      return written !== undefined;
    };
    // After a write that failed too: the next one tries from the same revision.
    this.#writing = this.#writing.then(write, write);
    return this.#writing;
  }
}
