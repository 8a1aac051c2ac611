import { setTimeout as sleep } from 'node:timers/promises';
import type * as z from 'zod';
import type {
  HyperoptJob,
  HyperoptPermutedSearchEvent,
  HyperoptTrialEvent,
} from '#contract/hyperopt/hyperopt-api.ts';
import { type ApiClient, ApiError, readJson } from '../client.ts';
import { compactNumber, progressBar } from '../output.ts';

export type Job = z.infer<typeof HyperoptJob>;
type TrialEvent = z.infer<typeof HyperoptTrialEvent>;
type PermutedSearchEvent = z.infer<typeof HyperoptPermutedSearchEvent>;

/** Receives the progress of a hyperopt job. */
interface Watcher {
  /** The current job; called again after each change. */
  job(job: Job): void;
  /** A finished trial; `ended` counts the finished trials so far. */
  trial(trial: TrialEvent, ended: number): void;
  /** A permuted search has ended: all trials have. */
  permutedSearch(event: PermutedSearchEvent): void;
}

export interface Delays {
  readonly pollMs: number;
  /** Before a stream is opened again, unless it named a `retry` time. */
  readonly retryMs: number;
  /** A stream without data for this long is broken: the service sends a comment every 15 s. */
  readonly silenceMs: number;
}

const DELAYS: Delays = { pollMs: 2_000, retryMs: 3_000, silenceMs: 45_000 };
/** Failed requests in a row before watching ends: longer than a service takes to restart. */
const MAX_FAILURES = 20;

export const jobPath = (jobId: string, rest = '') => `/api/v1/hyperopt/${encodeURIComponent(jobId)}${rest}`;

/**
 * Follows a hyperopt job to its end by its event stream, reopened after the last event when it breaks; by polling when the
 * service rejects the stream. Returns the finished job, undefined when the signal is aborted first.
 */
