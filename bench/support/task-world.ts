import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTables } from '#adapters/aws/create-tables.ts';
import { sha256, ulids } from '#adapters/ids.ts';
import { startDatabase } from '#adapters/local/dynoxide.ts';
import { openStores, type Stores } from '#adapters/open-stores.ts';
import { loadStrategies } from '#adapters/strategies.ts';
import type { JobTiming } from '#contract/backtest.ts';
import type { ConfigInput } from '#domain/resolve-config.ts';
import { submitBacktest } from '#domain/submit-backtest.ts';
import type { Candles } from '#engine/candles.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { type ProcessUsage, runFresh } from './fresh-process.ts';

export const EXCHANGE = 'bench';

export interface TaskRun {
  /** What the task wrote into its job. */
  readonly timing: JobTiming;
  readonly trades: number;
  readonly usage: ProcessUsage;
}

/** The storage of one machine in a temporary folder, and tasks that run on it in processes of their own. */
export interface TaskWorld {
  storeCandles(symbol: string, timeframe: Timeframe, candles: Candles): Promise<void>;
  /** Submits a job as the API does and runs its task: `entry` is the file that Node runs. */
  runTask(entry: string, config: ConfigInput): Promise<TaskRun>;
  stop(): Promise<void>;
}

const TABLES = { jobs: 'Jobs', registry: 'Registry', series: 'Series' };

export async function startTaskWorld(): Promise<TaskWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'touchstone-bench-'));
  const database = await startDatabase({ dbPath: join(folder, 'database.sqlite') });
  const environment = {
    DYNAMODB_ENDPOINT: database.endpoint,
    OBJECTS_DIRECTORY: join(folder, 'objects'),
    RESULTS_BUCKET: 'results',
    CANDLES_BUCKET: 'candles',
    JOBS_TABLE: TABLES.jobs,
    SERIES_TABLE: TABLES.series,
    LOG_LEVEL: 'WARN',
  };
  const stores = openStores(environment);
  await createTables(stores.dynamo, TABLES);
  return {
    storeCandles: async (symbol, timeframe, candles) => {
      await stores.candles.write({ exchange: EXCHANGE, symbol, timeframe }, candles);
    },
    runTask: async (entry, config) => {
      const jobId = await submit(stores, config);
      const usage = await runFresh(entry, { ...environment, JOB_ID: jobId });
      const job = await stores.jobs.get(jobId);
      if (job?.status !== 'completed') throw new Error(`${jobId} is ${JSON.stringify(job)}`);
      return { timing: job.timing, trades: job.result.total_trades, usage };
    },
    stop: async () => {
      stores.dynamo.destroy();
      await database.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function submit(stores: Stores, config: ConfigInput): Promise<string> {
  const { registry } = await loadStrategies();
  const job = await submitBacktest(
    {
      ...stores,
      strategies: registry,
      // The bench starts the task itself.
      executions: { start: async () => {}, stop: async () => {}, state: async () => undefined },
      ids: ulids,
      digest: sha256,
      clock: Date,
      defaultExchange: EXCHANGE,
      onStartFailure: () => {},
    },
    { body: { config }, owner: 'bench', idempotencyKey: null, correlationId: 'bench' },
  );
  return job.job_id;
}
