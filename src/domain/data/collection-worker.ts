import type { StoredCollection } from '#contract/market-data/stored-market-data.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { Ids, Log } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { tradingModeOf } from '../shared/validate.ts';
import { type CollectDeps, type CollectProgress, collectCandles } from './collect-candles.ts';
import { type CollectionStore, isUnfinished, lease, RENEW_MS, release, without } from './collection-queue.ts';
import { changesOf, describeOutcomes } from './describe-outcomes.ts';
import type { Exchanges } from './exchange-ports.ts';

export interface CollectionWorkerDeps extends RunCollectionDeps {
  readonly ids: Ids;
  /** Calls `action` every `ms` until the returned function is called. */
  readonly every: (ms: number, action: () => void) => () => void;
  /**
   * No other process works on these collections, so the lease of an earlier process is free immediately. Default false.
   */
  readonly isOnlyProcess?: boolean;
}

/** Interval at which a process looks for unfinished collections. With the lease, a collection resumes within 90 s. */
const LOOK_EVERY_MS = 30_000;

/**
 * Queue of collections. Each is stored before it is accepted. One process at a time runs them in sequence. The next process
 * resumes the collections that a process leaves unfinished.
 */
export class CollectionWorker {
  readonly #deps: CollectionWorkerDeps;
  /** ID of this process as lease owner of the queue. */
  readonly #leaseOwner: string;
  readonly #stop = new AbortController();
  #stopLooking = () => {};
  /** The collection that this process runs. */
  #running: { readonly id: string; readonly cancelled: AbortController } | undefined;
  #working: Promise<void> = Promise.resolve();
  #busy = false;
  #again = false;

  constructor(deps: CollectionWorkerDeps) {
    this.#deps = deps;
    this.#leaseOwner = deps.ids.ulid();
  }

  /** Resumes unfinished collections, now and whenever another process dies. */
  resume(): void {
    this.#work(this.#deps.isOnlyProcess ?? false);
    this.#stopLooking = this.#deps.every(LOOK_EVERY_MS, () => this.#work(false));
  }

  /** Runs the queued collections, unless they run already. */
  wake(): void {
    this.#work(false);
  }

  /** Ends the run of a cancelled collection, if this process runs it. Another process notices within 20 s. */
  cancel(id: string): void {
    if (this.#running?.id === id) this.#running.cancelled.abort();
  }

  /** Stops the running collection after its current request; the next process resumes it and the queue. */
  async stop(): Promise<void> {
    this.#stopLooking();
    this.#stop.abort();
    await this.#working;
  }

  #work(force: boolean): void {
    this.#again = true;
    if (this.#busy) return;
    this.#busy = true;
    this.#working = this.#drain(force);
  }

  async #drain(force: boolean): Promise<void> {
    try {
      while (this.#again && !this.#stop.signal.aborted) {
        this.#again = false;
        while (await this.#runNext(force));
      }
    } catch (error) {
      // Storage is down. The queue is unchanged, so the next look retries.
      this.#deps.log.error('collection failed', { collection_id: 'queue', error });
    } finally {
      this.#busy = false;
    }
  }

  /** Returns whether more collections may be queued. */
  async #runNext(force: boolean): Promise<boolean> {
    const { collections, every } = this.#deps;
    const queue = await this.#lease(force);
    const id = queue.ids[0];
    if (queue.lease_owner !== this.#leaseOwner || id === undefined) return false;
    const lost = new AbortController();
    const cancelled = new AbortController();
    this.#running = { id, cancelled };
    const stopRenewing = every(RENEW_MS, () => {
      // One renewal may fail: the next comes before the lease ends.
      this.#lease(false).then(
        ({ lease_owner }) => lease_owner === this.#leaseOwner || lost.abort(),
        () => undefined,
      );
      isCancelled(this.#deps, id).then(
        (is) => is && cancelled.abort(),
        () => undefined,
      );
    });
    const signal = AbortSignal.any([this.#stop.signal, lost.signal, cancelled.signal]);
    const mine = await runCollection(this.#deps, id, signal).finally(() => {
      stopRenewing();
      this.#running = undefined;
    });
    const stopped = this.#stop.signal.aborted;
    if (!mine || lost.signal.aborted) return false;
    await collections.changeQueue((now) => {
      const left = stopped ? now : without(now, id);
      return stopped || left.ids.length === 0 ? release(left, this.#leaseOwner) : left;
    });
    return !stopped;
  }

  #lease(force: boolean) {
    const now = this.#deps.clock.now();
    return this.#deps.collections.changeQueue((queue) => lease(queue, this.#leaseOwner, { now, force }));
  }
}

interface RunCollectionDeps extends CollectDeps {
  readonly exchanges: Exchanges;
  readonly collections: CollectionStore;
  readonly log: Log;
}

/** Attempts without progress after which a collection fails. It may be what crashes its process. */
const MAX_ATTEMPTS = 5;
const PROGRESS_EVERY_MS = 1_000;

/**
 * Runs a collection to its end and records it. Stored candles are not fetched again. When `signal` is aborted the
 * collection waits to be run again, unless it was cancelled. Returns false when another process has taken it over: then
 * nothing more is written.
 * Throws DATA005 while storage is down: the collection waits.
 */
async function runCollection(deps: RunCollectionDeps, id: string, signal: AbortSignal): Promise<boolean> {
  const stored = await deps.collections.get(id);
  if (!stored || !isUnfinished(stored)) return true;
  const record = new CollectionRecord(deps, stored);
  if (stored.attempts >= MAX_ATTEMPTS) {
    const reason = stored.error ?? 'SVC001 Its process ended';
    const error = `${reason}, ${MAX_ATTEMPTS} times without progress. Start a new collection.`;
    return record.write({ status: 'failed', error });
  }
  const started = await record.write({ status: 'running', attempts: stored.attempts + 1 });
  if (!started) return isCancelled(deps, id);
  const lost = new AbortController();
  record.onLost = () => lost.abort();
  const end = await collect(deps, stored, AbortSignal.any([signal, lost.signal]), record);
  // A cancellation is the only other writer of a collection whose lease is not lost.
  return (await record.write(end)) || isCancelled(deps, id);
}

async function isCancelled(
  { collections }: Pick<RunCollectionDeps, 'collections'>,
  id: string,
): Promise<boolean> {
  return (await collections.get(id))?.status === 'cancelled';
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
      exchange: await deps.exchanges.open(exchange, tradingModeOf(symbols[0]!)),
      symbols,
      timeframe,
      start: Date.parse(start),
      end: Date.parse(end),
      signal,
      onProgress: (progress) => record.report(progress),
    });
    const { status, message } = describeOutcomes(outcomes);
    const candles = outcomes.reduce((sum, each) => sum + each.candles, 0);
    const changes = changesOf(outcomes);
    const note = changes.length > 0 ? `Of the candles of the exchange: ${changes.join(', ')}` : null;
    const error = status === 'failed' ? message : note;
    return { status, progress: 1, candles: record.before + candles, error };
  } catch (error) {
    // A stop is not a failure of the collection, so the attempt does not count.
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
  /** Called when a write fails because another process has written the collection. */
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

  /** Writes progress at most once per second. Progress that is not written now is written with the end. */
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

  /** Returns false and writes nothing when another process has written the collection. */
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