export async function watchHyperopt(
  client: ApiClient,
  jobId: string,
  watcher: Watcher,
  signal: AbortSignal,
  delays: Delays = DELAYS,
): Promise<Job | undefined> {
  try {
    return await new Watch(client, jobId, watcher, signal, delays).run();
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
  readonly #delays: Delays;
  #last = 0;
  #retryMs: number;
  #failures = 0;

  constructor(client: ApiClient, jobId: string, watcher: Watcher, signal: AbortSignal, delays: Delays) {
    this.#client = client;
    this.#jobId = jobId;
    this.#watcher = watcher;
    this.#signal = signal;
    this.#delays = delays;
    this.#retryMs = delays.retryMs;
  }

  async run(): Promise<Job> {
    // An unknown job or a service that is down fails here, before the stream is retried.
    this.#watcher.job(await this.#job());
    for (;;) {
      const ended = await this.#stream();
      if (ended === 'rejected') return this.#poll();
      if (ended !== 'broken') return ended;
      await sleep(this.#retryMs, undefined, { signal: this.#signal });
    }
  }

  async #stream(): Promise<Job | 'broken' | 'rejected'> {
    const silent = new AbortController();
    const timer = setTimeout(() => silent.abort(), this.#delays.silenceMs);
    try {
      const response = await this.#client.open(
        jobPath(this.#jobId, '/events'),
        { accept: 'text/event-stream', 'last-event-id': String(this.#last) },
        AbortSignal.any([this.#signal, silent.signal]),
      );
      if (response.status === 204) return this.#job();
      if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
        return 'rejected';
      }
      return (await this.#follow(response.body, () => timer.refresh())) ?? 'broken';
    } catch (error) {
      if (error instanceof ApiError) return 'rejected';
      this.#signal.throwIfAborted();
      if (++this.#failures >= MAX_FAILURES) throw error;
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
      if (event === 'trial') this.#watcher.trial(readJson<TrialEvent>(data), Number(id));
      if (event === 'permuted_search') this.#watcher.permutedSearch(readJson<PermutedSearchEvent>(data));
      if (id !== undefined) this.#last = Number(id);
      if (event === 'status') return readJson<Job>(data);
    }
    return undefined;
  }

  async #poll(): Promise<Job> {
    for (;;) {
      const job = await this.#job();
      this.#watcher.job(job);
      if (job.status !== 'pending' && job.status !== 'running') return job;
      await sleep(this.#delays.pollMs, undefined, { signal: this.#signal });
    }
  }

  #job(): Promise<Job> {
    return this.#client.get<Job>(jobPath(this.#jobId));
  }
}

/** A server-sent event, or a block with only a `retry` time or a comment. */
export interface StreamEvent {
  readonly event?: string;
  readonly id?: string;
  readonly data?: string;
  /** Milliseconds. */
  readonly retry?: number;
}

/** The events of a stream; `onBytes` is called for all data, comments included. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    onBytes();
    const blocks = (rest + decoder.decode(bytes, { stream: true })).replaceAll('\r\n', '\n').split('\n\n');
    rest = blocks.pop()!;
    yield* blocks.map(readBlock);
  }
}

function readBlock(block: string): StreamEvent {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name) fields.set(name, fields.has(name) ? `${fields.get(name)}\n${value}` : value!);
  }
  const numeric = (name: string) => (fields.has(name) ? { [name]: Number(fields.get(name)) } : {});
  const text = (name: string) => (fields.has(name) ? { [name]: fields.get(name) } : {});
  return { ...text('event'), ...text('data'), ...text('id'), ...numeric('retry') };
}

interface Progress extends Watcher {
  end(): void;
}

/** A progress bar on a terminal, lines of text elsewhere; with `json` one line of JSON per event. */
export function showProgress(output: NodeJS.WriteStream, json = false): Progress {
  if (json) return jsonLines();
  return output.isTTY ? liveBar(output) : plainLines();
}

function jsonLines(): Progress {
  const print = (event: string, data: unknown) => console.log(JSON.stringify({ event, data }));
  return {
    job: (job) => print('job', job),
    trial: (trial, ended) => print('trial', { ended, ...trial }),
    permutedSearch: (event) => print('permuted_search', event),
    end: () => undefined,
  };
}

function liveBar(output: NodeJS.WriteStream): Progress {
  const format = '{status} [{bar}] {percentage} % | {ended} | best {best} | {duration_formatted}';
  const bar = progressBar(format, { stream: output, etaBuffer: 50 });
  let started = false;
  let total = 0;
  const update = (progress: number, status: string, ended: string, value: number | null) => {
    const shown = { status, ended, best: compactNumber(value) };
    if (!started) bar.start(100, progress, shown);
    started = true;
    bar.update(progress, shown);
  };
  return {
    job: (job) => {
      total = job.total_trials;
      update(job.progress, job.status, endedOf(job), job.best_value);
    },
    trial: ({ progress, best_value }, ended) =>
      update(progress, 'running', `${ended} of ${total} trials`, best_value),
    permutedSearch: (event) => update(event.progress, 'running', permutedSearches(event), event.best_value),
    end: () => {
      if (started) bar.stop();
    },
  };
}

/** Trials, then permuted searches. */
function endedOf({ current_trial, total_trials, permutations }: Job): string {
  return permutations && current_trial === total_trials
    ? permutedSearches(permutations)
    : `${current_trial} of ${total_trials} trials`;
}

const permutedSearches = ({ ended, total }: { readonly ended: number; readonly total: number }) =>
  `${ended} of ${total} searches on permuted candles`;

/** A line for each new best value and each tenth of the trials, those of permuted searches included. */
function plainLines(): Progress {
  let best: number | null = null;
  let printedTenth = -1;
  let total = 0;
  const line = (status: string, progress: number, ended: string, value: number | null) => {
    const tenth = Math.floor(progress / 10);
    if (tenth <= printedTenth && value === best) return;
    [best, printedTenth] = [value, Math.max(printedTenth, tenth)];
    console.log(`${status} ${progress} %, ${ended}, best ${compactNumber(value)}`);
  };
  return {
    job: (job) => {
      total = job.total_trials;
      line(job.status, job.progress, endedOf(job), job.best_value);
    },
    trial: ({ number, state, value, best_value, progress }, ended) => {
      const text = `${ended} of ${total} trials, number ${number} ${state} ${compactNumber(value)}`;
      line('running', progress, text, best_value);
    },
    permutedSearch: (event) => line('running', event.progress, permutedSearches(event), event.best_value),
    end: () => undefined,
  };
}
