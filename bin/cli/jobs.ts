import type { ApiClient } from './client.ts';
import { minute, number, percent, table } from './format.ts';

interface JobRow {
  readonly job_id: string;
  readonly status: string;
  readonly strategy: string;
  readonly experiment_name: string | null;
  readonly created_at: string;
  readonly result: Record<string, number> | null;
  readonly error: string | null;
}

export interface JobsOptions {
  readonly status?: string;
  readonly experiment?: string;
  readonly limit: number;
}

/** Prints the newest jobs. */
export async function printJobs(client: ApiClient, options: JobsOptions): Promise<void> {
  const query = new URLSearchParams({
    limit: String(options.limit),
    ...(options.status ? { status: options.status } : {}),
    ...(options.experiment ? { experiment_name: options.experiment } : {}),
  });
  const { items, next_cursor } = await client.get<{ items: JobRow[]; next_cursor: string | null }>(
    `/api/v1/backtests?${query}`,
  );
  if (items.length === 0) {
    console.log('No backtests yet. Start one with: npx touchstone backtest ema_crossover');
    return;
  }
  console.log(
    table(
      ['Job', 'Status', 'Strategy', 'Experiment', 'Created (UTC)', 'Trades', 'Profit', 'Sharpe'],
      items.map((job) => [
        job.job_id,
        job.status,
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
  if (next_cursor)
    console.log(`More exist: raise --limit (at most 100) or narrow by --status or --experiment.`);
}
