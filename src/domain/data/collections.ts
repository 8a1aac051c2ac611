import { CodedError } from '#contract/errors.ts';
import type { StoredCollection } from '#contract/stored-collection.ts';
import { idSuffix, keyUsedAgain } from '../id-suffix.ts';
import type { Digest, Ids } from '../ports.ts';
import { isoTime } from '../validate.ts';
import { checkRoom, enqueue, lease, RENEW_MS, release, without } from './collection-queue.ts';
import { type CollectionBody, planCollection } from './plan-collection.ts';
import { type RunCollectionDeps, runCollection } from './run-collection.ts';

export interface CollectionInput {
  readonly body: CollectionBody;
  readonly owner: string;
  /** Header Idempotency-Key: the same key of the same owner always means the same collection. */
  readonly idempotencyKey: string | null;
}

/** A collection as it is shown. */
export type Collection = Omit<StoredCollection, 'schema_version' | 'revision' | 'request_digest' | 'starts'>;

export interface CollectionsDeps extends RunCollectionDeps {
  readonly defaultExchange: string;
  readonly ids: Ids;
  readonly digest: Digest;
  /** Calls again and again until the returned function is called. */
  readonly every: (ms: number, action: () => void) => () => void;
  /** No other process works on these collections: what the last one held is free at once. Default false. */
  readonly alone?: boolean;
}

/** How often a process looks for what another left unfinished. With the lease, at most 90 s pass until it is taken up. */
const LOOK_EVERY_MS = 30_000;

/**
 * Collections, stored before they are accepted and run one after another, by one process at a time. What a process
 * leaves unfinished, however it ends, is taken up by the next.
 */
export class Collections {
  readonly #deps: CollectionsDeps;
  /** This process, in the queue. */
  readonly #holder: string;
  readonly #stop = new AbortController();
  #stopLooking = () => {};
  #working: Promise<void> = Promise.resolve();
  #busy = false;
  #again = false;

  constructor(deps: CollectionsDeps) {
    this.#deps = deps;
    this.#holder = deps.ids.ulid();
  }

  /** Takes up what was left unfinished, now and whenever another process dies. */
  resume(): void {
    this.#work(this.#deps.alone ?? false);
    this.#stopLooking = this.#deps.every(LOOK_EVERY_MS, () => this.#work(false));
  }

  /**
   * Starts a collection, or answers the one that this owner's Idempotency-Key has started.
   * Throws VAL001, VAL002, VAL003, VAL005, RES005 (key used with another body), HTTP429 (too many unfinished), DATA005.
   */
  async start(input: CollectionInput): Promise<Collection> {
    const { collections, digest } = this.#deps;
    const plan = await planCollection(this.#deps, input.body);
    const id = `co-${idSuffix(this.#deps, input.owner, input.idempotencyKey)}`;
    const request_digest = digest(JSON.stringify(input.body));
    const now = isoTime(this.#deps.clock.now());
    let stored = await collections.get(id);
    if (!stored) {
      await collections.changeQueue(checkRoom);
      stored = await collections.create({
        schema_version: 1,
        revision: 1,
        request_digest,
        collection_id: id,
        status: 'pending',
        ...plan,
        progress: 0,
        candles: 0,
        error: null,
        starts: 0,
        created_at: now,
        updated_at: now,
      });
    }
    if (stored.request_digest !== request_digest) throw keyUsedAgain({ collection_id: id });
    // Whoever stored it may have died before it was in the queue.
    if (isUnfinished(stored)) await collections.changeQueue((queue) => enqueue(queue, id));
    this.#work(false);
    return shown(stored);
  }

  /** Throws COL001 for an id that nobody has started, DATA005. */
  async get(id: string): Promise<Collection> {
    const stored = await this.#deps.collections.get(id);
    if (!stored) throw new CodedError('COL001', { field: 'collection_id', context: { collection_id: id } });
    return shown(stored);
  }

  /** Ends what runs here after its current request; it and what waits is left to the next process. */
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
      // Storage is down: the next look finds the queue as it was left.
      this.#deps.onFault('queue', error);
    } finally {
      this.#busy = false;
    }
  }

  /** Whether there may be more to run. */
  async #runNext(force: boolean): Promise<boolean> {
    const { collections, every } = this.#deps;
    const queue = await this.#lease(force);
    const id = queue.ids[0];
    if (queue.holder !== this.#holder || id === undefined) return false;
    const lost = new AbortController();
    const stopRenewing = every(RENEW_MS, () => {
      this.#lease(false).then(
        ({ holder }) => holder === this.#holder || lost.abort(),
        // One renewal may fail: the next comes before the lease ends.
        () => undefined,
      );
    });
    const mine = await runCollection(
      this.#deps,
      id,
      AbortSignal.any([this.#stop.signal, lost.signal]),
    ).finally(stopRenewing);
    const stopped = this.#stop.signal.aborted;
    if (!mine || lost.signal.aborted) return false;
    await collections.changeQueue((now) => {
      const left = stopped ? now : without(now, id);
      return stopped || left.ids.length === 0 ? release(left, this.#holder) : left;
    });
    return !stopped;
  }

  #lease(force: boolean) {
    const now = this.#deps.clock.now();
    return this.#deps.collections.changeQueue((queue) => lease(queue, this.#holder, { now, force }));
  }
}

function isUnfinished({ status }: StoredCollection): boolean {
  return status === 'pending' || status === 'running';
}

function shown(stored: StoredCollection): Collection {
  const { schema_version: _, revision: _r, request_digest: _d, starts: _s, ...collection } = stored;
  return collection;
}
