import type * as z from 'zod';
import type { BacktestJob, EquityData } from '#contract/backtests/backtest-api.ts';
import type { BacktestReportData } from '#contract/backtests/report.ts';
import type { ApiClient } from '../client.ts';

export type Job = z.infer<typeof BacktestJob>;
export type Report = z.infer<typeof BacktestReportData>;
type Equity = z.infer<typeof EquityData>;

/** A completed backtest with its results. */
export interface Results {
  readonly job: Job;
  readonly report: Report;
  readonly equity: Equity;
}

export const backtestPath = (jobId: string, rest = '') =>
  `/api/v1/backtests/${encodeURIComponent(jobId)}${rest}`;

/** Loads report and equity of a completed backtest. */
export async function loadResults(client: ApiClient, job: Job): Promise<Results> {
  const [report, equity] = await Promise.all([
    client.get<Report>(backtestPath(job.job_id, '/report-data?trades=false')),
    client.get<Equity>(backtestPath(job.job_id, '/equity')),
  ]);
  return { job, report, equity };
}
