/** Entry point of a backtest: the same in a Fargate container and as a child process. */
import { openObjectStore } from '#adapters/open-object-store.ts';
import { openStores } from '#adapters/open-stores.ts';
import { BacktestTaskEnv } from '#contract/env.ts';
import type { ReadSignals } from '#domain/signals/signal-table.ts';
import { startProcess } from '#runtime/process.ts';
import { runBacktest } from './shared/run-backtest.ts';

const started = startProcess(BacktestTaskEnv, 'backtest');
const { env } = started;

/** Loaded by runs of a file only. */
const readSignals: ReadSignals = async (...file) => {
  const { openSignals } = await import('#adapters/signals/read-signals.ts');
  return openSignals(openObjectStore(env, env.RESULTS_BUCKET))(...file);
};

await runBacktest(started, () => ({
  jobId: env.JOB_ID,
  stores: { ...openStores(env), readSignals },
}));
