/** Entry point of a backtest: the same in a Fargate container and as a child process. */
import { openStores } from '#adapters/open-stores.ts';
import { BacktestTaskEnv } from '#contract/env.ts';
import { startProcess } from '#runtime/process.ts';
import { useShortRunV8Flags } from '#runtime/v8-flags.ts';
import { runBacktest } from './shared/run-backtest.ts';

useShortRunV8Flags();
const started = startProcess(BacktestTaskEnv, 'backtest');
const { env } = started;

await runBacktest(started, () => ({ jobId: env.JOB_ID, stores: openStores(env) }));
