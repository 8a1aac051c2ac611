import { type Command, Option } from 'commander';
import type * as z from 'zod';
import type { BacktestJob, BacktestJobList, EquityData } from '#contract/backtest-api.ts';
import {
  BACKTEST_DEFAULTS,
  BACKTEST_LIMITS,
  JOB_STATUSES,
  PAGE_LIMITS,
  PRECISIONS,
  TIMEFRAMES,
} from '#contract/limits.ts';
import type { BacktestReportData } from '#contract/report.ts';
import type { ReportModels } from '#contract/report-models.ts';
import type { ApiClient } from './client.ts';
import {
  boundsText,
  given,
  integer,
  LIMIT,
  listOf,
  parameter,
  positiveNumber,
  queryOf,
  readConfig,
  stake,
} from './options.ts';
import { chart, duration, minute, number, percent, progressBar, queueText, table } from './output.ts';
import { sessionWith } from './session.ts';

type Job = z.infer<typeof BacktestJob>;

/** Options that choose candles and instruments: of a backtest and of a hyperopt job. */
export function addMarketOptions(command: Command): Command {
  return command
    .option('--exchange <key>', "exchange of the candles (default: the platform's)")
    .option('--offline', 'use stored candles; collect nothing')
    .option('--pairs <list>', 'comma-separated pairs, such as BTC/USDT:USDT,ETH/USDT:USDT')
    .option('--timeframe <timeframe>', `${TIMEFRAMES.join(', ')} (default: the strategy's)`)
    .addOption(
      new Option(
        '--precision <precision>',
        'exchange: apply price ticks, amount steps and minimum orders (default: exchange if every instrument is stored)',
      ).choices(PRECISIONS),
    );
}

export const EXPERIMENT = ['--experiment <name>', 'experiment name'] as const;
export const STATUS = () => new Option('--status <status>', 'only jobs in this status').choices(JOB_STATUSES);

export function addBacktestCommands(program: Command): void {
  const session = sessionWith(program);
  addMarketOptions(
    program
      .command('backtest')
      .description('submit a backtest, follow it and print the result')
      .argument('<strategy>', 'name of a strategy (see: touchstone strategies)'),
  )
    .option(
      '--start <time>',
      `ISO 8601, UTC (default: ${BACKTEST_DEFAULTS.date_range_days} days before the end)`,
    )
    .option('--end <time>', 'ISO 8601, UTC, exclusive (default: the newest stored candle)')
    .option('--stake <amount>', 'stake per trade, or unlimited', stake)
    .option(
      '--wallet <amount>',
      `starting balance (default: ${BACKTEST_DEFAULTS.dry_run_wallet})`,
      positiveNumber,
    )
    .option('--param <name=value>', 'strategy parameter; repeatable', parameter, {})
    .option(
      '--ml <name=value>',
      'ML setting, such as model_type=xgboost; one is enough to run with ML models; repeatable',
      parameter,
      {},
    )
    .option('--config <file>', 'JSON file with fields of config; options override it')
    .option(
      '--model-version <version>',
      'run a registered version: a number, latest or champion; options override its config',
    )
    .option(
      '--hyperopt <job-id>',
      'run the best parameters of a hyperopt job, ho-<id>; options override them',
    )
    .option(...EXPERIMENT)
    .option(
      '--priority <n>',
      `${boundsText(BACKTEST_LIMITS.priority)}, high first (default: ${BACKTEST_DEFAULTS.priority})`,
      integer(BACKTEST_LIMITS.priority),
    )
    .option('--no-wait', 'print the job id and return')
    .action(async (strategy: string, options: BacktestOptions) => {
      const config = options.config ? readConfig(options.config) : {};
      process.exitCode = await session(({ client }) => runBacktest(client, strategy, config, options));
    });

  program
    .command('jobs')
    .description('list backtests, newest first')
    .addOption(STATUS())
    .option(...EXPERIMENT)
    .option(...LIMIT)
    .action((options: JobsOptions) => session(({ client }) => printJobs(client, options)));
}

interface BacktestOptions {
  readonly exchange?: string;
  readonly pairs?: string;
  readonly timeframe?: string;
  readonly start?: string;
  readonly end?: string;
  readonly stake?: number | 'unlimited';
  readonly wallet?: number;
  readonly precision?: string;
  readonly param?: Readonly<Record<string, unknown>>;
  readonly ml?: Readonly<Record<string, unknown>>;
  readonly config?: string;
  readonly modelVersion?: string;
  readonly hyperopt?: string;
  readonly experiment?: string;
  readonly priority?: number;
  readonly offline?: boolean;
  readonly wait: boolean;
}

