/** Entry point of a backtest: the same in a Fargate container and as a child process. */
import './shared/interpret-schemas.ts';
import { openObjectStore } from '#adapters/open-object-store.ts';
import { openBacktestStores } from '#adapters/open-stores.ts';
import { setImporter } from '#adapters/strategies/import-module.ts';
import { BacktestTaskEnv } from '#contract/env/env.ts';
import { startProcess } from '#runtime/process.ts';
import { runBacktest } from './shared/run-backtest.ts';

/** @param importer of strategy files, for a program that cannot import modules itself */
export async function run(importer?: Parameters<typeof setImporter>[0]): Promise<void> {
  if (importer) setImporter(importer);
  const started = startProcess(BacktestTaskEnv, 'backtest');
  const { env } = started;
  await runBacktest(started, () => ({
    jobId: env.JOB_ID,
    stores: {
      ...openBacktestStores(env),
      // Loaded by runs of a file only.
      readSignals: async (...file) => {
        const { openSignals } = await import('#adapters/signals/read-signals.ts');
        return openSignals(openObjectStore(env, env.RESULTS_BUCKET))(...file);
      },
    },
  }));
}

if (import.meta.main) await run();
