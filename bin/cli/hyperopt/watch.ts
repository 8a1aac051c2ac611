import { setTimeout as sleep } from 'node:timers/promises';
import type * as z from 'zod';
import type { HyperoptJob } from '#contract/hyperopt-api.ts';
import type { HyperoptTrialEvent } from '#contract/hyperopt-events.ts';
import { type ApiClient, ApiError, readJson } from '../client.ts';
import { readEvents } from './events.ts';

export type Job = z.infer<typeof HyperoptJob>;
type TrialEvent = z.infer<typeof HyperoptTrialEvent>;

/** Told how a study goes on. */
export interface Watcher {
  /** The study as it is; more than once. */
  job(job: Job): void;
  /** A trial that has ended, as the `ended`-th. */
  trial(trial: TrialEvent, ended: number): void;
}

export interface Pauses {
  readonly pollMs: number;
  /** Before a stream that has ended is asked for again, unless it says how long. */
  readonly retryMs: number;
  /** A stream on which nothing comes for so long is dead: every 15 seconds something does. */
  readonly silenceMs: number;
}

const PAUSES: Pauses = { pollMs: 2_000, retryMs: 3_000, silenceMs: 45_000 };
/** Calls in a row that may find nobody: a service that starts anew is back by then. */
const MOST_FAILURES = 20;

export const jobPath = (jobId: string, rest = '') => `/api/v1/hyperopt/${encodeURIComponent(jobId)}${rest}`;

/**
 * Follows a study to its end: by its events, which are asked for again after the last one whenever they break off; by
 * polling when they are refused. The study at its end; undefined when the signal was aborted before.
 */
export async function watchStudy(
  client: ApiClient,
  jobId: string,
  watcher: Watcher,
  signal: AbortSignal,
  pauses: Pauses = PAUSES,
): Promise<Job | undefined> {
  try {
    return await new Watch(client, jobId, watcher, signal, pauses).run();
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

class Watch {
  readonly #client: ApiClient;
  readonly #jobId: string;
  readonly #watcher: Watcher;
  readonly #signal: AbortSignal;
  readonly #pauses: Pauses;
  #last = 0;
  #retryMs: number;
  #failures = 0;

  constructor(client: ApiClient, jobId: string, watcher: Watcher, signal: AbortSignal, pauses: Pauses) {
    this.#client = client;
    this.#jobId = jobId;
    this.#watcher = watcher;
    this.#signal = signal;
    this.#pauses = pauses;
    this.#retryMs = pauses.retryMs;
  }

  async run(): Promise<Job> {
    // Whether there is such a study, and anybody to ask, is told at once.
    this.#watcher.job(await this.#job());
    for (;;) {
      const ended = await this.#stream();
      if (ended === 'refused') return this.#poll();
      if (ended !== 'broken') return ended;
      await sleep(this.#retryMs, undefined, { signal: this.#signal });
    }
  }

  async #stream(): Promise<Job | 'broken' | 'refused'> {
    const silent = new AbortController();
    const timer = setTimeout(() => silent.abort(), this.#pauses.silenceMs);
    try {
      const response = await this.#client.open(
        jobPath(this.#jobId, '/events'),
        { accept: 'text/event-stream', 'last-event-id': String(this.#last) },
        AbortSignal.any([this.#signal, silent.signal]),
      );
      if (response.status === 204) return this.#job();
      if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
        return 'refused';
      }
      return (await this.#follow(response.body, () => timer.refresh())) ?? 'broken';
    } catch (error) {
      if (error instanceof ApiError) return 'refused';
      this.#signal.throwIfAborted();
      if (++this.#failures >= MOST_FAILURES) throw error;
      return 'broken';
    } finally {
      clearTimeout(timer);
    }
  }

  async #follow(body: ReadableStream<Uint8Array>, onBytes: () => void): Promise<Job | undefined> {
    for await (const { event, id, data = '{}', retry } of readEvents(body, onBytes)) {
      this.#failures = 0;
      if (retry !== undefined) this.#retryMs = retry;
      if (event === 'snapshot' || event === 'status') this.#watcher.job(readJson<Job>(data));
      if (event === 'trial') this.#watcher.trial(readJson<TrialEvent>(data), id!);
      if (id !== undefined) this.#last = id;
      if (event === 'status') return readJson<Job>(data);
    }
    return undefined;
  }

  async #poll(): Promise<Job> {
    for (;;) {
      const job = await this.#job();
      this.#watcher.job(job);
      if (job.status !== 'pending' && job.status !== 'running') return job;
      await sleep(this.#pauses.pollMs, undefined, { signal: this.#signal });
    }
  }

  #job(): Promise<Job> {
    return this.#client.get<Job>(jobPath(this.#jobId));
  }
}
