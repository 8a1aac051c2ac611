import type { QueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import type { OperationId } from './client.ts';
import { FOLLOWED, JobCache, type JobState } from './job-cache.ts';

/** Milliseconds until the stream is opened again after it has ended, and after it was refused. */
const PAUSES = { ended: 10_000, refused: 300_000 } as const;

/** Messages between the tabs of a browser. */
type Message =
  | { readonly kind: 'job'; readonly job: JobState; readonly lastId: string | undefined }
  | { readonly kind: 'state'; readonly isLive: boolean; readonly lastId: string | undefined }
  /** A new tab asks for the state. */
  | { readonly kind: 'hello' };

/**
 * One stream of jobs for all tabs of a browser, since browsers allow six connections to an origin. A visible tab in which
 * something moves holds it, by a lock, and passes its events on. When that tab is hidden, closed or at rest, the next one
 * takes the lock and continues from the last event. Without a stream, pages poll.
 */
class Live {
  #cache: JobCache | undefined;
  #caller: (() => Promise<string>) | undefined;
  #channel: BroadcastChannel | undefined;
  #isLive = false;
  #isHolder = false;
  #lastId: string | undefined;
  /** Parts of the page that show something that moves. */
  #wanted = 0;
  /** Milliseconds after the end of the stream, and the time until which this tab does not open it. */
  #pause: number = PAUSES.ended;
  #notBefore = 0;
  #held: AbortController | undefined;
  readonly #listeners = new Set<() => void>();

  /** @param caller identifies the user: tabs of other users have other jobs, and a stream of their own */
  start(client: QueryClient, caller: () => Promise<string>): void {
    // Browsers offer locks to secure origins and to this machine only.
    if (!('locks' in navigator)) return;
    this.#cache = new JobCache(client, () => document.visibilityState === 'hidden');
    this.#caller = caller;
    document.addEventListener('visibilitychange', () => this.#update());
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Something moves in this tab, until the returned function is called. */
  want(): () => void {
    this.#wanted += 1;
    this.#update();
    return () => {
      this.#wanted -= 1;
      // Not at once: the next page may want it as well.
      setTimeout(() => this.#update(), 0);
    };
  }

  #update(): void {
    if (this.#wanted === 0 || document.visibilityState === 'hidden') {
      this.#held?.abort();
      this.#held = undefined;
    } else if (!this.#held && this.#caller && Date.now() >= this.#notBefore) {
      const held = new AbortController();
      this.#held = held;
      void this.#hold(this.#caller, held.signal).finally(() => {
        if (this.#held !== held) return;
        this.#held = undefined;
        this.#notBefore = Date.now() + this.#pause;
        setTimeout(() => this.#update(), this.#pause);
      });
    }
  }

  /** Waits for the lock, then follows the stream until it ends or `signal` is aborted. */
  async #hold(caller: () => Promise<string>, signal: AbortSignal): Promise<void> {
    this.#pause = PAUSES.ended;
    try {
      const who = await caller();
      this.#join(who);
      await navigator.locks.request(lockOf(who), { signal }, () => this.#follow(signal));
    } catch {
      // Aborted, or the caller is not known: pages poll.
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    this.#isHolder = true;
    try {
      // Loaded when something moves: the first page does not need it.
      const { follow } = await import('./events.ts');
      await follow(
        'watchJobs',
        {},
        {
          signal,
          lastId: this.#lastId,
          onState: (state) => {
            // After the end, a stream begins anew with the jobs of that time.
            if (state === 'ended') this.#lastId = undefined;
            if (state === 'refused') this.#pause = PAUSES.refused;
            this.#setLive(state === 'live');
            this.#tellState();
          },
          onEvent: ({ name, id, data }) => {
            if (id) this.#lastId = id;
            if (name !== 'job') return;
            this.#cache?.apply(data);
            this.#tell({ kind: 'job', job: data, lastId: this.#lastId });
          },
        },
      );
    } finally {
      this.#setLive(false);
      this.#tellState();
      this.#isHolder = false;
    }
  }

  #join(who: string): void {
    const name = lockOf(who);
    if (this.#channel?.name === name) return;
    this.#channel?.close();
    this.#lastId = undefined;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }: MessageEvent<Message>) => this.#hear(data);
    this.#tell({ kind: 'hello' });
  }

  #hear(message: Message): void {
    if (this.#isHolder) {
      // It may also hear the farewell of the holder before, whose place it has taken.
      if (message.kind === 'hello') this.#tellState();
      return;
    }
    if (message.kind === 'hello') return;
    this.#lastId = message.lastId;
    this.#setLive(message.kind === 'job' || message.isLive);
    if (message.kind === 'job') this.#cache?.apply(message.job);
  }

  #tell(message: Message): void {
    this.#channel?.postMessage(message);
  }

  #tellState(): void {
    this.#tell({ kind: 'state', isLive: this.#isLive, lastId: this.#lastId });
  }

  #setLive(isLive: boolean): void {
    if (this.#isLive === isLive) return;
    this.#isLive = isLive;
    for (const listener of this.#listeners) listener();
  }
}

function lockOf(who: string): string {
  return `touchstone.jobs ${who}`;
}

const live = new Live();

/** Starts the stream of jobs, which is opened as soon as something moves in a visible tab. */
export function startLive(client: QueryClient, caller: () => Promise<string>): void {
  live.start(client, caller);
}

/** True while the stream keeps the data of the operation up to date: its pages need not poll. */
export function isLive(operation: OperationId): boolean {
  return live.isLive && FOLLOWED.has(operation);
}

/** Asks for the stream while data of the operation move. Draws again when the stream begins or ends. */
export function useLive(operation: OperationId, isMoving: boolean): void {
  const isWanted = isMoving && FOLLOWED.has(operation);
  useEffect(() => (isWanted ? live.want() : undefined), [isWanted]);
  useSyncExternalStore(live.subscribe, () => isLive(operation));
}
