import { Worker } from 'node:worker_threads';
import type { TrialRunner } from '#domain/hyperopt/run-hyperopt-worker.ts';
import type { TrialOutcome, TrialRequest } from '#domain/hyperopt/run-trial.ts';

/**
 * Runs each trial in a thread, so that the process can renew leases and hear of its end meanwhile. Threads are made when they
 * are needed and used again; one whose trial is aborted is ended with it.
 */
export class TrialThreads implements TrialRunner {
  readonly #entry: URL;
  readonly #data: unknown;
  readonly #idle: Worker[] = [];
  readonly #all = new Set<Worker>();

  /**
   * @param entry what a thread runs: it answers every {@link TrialRequest} with its outcome
   * @param data what it finds as `workerData`; arrays on shared memory are not copied
   */
  constructor(entry: URL, data: unknown) {
    this.#entry = entry;
    this.#data = data;
  }

  async run(request: TrialRequest, signal: AbortSignal): Promise<TrialOutcome> {
    signal.throwIfAborted();
    const worker = this.#idle.pop() ?? this.#start();
    try {
      const outcome = await answerOf(worker, request, signal);
      this.#idle.push(worker);
      return outcome;
    } catch (error) {
      this.#all.delete(worker);
      await worker.terminate();
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((worker) => worker.terminate()));
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { workerData: this.#data, execArgv: [] });
    this.#all.add(worker);
    return worker;
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
