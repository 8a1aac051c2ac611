/**
 * Records the code cache of the bundled backtest task in a folder: `node bin/build/record-code.ts FOLDER`. See
 * src/runtime/code-cache.ts.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createTables } from '#adapters/dynamo/create-tables.ts';
import { SimExchange } from '#adapters/exchange/sim.ts';
import { findBuiltIn } from '#adapters/strategies/known-strategies.ts';
import { startDatabase } from '#adapters/local/dynoxide.ts';
import { openStores, type Stores } from '#adapters/open-stores.ts';
import { TASK_ALLOCATOR } from '#contract/values/allocators.ts';
import { SANDBOX_FLAGS } from '#contract/values/sandbox-flags.ts';
import type { JobIn, ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { jobListOf } from '#contract/values/tables.ts';
import { defaultParameters } from '#engine/definitions/parameters.ts';
import { hasTaskCode } from './bundled-task.ts';
import { runInBackground } from './cached-build.ts';

const TABLES = { jobs: 'Jobs', registry: 'Registry', series: 'Series' };
const EXCHANGE = 'sim';
const PAIRS = ['BTC/USDT:USDT', 'ETH/USDT:USDT'];
const TIMEFRAME = '5m';
const STORED = { start: Date.UTC(2025, 0, 1), end: Date.UTC(2025, 3, 1) };
const RANGE = { start: '2025-01-15T00:00:00.000Z', end: '2025-04-01T00:00:00.000Z' };
const AT = '2025-04-01T00:00:00.000Z';

type RunConfig = Partial<ResolvedBacktestConfig> & Pick<ResolvedBacktestConfig, 'strategy'>;

/** What most runs use: strategies with and without exits by price, locks and callbacks. Each run adds to the code of the one before. */
const RUNS: readonly RunConfig[] = [
  { strategy: 'ema_crossover' },
  { strategy: 'donchian_trend' },
  {
    strategy: 'rsi_mean_reversion',
    max_open_trades: 1,
    minimal_roi: { '0': 0.02, '240': 0.005 },
    trailing: { positive: 0.005, offset: 0.01, only_offset_is_reached: true },
    protections: [
      { method: 'CooldownPeriod', stop_duration_candles: 3 },
      {
        method: 'StoplossGuard',
        lookback_period_candles: 288,
        trade_limit: 2,
        stop_duration_candles: 24,
      },
    ],
  },
];

/**
 * Runs backtests of built-in strategies with the task in `folder`, on data of its own. The code that V8 compiles for them becomes
 * the task's code cache, which replaces an earlier one at the end of each run.
 *
 * @throws Error when the embedded database is missing or a run fails
 */
export async function recordCode(folder: string): Promise<void> {
  const own = await mkdtemp(join(tmpdir(), 'touchstone-code-'));
  try {
    const database = await startDatabase({ dbPath: join(own, 'database.sqlite') });
    const environment = {
      ...TASK_ALLOCATOR,
      TMPDIR: own,
      DYNAMODB_ENDPOINT: database.endpoint,
      OBJECTS_DIRECTORY: join(own, 'objects'),
      RESULTS_BUCKET: 'results',
      CANDLES_BUCKET: 'candles',
      JOBS_TABLE: TABLES.jobs,
      SERIES_TABLE: TABLES.series,
      LOG_LEVEL: 'WARN',
    };
    const stores = openStores(environment);
    try {
      await createTables(stores.dynamo, TABLES);
      await storeCandles(stores);
      for (const [index, config] of RUNS.entries()) {
        await run(join(folder, 'backtest.mjs'), stores, environment, jobOf(`bt-${index}`, config));
      }
    } finally {
      stores.dynamo.destroy();
      await database.stop();
    }
    // The process of a task that has completed cannot say so.
    if (!(await hasTaskCode(folder))) throw new Error(`The code cache could not be written into ${folder}.`);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

async function storeCandles({ candles }: Stores): Promise<void> {
  const exchange = new SimExchange();
  for (const symbol of PAIRS) {
    const found = await exchange.fetchCandles(symbol, TIMEFRAME, STORED.start, STORED.end);
    await candles.write({ exchange: EXCHANGE, symbol, timeframe: TIMEFRAME }, found);
    const funding = await exchange.fetchFunding(symbol, STORED.start, STORED.end);
    await candles.writeFunding(EXCHANGE, symbol, funding);
  }
}

function jobOf(jobId: string, config: RunConfig): JobIn<'pending'> {
  return {
    schema_version: 2,
    kind: 'backtest',
    status: 'pending',
    job_id: jobId,
    owner: 'anonymous',
    revision: 1,
    created_at: AT,
    updated_at: AT,
    experiment_name: null,
    priority: 5,
    config: {
      exchange: EXCHANGE,
      pairs: PAIRS,
      timeframe: TIMEFRAME,
      date_range: RANGE,
      params: defaultParameters(findBuiltIn(config.strategy)!.definition.parameters),
      stake_amount: 100,
      dry_run_wallet: 1_000,
      max_open_trades: 2,
      fee: 0.0005,
      slippage: 0,
      leverage: 1,
      stoploss: -0.02,
      minimal_roi: {},
      trailing: null,
      timeframe_detail: null,
      fill_model: 'freqtrade',
      seed: 1,
      precision: 'none',
      ...config,
    },
    warnings: [],
    execution_input: {
      job_id: jobId,
      kind: 'backtest',
      list: jobListOf('backtest', jobId),
      image: null,
      correlation_id: jobId,
      on_demand: false,
      exchange: EXCHANGE,
      symbols: PAIRS,
      timeframe: TIMEFRAME,
      ...RANGE,
    },
    request_digest: '',
    attempt: 0,
    runs: 0,
    queue: { since: AT, deferrals: 0 },
    collection: null,
  };
}

async function run(
  entry: string,
  stores: Stores,
  environment: Readonly<Record<string, string>>,
  job: JobIn<'pending'>,
): Promise<void> {
  await stores.jobs.create(job);
  const child = spawn(process.execPath, [...SANDBOX_FLAGS, entry, '--record-code'], {
    env: { ...environment, JOB_ID: job.job_id },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const outputs = Promise.all([text(child.stdout), text(child.stderr)]);
  await once(child, 'exit');
  const ended = await stores.jobs.get(job.job_id);
  if (ended?.status === 'completed') return;
  const reason = ended?.status === 'failed' ? ended.error : (await outputs).join('');
  throw new Error(`A backtest of ${job.config.strategy} failed: ${reason}`);
}

if (import.meta.main) await runInBackground(() => recordCode(process.argv[2]!));
