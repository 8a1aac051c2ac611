import { randomUUID } from 'node:crypto';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { DynamoHyperoptStore } from '#adapters/dynamo/hyperopt-store.ts';
import { DynamoJobStore } from '#adapters/dynamo/job-store.ts';
import { openExchanges } from '#adapters/exchange/exchanges.ts';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { openObjectStore } from '#adapters/open-object-store.ts';
import { openStores } from '#adapters/open-stores.ts';
import { writeTradesParquet } from '#adapters/parquet/trades.ts';
import {
  type TaskExit,
  type TaskHost,
  type TaskRequest,
  TaskRunner,
  type TaskRunnerOptions,
} from '#adapters/processes/task-runner.ts';
import { sha256 } from '#adapters/sha256.ts';
import { openSignals } from '#adapters/signals/read-signals.ts';
import { findStrategy, isBuiltIn } from '#adapters/strategies/load-strategies.ts';
import { BacktestTaskEnv, CollectTaskEnv, HyperoptTaskEnv } from '#contract/env/env.ts';
import type { EnvOf } from '#contract/env/env-fields.ts';
import { HYPEROPT_ID_PREFIX, type HyperoptJobIn } from '#contract/hyperopt/hyperopt.ts';
import { runBacktestJob } from '#domain/backtests/run-backtest-job.ts';
import { collectForJob } from '#domain/data/collect-for-job.ts';
import { digestTrialData, loadTrialData } from '#domain/hyperopt/load-trial-data.ts';
import { runHyperoptWorker, type TrialRunner } from '#domain/hyperopt/run-hyperopt-worker.ts';
import { runRequested, TrialDataOf } from '#domain/hyperopt/run-trial.ts';
import { sampleBestTrial } from '#domain/hyperopt/sample-best-trial.ts';
import { readEnv } from '#runtime/env.ts';
import { processorMs } from '#runtime/processor-time.ts';

/** Cache of each trial runner, bytes: the tests read few candles. */
const CACHE_BYTES = 16 * 1024 * 1024;

/** A task that runs in this process. */
interface Running {
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

/**
 * Runs tasks in this process, with the use cases of the tasks' entry points: a process takes a second to load them. Jobs of strategy
 * files run in processes nevertheless, because a process that has loaded such a file freezes what all modules share.
 *
 * A stopped task ends where it next pauses.
 */
export class TasksInProcess implements TaskHost {
  readonly #options: TaskRunnerOptions;
  readonly #processes: TaskRunner;
  readonly #running = new Map<string, Running>();
  #stores: TaskStores | undefined;

  constructor(options: TaskRunnerOptions) {
    this.#options = options;
    this.#processes = new TaskRunner(options);
  }

  async run(request: TaskRequest): Promise<TaskExit> {
    request.signal.throwIfAborted();
    const work = await this.#workOf(request);
    if (!work) return this.#processes.run(request);
    const task = request.task ?? `local-${randomUUID()}`;
    const stop = new AbortController();
    const ended = work(task, AbortSignal.any([stop.signal, request.signal]));
    this.#running.set(task, { stop, ended: ended.catch(() => undefined) });
    try {
      await ended;
      return { task, code: 0, signal: null, stderr: '' };
    } catch (error) {
      if (stop.signal.aborted || request.signal.aborted) {
        return { task, code: null, signal: 'SIGTERM', stderr: '' };
      }
      const stderr = String((error as Error).stack);
      this.#options.onOutput(task, stderr, request);
      const exit = { task, code: 1, signal: null, stderr };
      this.#options.onCrash(exit);
      return exit;
    } finally {
      this.#running.delete(task);
      this.#options.onExit?.(task);
    }
  }

  async stop(task: string): Promise<void> {
    this.#running.get(task)?.stop.abort();
    await this.#processes.stop(task);
  }

