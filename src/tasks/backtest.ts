/** Entry point of a backtest: the same in a Fargate container and as a child process. */
import './shared/interpret-schemas.ts';
import { openObjectStore } from '#adapters/open-object-store.ts';
import { BacktestTaskEnv } from '#contract/env/env.ts';
import { startProcess } from '#runtime/process.ts';
import { openTaskStores } from './shared/open-task-stores.ts';
import { runBacktest } from './shared/run-backtest.ts';

const started = startProcess(BacktestTaskEnv, 'backtest');
const { env } = started;

await runBacktest(started, () => ({
  jobId: env.JOB_ID,
  stores: {
    ...openTaskStores(env),
    // Loaded by runs of a file only.
    readSignals: async (...file) => {
      const { openSignals } = await import('#adapters/signals/read-signals.ts');
      return openSignals(openObjectStore(env, env.RESULTS_BUCKET))(...file);
    },
  },
}));
