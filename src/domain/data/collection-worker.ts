import type { Ids } from '../ports.ts';
import { lease, RENEW_MS, release, without } from './collection-queue.ts';
import { type RunCollectionDeps, runCollection } from './run-collection.ts';

export interface CollectionWorkerDeps extends RunCollectionDeps {
  readonly ids: Ids;
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
export class CollectionWorker {
  readonly #deps: CollectionWorkerDeps;
  /** This process, in the queue. */
  readonly #leaseOwner: string;
  readonly #stop = new AbortController();
  #stopLooking = () => {};
  #working: Promise<void> = Promise.resolve();
  #busy = false;
  #again = false;

  constructor(deps: CollectionWorkerDeps) {
    this.#deps = deps;
    this.#leaseOwner = deps.ids.ulid();
  }

  /** Takes up what was left unfinished, now and whenever another process dies. */
  resume(): void {
    this.#work(this.#deps.alone ?? false);
    this.#stopLooking = this.#deps.every(LOOK_EVERY_MS, () => this.#work(false));
  }

  /** Runs what is queued, unless it does so already. */
  wake(): void {
    this.#work(false);
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
      this.#deps.log.error('collection failed', { collection_id: 'queue', error });
    } finally {
      this.#busy = false;
    }
  }

  /** Whether there may be more to run. */
  async #runNext(force: boolean): Promise<boolean> {
    const { collections, every } = this.#deps;
    const queue = await this.#lease(force);
    const id = queue.ids[0];
    if (queue.lease_owner !== this.#leaseOwner || id === undefined) return false;
    const lost = new AbortController();
    const stopRenewing = every(RENEW_MS, () => {
      this.#lease(false).then(
        ({ lease_owner }) => lease_owner === this.#leaseOwner || lost.abort(),
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
      return stopped || left.ids.length === 0 ? release(left, this.#leaseOwner) : left;
    });
    return !stopped;
  }

  #lease(force: boolean) {
    const now = this.#deps.clock.now();
    return this.#deps.collections.changeQueue((queue) => lease(queue, this.#leaseOwner, { now, force }));
  }
}
