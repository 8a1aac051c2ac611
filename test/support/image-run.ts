import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openImageRuns } from '#adapters/aws/open-image-runs.ts';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { openStores } from '#adapters/open-stores.ts';
import type { JobIn } from '#contract/backtests/backtest.ts';
import { imageRunPrefix } from '#contract/backtests/image-run-keys.ts';
import { createCandles } from '#engine/candles.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { startEngine } from './engine.ts';
import { pendingJob } from './jobs.ts';

/** Platform and task of a registered image on the embedded stores: folders are the buckets, child processes the containers. */

const ROLE_ID = 'AROAEXAMPLEID';
const PAIR = 'BTC/USDT:USDT';
const START = Date.parse('2025-01-01T00:00:00Z');
const CANDLES = 2_000;

/** ARN of the task with this number. */
export const taskArn = (number: number) =>
  `arn:aws:ecs:us-east-1:111122223333:task/touchstone/${String(number).padStart(32, '0')}`;

export async function imageRunFixture() {
  const engine = await startEngine();
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-image-run-'));
  const env = {
    ENVIRONMENT: 'development',
    LOG_LEVEL: 'ERROR',
    DYNAMODB_ENDPOINT: engine.endpoint,
    OBJECTS_DIRECTORY: folder,
    CANDLES_BUCKET: 'candles',
    RESULTS_BUCKET: 'results',
    RUNS_BUCKET: 'runs',
    IMAGE_ROLE_ID: ROLE_ID,
    JOBS_TABLE: engine.tables.jobs,
    SERIES_TABLE: engine.tables.series,
  } as const;
  const stores = openStores(env);
  const { candles } = openMarketStores(env, stores.dynamo);
  const store = (symbol: string, timeframe: '1h' | '1d', count: number) =>
    candles.write({ exchange: 'sim', symbol, timeframe }, waves(START, TIMEFRAME_MS[timeframe], count));
  await store(PAIR, '1h', CANDLES);
  const config = {
    ...pendingJob('bt-x').config,
    timeframe: '1h' as const,
    date_range: { start: '2025-01-20T00:00:00.000Z', end: '2025-03-20T00:00:00.000Z' },
    params: { fast: 5, slow: 50 },
  };
  const folderOf = (task: string) => join(folder, 'runs', imageRunPrefix(ROLE_ID, task));
  return {
    env,
    folder,
    stores,
    /** Stores candles from 2025-01-01 on. */
    store,
    deps: openImageRuns(env),
    /** Stores a pending job of a registered image. */
    create: (jobId: string, changes: Partial<JobIn<'pending'>> = {}) => {
      const job = pendingJob(jobId, { config, ...changes });
      const execution_input = {
        ...job.execution_input,
        image: 'x@sha256:1',
        start: '2025-01-10T00:00:00.000Z',
      };
      return stores.jobs.create({ ...job, execution_input, ...changes });
    },
    /** Runs the entry point of a task with the variables of its definition and of RunTask. */
    runTask: (entry: string, environment: Readonly<Record<string, string>>): SpawnSyncReturns<string> =>
      spawnSync(process.execPath, [fileURLToPath(new URL(`../../src/tasks/${entry}.ts`, import.meta.url))], {
        env: { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, LOG_LEVEL: 'ERROR', ...environment },
        encoding: 'utf8',
      }),
    /** Environment of the task of a registered image: no table, no results. */
    imageEnvironment: (task: string, input: string) => ({
      OBJECTS_DIRECTORY: folder,
      CANDLES_BUCKET: 'candles',
      RUNS_BUCKET: 'runs',
      IMAGE_ROLE_ID: ROLE_ID,
      RUN_INPUT: input,
      TASK_ID: task,
    }),
    folderOf,
    /** Copies what one task wrote to the prefix of another, for another job. */
    copyRun: (from: { task: string; job: string }, to: { task: string; job: string }) => {
      const results = (task: string, job: string) => join(folderOf(task), 'results', job, '0');
      mkdirSync(results(to.task, to.job), { recursive: true });
      cpSync(results(from.task, from.job), results(to.task, to.job), { recursive: true });
      const written = JSON.parse(readFileSync(join(folderOf(from.task), 'outcome.json'), 'utf8'));
      const outcome = { ...written, job_id: to.job };
      const write = (name: string, content: string | Uint8Array) => {
        mkdirSync(dirname(join(folderOf(to.task), name)), { recursive: true });
        writeFileSync(join(folderOf(to.task), name), content);
      };
      write('outcome.json', JSON.stringify(outcome));
      return { outcome, write, results: (name: string) => join(results(to.task, to.job), name) };
    },
    /** Files of a job's results with their bytes as hex. */
    resultFiles: (jobId: string, attempt: number): Record<string, string> => {
      const base = join(folder, 'results', 'results', jobId, String(attempt));
      const names = readdirSync(base, { recursive: true, withFileTypes: true })
        .filter((each) => each.isFile())
        .map((each) => join(each.parentPath, each.name).slice(base.length));
      return Object.fromEntries(
        names.sort().map((name) => [name, readFileSync(join(base, name)).toString('hex')]),
      );
    },
    stop: async () => {
      stores.dynamo.destroy();
      await engine.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
export type ImageRunFixture = Awaited<ReturnType<typeof imageRunFixture>>;

/** Prices in waves, so that averages cross. */
function waves(start: number, step: number, count: number) {
  const candles = createCandles(count);
  for (let row = 0; row < count; row++) {
    const price = 100 + 10 * Math.sin(row / 15) + 5 * Math.sin(row / 4);
    candles.timestamp[row] = start + row * step;
    candles.open[row] = price;
    candles.high[row] = price + 1;
    candles.low[row] = price - 1;
    candles.close[row] = price + 0.5;
    candles.volume[row] = 10;
  }
  return candles;
}
