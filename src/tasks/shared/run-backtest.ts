/** What the entry points of a backtest share: one for the platform's image, one for registered images. */

import process from 'node:process';
import { setImmediate } from 'node:timers/promises';
import type { Logger } from '@aws-lambda-powertools/logger';
import { writeTradesParquet } from '#adapters/parquet/trades.ts';
import { LOADING, reportProgress } from '#adapters/processes/report-progress.ts';
import { catchUnhandledErrors, ofPlatform } from '#adapters/processes/unhandled-errors.ts';
import { sha256 } from '#adapters/sha256.ts';
import { findStrategy, isBuiltIn } from '#adapters/strategies/load-strategies.ts';
import { type RunBacktestJobDeps, runBacktestJob } from '#domain/backtests/run-backtest-job.ts';
import { processorMs } from '#runtime/processor-time.ts';
import { runTask, type TaskEnv, type TaskIdentity } from '#runtime/task.ts';

interface BacktestProcess {
  readonly env: TaskEnv & {
    readonly STRATEGIES_DIRECTORY?: string | undefined;
    readonly WATCH_MARK?: string | undefined;
  };
  readonly log: Logger;
  readonly fail: (error: unknown) => void;
}

/** The job of this task, and the stores that it uses. */
interface OpenedJob {
  readonly jobId: string;
  readonly stores: Pick<
    RunBacktestJobDeps,
    'ownerTrials' | 'jobs' | 'results' | 'series' | 'instruments' | 'candles' | 'readSignals'
  >;
}

/** Runs the job of this process to its end and exits. */
export async function runBacktest(
  { env, log, fail }: BacktestProcess,
  open: (task: TaskIdentity) => OpenedJob | Promise<OpenedJob>,
): Promise<void> {
  const progress = reportProgress(env.WATCH_MARK);
  const unhandled = catchUnhandledErrors(env.STRATEGIES_DIRECTORY, (error) => {
    progress.ended();
    fail(error);
  });
  await runTask(env, log, async (task) => {
    const { jobId, stores } = await open(task);
    const deps: RunBacktestJobDeps = {
      ...ofPlatform(stores),
      findStrategy: (name, digest) => {
        progress.enter(LOADING);
        if (!isBuiltIn(name)) unhandled.blame(name);
        return findStrategy(name, env.STRATEGIES_DIRECTORY, digest).finally(() =>
          progress.enter('reading the candles'),
        );
      },
      image: task.image,
      encodeTrades: writeTradesParquet,
      digest: sha256,
      clock: Date,
      onProgress: () => progress.alive(),
      pause: async () => {
        await setImmediate();
        unhandled.check();
      },
      processorMs,
      peakMemoryMb: () => Math.round(process.resourceUsage().maxRSS / 1024),
    };
    const outcome = await unhandled
      .run(() => runBacktestJob(deps, jobId, task.id))
      .finally(() => progress.ended());
    log.info('backtest ended', { job_id: jobId, outcome });
  });
}