const POLL_MS = 250;

/** Returns the exit code. */
export async function runBacktest(
  client: ApiClient,
  strategy: string,
  config: Readonly<Record<string, unknown>>,
  options: BacktestOptions,
): Promise<number> {
  const submitted = await client.post<{ job_id: string }>(
    '/api/v1/backtests',
    given({
      config: { ...config, ...configOf(config, options), strategy },
      model_version: options.modelVersion,
      hyperopt_job_id: options.hyperopt,
      experiment_name: options.experiment,
      priority: options.priority,
    }),
  );
  console.log(`Submitted ${submitted.job_id}`);
  return options.wait ? printJob(client, await follow(client, submitted.job_id)) : 0;
}

function configOf(config: Readonly<Record<string, unknown>>, options: BacktestOptions) {
  const { ml = {} } = options;
  return given({
    exchange: options.exchange,
    collect: options.offline ? 'never' : undefined,
    pairs: options.pairs && listOf(options.pairs),
    timeframe: options.timeframe,
    date_range: given({ start: options.start, end: options.end }),
    stake_amount: options.stake,
    dry_run_wallet: options.wallet,
    precision: options.precision,
    params: options.param,
    ml_engine: Object.keys(ml).length > 0 ? { ...Object(config.ml_engine), ...ml } : undefined,
  });
}

