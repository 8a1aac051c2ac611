/** Entry point of a backtest in a registered image. It has no table: it reads its input and writes below its own prefix. */
import './shared/interpret-schemas.ts';
import { openImageRun } from '#adapters/images/image-run-task.ts';
import { ImageBacktestTaskEnv } from '#contract/env/image-run-env.ts';
import { startProcess } from '#runtime/process.ts';
import { runBacktest } from './shared/run-backtest.ts';

const started = startProcess(ImageBacktestTaskEnv, 'image-backtest');

await runBacktest(started, async ({ id }) => {
  const { jobId, ...stores } = await openImageRun(started.env, id);
  return { jobId, stores };
});
