import { Worker } from 'node:worker_threads';
import type { TrialRunner } from '#domain/hyperopt/run-hyperopt-worker.ts';
import type { TrialOutcome, TrialRequest } from '#domain/hyperopt/run-trial.ts';

/** Trials leave much garbage and keep little: what V8 would take by itself is never given back, a hundred MB a thread. */
const YOUNG_MB = 24;

export interface TrialThreadsOptions {
  /** What a thread runs: it answers every {@link TrialRequest} with its outcome. */
  readonly entry: URL;
  /** What it finds as `workerData`; arrays on shared memory are not copied. */
  readonly data: unknown;
  /** Of the strategy and the engine that the threads run. */
  readonly codeDigest: string;
  /** Threads at once; further trials wait for one. */
  readonly threads: number;
}

/**
 * Runs each trial in a thread, so that the process can renew leases and hear of its end meanwhile. Threads are made when they
 * are needed and used again; one whose trial is aborted or fails it is ended with it.
 */
export class TrialThreads implements TrialRunner {
  readonly #options: TrialThreadsOptions;
  readonly #idle: Worker[] = [];
  readonly #busy = new Set<Worker>();
  readonly #waiting: (() => void)[] = [];

  constructor(options: TrialThreadsOptions) {
    this.#options = options;
  }

  get codeDigest(): string {
    return this.#options.codeDigest;
  }

  async run(request: TrialRequest, signal: AbortSignal): Promise<TrialOutcome> {
    const worker = await this.#take(signal);
    try {
      const outcome = await answerOf(worker, request, signal);
      this.#idle.push(worker);
      return outcome;
    } catch (error) {
      await worker.terminate();
      throw error;
    } finally {
      this.#busy.delete(worker);
      this.#waiting.shift()?.();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#idle, ...this.#busy].map((worker) => worker.terminate()));
  }

  async #take(signal: AbortSignal): Promise<Worker> {
    while (this.#idle.length === 0 && this.#busy.size >= this.#options.threads) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    signal.throwIfAborted();
    const worker = this.#idle.pop() ?? this.#start();
    this.#busy.add(worker);
    return worker;
  }

  #start(): Worker {
    const { entry, data } = this.#options;
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MB };
    return new Worker(entry, { workerData: data, execArgv: [], resourceLimits });
  }
}

function answerOf(worker: Worker, request: TrialRequest, signal: AbortSignal): Promise<TrialOutcome> {
  const { promise, resolve, reject } = Promise.withResolvers<TrialOutcome>();
  const onAbort = () => reject(signal.reason);
  const onExit = () => reject(new Error('The thread of a trial ended before the trial'));
  worker.once('message', resolve).once('error', reject).once('exit', onExit);
  signal.addEventListener('abort', onAbort, { once: true });
  worker.postMessage(request);
  return promise.finally(() => {
    worker.off('message', resolve).off('error', reject).off('exit', onExit);
    signal.removeEventListener('abort', onAbort);
  });
}