async function follow(client: ApiClient, jobId: string): Promise<Job> {
  const bar = progressBar('{status} [{bar}] {percentage} %');
  bar.start(100, 0, { status: 'pending' });
  try {
    for (;;) {
      const job = await client.get<Job>(`/api/v1/backtests/${jobId}`);
      const done = job.status === 'completed' ? 1 : (job.progress ?? 0);
      bar.update(Math.floor(done * 100), { status: queueText(job) });
      if (job.status !== 'pending' && job.status !== 'running') return job;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    bar.stop();
  }
}

/** Prints warnings, the result table, the pairs and the equity curve of a finished job. Returns the exit code. */
async function printJob(client: ApiClient, job: Job): Promise<number> {
  for (const warning of job.warnings) console.log(`Warning: ${warning}`);
  if (job.status !== 'completed' && job.collection?.status === 'failed') {
    console.log(`Warning: Market data collection failed: ${job.collection.message}`);
  }
  if (job.status !== 'completed' || !job.result) {
    console.error(`${job.job_id} ${statusWithError(job)}`);
    return 1;
  }
  const { pairs, exchange, timeframe, date_range, precision } = job.config;
  console.log(
    `${pairs.join(', ')} on ${exchange}, ${timeframe}, ${minute(date_range.start)} to ${minute(date_range.end)} UTC${precision === 'exchange' ? ', precision exchange' : ''}`,
  );
  console.log(resultTable(job.result));
  if (job.look_ahead) console.log(`Look-ahead bias: ${job.look_ahead.message}`);
  const report = await client.get<z.infer<typeof BacktestReportData>>(
    `/api/v1/backtests/${job.job_id}/report-data`,
  );
  console.log(pairTable(report));
  if (report.models) console.log(modelsText(report.models));
  const equity = await client.get<z.infer<typeof EquityData>>(`/api/v1/backtests/${job.job_id}/equity`);
  const days = chart(equity.equity, equity.dates);
  if (days) console.log(`Equity at the end of each day\n${days}`);
  if (job.timing) {
    console.log(`${number(job.timing.candles, 0)} candles in ${duration(job.timing.total_ms)}`);
    console.log(durationsText(job));
  }
  return 0;
}

/** `Lane fast: 12 ms in the queue, 1.2 s to start, 0.8 s to run`. */
function durationsText({ lane, durations }: Job): string {
  const { queue_ms, start_ms, run_ms } = durations;
  return `Lane ${lane}: ${duration(queue_ms ?? 0)} in the queue, ${duration(start_ms ?? 0)} to start, ${duration(run_ms ?? 0)} to run`;
}

/** `failed: reason`, or `was cancelled`. */
export function statusWithError({ status, error }: { status: string; error: string | null }): string {
  const verb = status === 'cancelled' ? 'was cancelled' : status;
  return error ? `${verb}: ${error}` : verb;
}

function resultTable(result: NonNullable<Job['result']>): string {
  return table(
    ['Metric', 'Value'],
    [
      ['Total profit', number(result.total_profit)],
      ['Total profit %', percent(result.total_profit_pct)],
      ['Trades (won / lost)', `${result.total_trades} (${result.winning_trades} / ${result.losing_trades})`],
      ['Win rate', percent(result.win_rate)],
      ['Profit factor', number(result.profit_factor)],
      ['Sharpe ratio (daily equity)', number(result.sharpe_ratio)],
      ['Max drawdown (daily equity)', percent(result.max_drawdown_pct)],
    ],
  );
}

function pairTable({ tables }: z.infer<typeof BacktestReportData>): string {
  return table(
    ['Pair', 'Trades', 'Profit', 'Profit %', 'Win rate'],
    tables.per_pair.map((row) => [
      row.key,
      row.total_trades,
      number(row.total_profit),
      percent(row.total_profit_pct),
      percent(row.win_rate),
    ]),
  );
}

export type Models = z.infer<typeof ReportModels>;
type Quality = Models['quality'];

const FEATURES_SHOWN = 5;

/** Out-of-sample quality of the ML models by pair, and their most used features. */
export function modelsText(models: Models): string {
  const { windows, quality, importances, model_kind, features, horizon, trained } = models;
  const pairs = [...new Set(windows.map(({ pair }) => pair))];
  const rows = pairs.map((pair) => {
    const own = windows.filter((window) => window.pair === pair && window.skipped === null);
    return [pair, own.length, ...qualityCells(meanQuality(own.map((window) => window.quality)))];
  });
  const most = importances
    .slice(0, FEATURES_SHOWN)
    .map(({ feature, gain }) => `${feature} ${number(gain * 100, 0)} %`);
  return [
    `ML models out of sample: ${model_kind}, ${features} features, labels known after ${horizon} candles`,
    table(
      ['Pair (mean over windows)', 'Models', 'AUC', 'Log loss', 'Base rate', 'Brier', 'Predictions'],
      [...rows, ['All predictions', trained, ...qualityCells(quality)]],
    ),
    `Most used: ${most.join(', ')}`,
  ].join('\n');
}

type Scores = Pick<Quality, 'auc' | 'log_loss' | 'base_log_loss' | 'brier' | 'rows'>;

function qualityCells({ auc, log_loss, base_log_loss, brier, rows }: Scores): string[] {
  return [...[auc, log_loss, base_log_loss, brier].map((value) => number(value, 3)), number(rows, 0)];
}

/** Mean over windows, weighted by predictions; a window with an undefined metric is left out of that metric. */
function meanQuality(windows: readonly Quality[]): Scores {
  const mean = (name: 'auc' | 'log_loss' | 'base_log_loss' | 'brier') => {
    const known = windows.filter((window) => window[name] !== null);
    const rows = known.reduce((sum, window) => sum + window.rows, 0);
    return rows > 0 ? known.reduce((sum, window) => sum + window[name]! * window.rows, 0) / rows : null;
  };
  return {
    rows: windows.reduce((sum, window) => sum + window.rows, 0),
    auc: mean('auc'),
    log_loss: mean('log_loss'),
    base_log_loss: mean('base_log_loss'),
    brier: mean('brier'),
  };
}

interface JobsOptions {
  readonly status?: string;
  readonly experiment?: string;
  readonly limit: number;
}

/** Printed when a page is not the last one. */
export const MORE_JOBS = `More exist: raise --limit (up to ${PAGE_LIMITS.max}), or filter by --status or --experiment.`;

async function printJobs(client: ApiClient, { status, experiment, limit }: JobsOptions): Promise<void> {
  const { items, next_cursor } = await client.get<z.infer<typeof BacktestJobList>>(
    `/api/v1/backtests?${queryOf({ limit, status, experiment_name: experiment })}`,
  );
  if (items.length === 0) {
    console.log('No backtests. Start one with: npx touchstone backtest ema_crossover');
    return;
  }
  console.log(
    table(
      ['Job', 'Status', 'Strategy', 'Experiment', 'Created (UTC)', 'Trades', 'Profit', 'Sharpe'],
      items.map((job) => [
        job.job_id,
        queueText(job),
        job.strategy,
        job.experiment_name,
        minute(job.created_at),
        job.result ? number(job.result.total_trades, 0) : '-',
        percent(job.result?.total_profit_pct),
        number(job.result?.sharpe_ratio),
      ]),
    ),
  );
  for (const job of items) if (job.error) console.log(`${job.job_id}: ${job.error}`);
  if (next_cursor) console.log(MORE_JOBS);
}
