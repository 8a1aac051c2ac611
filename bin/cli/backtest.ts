import cliProgress from 'cli-progress';
import type { ApiClient } from './client.ts';
import { chart, duration, minute, number, percent, table } from './format.ts';
import { type Models, modelsText } from './models.ts';

export interface BacktestOptions {
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
  /** A study whose best parameters to run. */
  readonly hyperopt?: string;
  readonly experiment?: string;
  readonly priority?: number;
  /** Run on stored candles, without an exchange. */
  readonly offline?: boolean;
  readonly wait: boolean;
}

interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly progress?: number;
  readonly result: Record<string, number> | null;
  readonly error: string | null;
  readonly warnings: readonly string[];
  readonly config: {
    readonly pairs: readonly string[];
    readonly timeframe: string;
    readonly exchange: string;
    readonly precision: string;
    readonly date_range: { readonly start: string; readonly end: string };
  };
  readonly collection: { readonly status: string; readonly message: string } | null;
  readonly look_ahead?: { readonly message: string } | null;
  readonly timing?: { readonly total_ms: number; readonly candles: number } | null;
}

const POLL_MS = 250;

/** Submits a backtest, shows its progress and prints the result. Answers the exit code. */
export async function runBacktest(
  client: ApiClient,
  strategy: string,
  config: Record<string, unknown>,
  options: BacktestOptions,
): Promise<number> {
  const submitted = await client.post<{ job_id: string }>('/api/v1/backtests', {
    config: { ...config, ...configOf(options), ...mlEngineOf(config, options), strategy },
    ...(options.modelVersion === undefined ? {} : { model_version: options.modelVersion }),
    ...(options.hyperopt === undefined ? {} : { hyperopt_job_id: options.hyperopt }),
    ...(options.experiment ? { experiment_name: options.experiment } : {}),
    ...(options.priority ? { priority: options.priority } : {}),
  });
  console.log(`Submitted ${submitted.job_id}`);
  if (!options.wait) return 0;
  const job = await follow(client, submitted.job_id);
  return printJob(client, job);
}

function configOf(options: BacktestOptions): Record<string, unknown> {
  const range = {
    ...(options.start ? { start: options.start } : {}),
    ...(options.end ? { end: options.end } : {}),
  };
  return {
    ...(options.exchange ? { exchange: options.exchange } : {}),
    ...(options.offline ? { collect: 'never' } : {}),
    ...(options.pairs ? { pairs: options.pairs.split(',').map((pair) => pair.trim()) } : {}),
    ...(options.timeframe ? { timeframe: options.timeframe } : {}),
    ...(Object.keys(range).length > 0 ? { date_range: range } : {}),
    ...(options.stake ? { stake_amount: options.stake } : {}),
    ...(options.wallet ? { dry_run_wallet: options.wallet } : {}),
    ...(options.precision ? { precision: options.precision } : {}),
    ...(options.param && Object.keys(options.param).length > 0 ? { params: options.param } : {}),
  };
}

/** One setting is enough for a run with models. */
function mlEngineOf(config: Record<string, unknown>, { ml = {} }: BacktestOptions) {
  if (Object.keys(ml).length === 0) return {};
  return { ml_engine: { ...Object(config.ml_engine), ...ml } };
}

async function follow(client: ApiClient, jobId: string): Promise<Job> {
  const bar = new cliProgress.SingleBar(
    { format: '{status} [{bar}] {percentage} %', hideCursor: true, noTTYOutput: false },
    cliProgress.Presets.shades_classic,
  );
  bar.start(100, 0, { status: 'pending' });
  try {
    for (;;) {
      const job = await client.get<Job>(`/api/v1/backtests/${jobId}`);
      const done = job.status === 'completed' ? 1 : (job.progress ?? 0);
      bar.update(Math.floor(done * 100), { status: job.status });
      if (job.status !== 'pending' && job.status !== 'running') return job;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  } finally {
    bar.stop();
  }
}

/** Prints a finished job: warnings, the result table, the pairs and the equity curve. Answers the exit code. */
async function printJob(client: ApiClient, job: Job): Promise<number> {
  for (const warning of job.warnings) console.log(`Warning: ${warning}`);
  if (job.status !== 'completed' && job.collection?.status === 'failed') {
    console.log(`Warning: Collecting market data failed: ${job.collection.message}`);
  }
  if (job.status !== 'completed' || !job.result) {
    console.error(`${job.job_id} is ${job.status}${job.error ? `: ${job.error}` : ''}`);
    return 1;
  }
  const { config } = job;
  console.log(
    `${config.pairs.join(', ')} on ${config.exchange}, ${config.timeframe}, ${minute(config.date_range.start)} to ${minute(config.date_range.end)} UTC${config.precision === 'exchange' ? ', precision exchange' : ''}`,
  );
  console.log(resultTable(job.result));
  if (job.look_ahead) console.log(`Look-ahead bias: ${job.look_ahead.message}`);
  const report = await client.get<Report>(`/api/v1/backtests/${job.job_id}/report-data`);
  console.log(pairTable(report));
  if (report.models) console.log(modelsText(report.models));
  const equity = await client.get<{ dates: string[]; equity: number[] }>(
    `/api/v1/backtests/${job.job_id}/equity`,
  );
  const days = chart(equity.equity, equity.dates);
  if (days) console.log(`Equity, end of each day\n${days}`);
  if (job.timing) {
    console.log(`${number(job.timing.candles, 0)} candles in ${duration(job.timing.total_ms)}`);
  }
  return 0;
}

function resultTable(result: Record<string, number>): string {
  return table(
    ['Metric', 'Value'],
    [
      ['Total profit', `${number(result.total_profit)}`],
      ['Total profit %', percent(result.total_profit_pct)],
      ['Trades (won / lost)', `${result.total_trades} (${result.winning_trades} / ${result.losing_trades})`],
      ['Win rate', percent(result.win_rate)],
      ['Profit factor', number(result.profit_factor)],
      ['Sharpe ratio (daily equity)', number(result.sharpe_ratio)],
      ['Max drawdown (daily equity)', percent(result.max_drawdown_pct)],
    ],
  );
}

interface Report {
  readonly models?: Models;
  readonly tables: { readonly per_pair: readonly Record<string, string | number | null>[] };
}

function pairTable(report: Report): string {
  return table(
    ['Pair', 'Trades', 'Profit', 'Profit %', 'Win rate'],
    report.tables.per_pair.map((row) => [
      String(row.key),
      Number(row.total_trades),
      number(row.total_profit as number),
      percent(row.total_profit_pct as number),
      percent(row.win_rate as number),
    ]),
  );
}