  async stopAll(): Promise<void> {
    for (const { stop } of this.#running.values()) stop.abort();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    await this.#processes.stopAll();
  }

  /** Undefined: the job needs a process. */
  async #workOf({ entry, environment }: TaskRequest) {
    const source = { ...this.#options.environment, ...environment };
    const jobId = environment.JOB_ID!;
    const [, name] = /(\w+)\.\w+$/.exec(entry)!;
    if (name === 'collect') return collection(readEnv(CollectTaskEnv, source));
    const env = readEnv(BacktestTaskEnv, source);
    this.#stores ??= openTaskStores(env);
    const stores = this.#stores;
    const strategy =
      name === 'hyperopt'
        ? (await stores.hyperoptJobs.get(jobId))?.base.strategy
        : (await stores.jobs.get(jobId))?.config.strategy;
    if (strategy === undefined || !isBuiltIn(strategy)) return undefined;
    return name === 'hyperopt' ? search(stores, readEnv(HyperoptTaskEnv, source)) : backtest(stores, env);
  }
}

type TaskStores = ReturnType<typeof openTaskStores>;

const openTaskStores = (env: EnvOf<typeof BacktestTaskEnv>) => ({
  ...openStores(env),
  ...openMarketStores(env),
});

/** Runs a task to its end, or until it is stopped. */
type Work = (task: string, signal: AbortSignal) => Promise<unknown>;

/** src/tasks/backtest.ts */
const backtest =
  (stores: TaskStores, env: EnvOf<typeof BacktestTaskEnv>): Work =>
  (task, signal) =>
    runBacktestJob(
      {
        ...stores,
        readSignals: openSignals(openObjectStore(env, env.RESULTS_BUCKET)),
        findStrategy,
        image: null,
        encodeTrades: writeTradesParquet,
        digest: sha256,
        clock: Date,
        pause: pauseUntil(signal),
        processorMs: ownProcessorMs(),
        peakMemoryMb: () => Math.round(process.resourceUsage().maxRSS / 1024),
      },
      env.JOB_ID,
      task,
    );

/** src/tasks/collect.ts */
const collection =
  (env: EnvOf<typeof CollectTaskEnv>): Work =>
  (_, signal) => {
    const stores = openMarketStores(env);
    const Jobs = env.JOB_ID.startsWith(HYPEROPT_ID_PREFIX) ? DynamoHyperoptStore : DynamoJobStore;
    return collectForJob(
      {
        ...stores,
        jobs: new Jobs(stores.dynamo, env.JOBS_TABLE),
        exchanges: openExchanges({
          url: env.EXCHANGE_URL,
          intervalMs: env.EXCHANGE_INTERVAL_MS,
          onRetry: () => undefined,
        }),
        clock: Date,
        signal,
        onError: (error) => console.error(error),
      },
      env.JOB_ID,
    );
  };

/** src/tasks/hyperopt.ts */
const search =
  (stores: TaskStores, env: EnvOf<typeof HyperoptTaskEnv>): Work =>
  (task, signal) =>
    runHyperoptWorker(
      {
        ...stores,
        clock: Date,
        digest: sha256,
        concurrency: () => 2,
        openRunner: (job) => openTrials(stores, job, signal),
        sleep: (ms, stopped) => sleep(ms, undefined, { signal: stopped }),
      },
      env.JOB_ID,
      { worker: env.WORKER, task },
      signal,
    );

/** src/tasks/hyperopt-trial.ts */
async function openTrials(
  stores: TaskStores,
  job: HyperoptJobIn<'running'>,
  signal: AbortSignal,
): Promise<TrialRunner> {
  const { strategy, pairs, warnings } = await loadTrialData({ ...stores, clock: Date, findStrategy }, job);
  const loaded = { strategy, pairs, digest: sha256 };
  const data = new TrialDataOf(loaded, CACHE_BYTES);
  const pause = pauseUntil(signal);
  return {
    codeDigest: sha256(strategy.digest),
    dataDigest: digestTrialData(pairs, sha256),
    warnings,
    run: async (request, stopped) => {
      await pause();
      stopped.throwIfAborted();
      return runRequested(data, request);
    },
    sample: (config) => sampleBestTrial(loaded, config, { processorMs: ownProcessorMs(), pause }),
    close: async () => undefined,
  };
}

/** Lets the services of this process respond. Throws when the task was stopped. */
const pauseUntil = (signal: AbortSignal) => async () => {
  await setImmediate();
  signal.throwIfAborted();
};

/** Processor time since the task began: that of a process of its own begins at 0. */
function ownProcessorMs(): () => number {
  const before = processorMs();
  return () => processorMs() - before;
}
