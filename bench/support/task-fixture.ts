import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTables } from '#adapters/dynamo/create-tables.ts';
import { DynamoRegistryStore } from '#adapters/dynamo/registry-store.ts';
import { ulids } from '#adapters/ids.ts';
import { type Database, startDatabase } from '#adapters/local/dynoxide.ts';
import { type MarketStores, openMarketStores } from '#adapters/open-market-stores.ts';
import { openStores, type Stores } from '#adapters/open-stores.ts';
import type { Sandbox } from '#adapters/processes/sandbox.ts';
import { sha256 } from '#adapters/sha256.ts';
import { loadStrategies } from '#adapters/strategies/load-strategies.ts';
import type { JobTiming } from '#contract/backtests/backtest.ts';
import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import type { Trade } from '#contract/backtests/report.ts';
import type { InstrumentRecord } from '#contract/market-data/stored-market-data.ts';
import { TASK_ALLOCATOR } from '#contract/values/allocators.ts';
import { getCompletedBacktest } from '#domain/backtests/get-backtest.ts';
import { allPages, readTradePages, tradesOf } from '#domain/backtests/stored-trades.ts';
import { submitBacktest } from '#domain/backtests/submit-backtest.ts';
import type { Executions } from '#domain/jobs/execution-ports.ts';
import type { Candles } from '#engine/candles.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { type ProcessUsage, runFresh } from './fresh-process.ts';

const EXCHANGE = 'bench';
const TABLES = { jobs: 'Jobs', registry: 'Registry', series: 'Series' };

/** The benchmark starts the task. */
const NO_EXECUTIONS: Executions = {
  start: async () => {},
  stop: async () => {},
  state: async () => undefined,
  running: async () => new Set(),
};

export interface TaskRun {
  readonly jobId: string;
  /** Timing that the task stored in its job. */
  readonly timing: JobTiming;
  readonly trades: number;
  /** Total profit, quote currency. */
  readonly profit: number;
  readonly usage: ProcessUsage;
}

/** Local storage in a temporary folder, and tasks that use it in their own processes. */
export class TaskFixture {
  readonly #folder: string;
  readonly #database: Database;
  readonly #stores: Stores & MarketStores;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #strategies: string | undefined;

  /** @param strategies folder of strategy files. Default: that of this project */
  static async start(strategies?: string): Promise<TaskFixture> {
    const folder = await mkdtemp(join(tmpdir(), 'touchstone-bench-'));
    const database = await startDatabase({ dbPath: join(folder, 'database.sqlite') });
    const environment = {
      ...TASK_ALLOCATOR,
      DYNAMODB_ENDPOINT: database.endpoint,
      OBJECTS_DIRECTORY: join(folder, 'objects'),
      RESULTS_BUCKET: 'results',
      CANDLES_BUCKET: 'candles',
      JOBS_TABLE: TABLES.jobs,
      SERIES_TABLE: TABLES.series,
      LOG_LEVEL: 'WARN',
    };
    const services = openStores(environment);
    const stores = { ...services, ...openMarketStores(environment, services.dynamo) };
    await createTables(stores.dynamo, TABLES);
    return new TaskFixture(folder, database, stores, environment, strategies);
  }

  private constructor(
    folder: string,
    database: Database,
    stores: Stores & MarketStores,
    environment: Readonly<Record<string, string>>,
    strategies: string | undefined,
  ) {
    this.#strategies = strategies;
    this.#folder = folder;
    this.#database = database;
    this.#stores = stores;
    this.#environment = environment;
  }

  get stores(): Stores & MarketStores {
    return this.#stores;
  }

  /** Environment of a task without the variables of its job. */
  get environment(): Readonly<Record<string, string>> {
    return this.#environment;
  }

  /** Folder for objects. */
  get objects(): string {
    return this.#environment.OBJECTS_DIRECTORY!;
  }

  async storeCandles(symbol: string, timeframe: Timeframe, candles: Candles): Promise<void> {
    await this.#stores.candles.write({ exchange: EXCHANGE, symbol, timeframe }, candles);
  }

  async storeInstrument(symbol: string, instrument: InstrumentRecord): Promise<void> {
    await this.#stores.instruments.record(EXCHANGE, symbol, instrument);
  }

  /** Trades of a completed job, in the order of closing. */
  async tradesOf(jobId: string): Promise<Trade[]> {
    const { results } = await getCompletedBacktest(this.#stores, jobId);
    const trades: Trade[] = [];
    for await (const page of readTradePages(this.#stores.results, results, allPages(results)))
      trades.push(...tradesOf(page));
    return trades;
  }

  /** Submits a job as the API does and runs its task. `entry` is the file that Node runs. */
  async runTask(
    entry: string,
    config: BacktestConfigRequest,
    oneCore = false,
    surroundings?: (jobId: string) => Sandbox,
  ): Promise<TaskRun> {
    const jobId = await this.submit(config);
    const around = surroundings?.(jobId);
    const usage = await this.#run(entry, jobId, oneCore, around);
    await around?.remove();
    const job = await this.#stores.jobs.get(jobId);
    if (job?.status !== 'completed')
      throw new Error(`Backtest ${jobId} is not completed: ${JSON.stringify(job)}`);
    const { total_trades: trades, total_profit: profit } = job.result;
    return { jobId, timing: job.timing, trades, profit, usage };
  }

  /** Runs a task without a job: it starts, does not find its job and ends. */
  async runIdle(entry: string, oneCore = false): Promise<ProcessUsage> {
    return this.#run(entry, 'bt-none', oneCore);
  }

  async stop(): Promise<void> {
    this.#stores.dynamo.destroy();
    await this.#database.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #run(
    entry: string,
    jobId: string,
    oneCore: boolean,
    { args, environment }: Pick<Sandbox, 'args' | 'environment'> = { args: [], environment: {} },
  ): Promise<ProcessUsage> {
    return runFresh([...args, entry], { ...this.#environment, ...environment, JOB_ID: jobId }, oneCore);
  }

  /** Submits a job as the API does. Default: no execution starts, and the fast lane is off. */
  async submit(
    config: BacktestConfigRequest,
    {
      executions = NO_EXECUTIONS,
      fastLaneSeconds = 0,
    }: { readonly executions?: Executions; readonly fastLaneSeconds?: number } = {},
  ): Promise<string> {
    const job = await submitBacktest(
      {
        ...this.#stores,
        registry: new DynamoRegistryStore(this.#stores.dynamo, TABLES.registry),
        signalFiles: { isUploaded: async () => false },
        strategies: await loadStrategies(this.#strategies),
        executions,
        // Slots for all jobs of a benchmark: no dispatcher frees them.
        maxRunning: { backtest: 1, fast: fastLaneSeconds > 0 ? 1_000 : 0, hyperopt: 1 },
        fastLaneSeconds,
        ids: ulids,
        digest: sha256,
        clock: Date,
        defaultExchange: EXCHANGE,
        log: { warn: () => {}, error: () => {} },
      },
      {
        body: { config },
        caller: { id: 'bench', groups: [], isAdmin: false },
        idempotencyKey: null,
        session: null,
        correlationId: 'bench',
      },
    );
    return job.job_id;
  }
}
