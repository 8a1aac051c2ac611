/** Entry point of a backtest: the same in a Fargate container and as a child process. */
import { setImmediate } from 'node:timers/promises';
import { sha256 } from '#adapters/ids.ts';
import { LOADING, reportProgress } from '#adapters/local/report-progress.ts';
import { openStores } from '#adapters/open-stores.ts';
import { writeTradesParquet } from '#adapters/parquet/trades.ts';
import { findStrategy, isBuiltIn } from '#adapters/strategies.ts';
import { catchStrayErrors } from '#adapters/stray-errors.ts';
import { BacktestTaskEnv } from '#contract/env.ts';
import { runBacktestJob } from '#domain/run-backtest-job.ts';
import { startProcess } from '#runtime/process.ts';
import { runTask } from '#runtime/task.ts';
import { restoreV8Flags, useShortRunV8Flags } from '#runtime/v8-flags.ts';

useShortRunV8Flags();
const { env, log, fail } = startProcess(BacktestTaskEnv, 'backtest');
const progress = reportProgress(env.WATCH_MARK);
const strays = catchStrayErrors(env.STRATEGIES_DIRECTORY, (error) => {
  progress.ended();
  fail(error);
});

await runTask(env, log, async ({ id, image }) => {
  const outcome = await runBacktestJob(
    {
      ...openStores(env),
      findStrategy: (name, digest) => {
        progress.enter(LOADING);
        if (!isBuiltIn(name)) strays.blame(name);
        return findStrategy(name, env.STRATEGIES_DIRECTORY, digest).finally(() =>
          progress.enter('reading the candles'),
        );
      },
      image,
      encodeTrades: writeTradesParquet,
      digest: sha256,
      clock: Date,
      onProgress: () => progress.alive(),
      pause: async () => {
        restoreV8Flags();
        await setImmediate();
        strays.check();
      },
      processorMs: () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1000;
      },
      peakMemoryMb: () => Math.round(process.resourceUsage().maxRSS / 1024),
    },
    env.JOB_ID,
    id,
  ).finally(() => progress.ended());
  log.info('backtest ended', { job_id: env.JOB_ID, outcome });
});
