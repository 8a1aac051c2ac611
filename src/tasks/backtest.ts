/** Entry point of a backtest: the same in a Fargate container and as a child process. */
import { setImmediate } from 'node:timers/promises';
import { sha256 } from '#adapters/ids.ts';
import { openStores } from '#adapters/open-stores.ts';
import { writeTradesParquet } from '#adapters/parquet/trades.ts';
import { findStrategy } from '#adapters/strategies.ts';
import { BacktestTaskEnv } from '#contract/env.ts';
import { runBacktestJob } from '#domain/run-backtest-job.ts';
import { startProcess } from '#runtime/process.ts';
import { workFullyWhenLong, workLightly } from '#runtime/short-run.ts';
import { runTask } from '#runtime/task.ts';

workLightly();
const { env, log } = startProcess(BacktestTaskEnv, 'backtest');

await runTask(env, log, async ({ id, image }) => {
  const outcome = await runBacktestJob(
    {
      ...openStores(env),
      findStrategy: (name) => findStrategy(name, env.STRATEGIES_DIRECTORY),
      image,
      encodeTrades: writeTradesParquet,
      digest: sha256,
      clock: Date,
      pause: () => {
        workFullyWhenLong();
        return setImmediate();
      },
      peakMemoryMb: () => Math.round(process.resourceUsage().maxRSS / 1024),
    },
    env.JOB_ID,
    id,
  );
  log.info('backtest ended', { job_id: env.JOB_ID, outcome });
});
