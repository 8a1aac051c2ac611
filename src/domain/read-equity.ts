import { getCompletedBacktest } from './get-backtest.ts';
import type { JobStore, ResultStore } from './ports.ts';

/** Equity data of a completed backtest, as stored. Throws RES001, RES005 (status 400), DATA005. */
export async function readEquity(
  deps: { readonly jobs: JobStore; readonly results: ResultStore },
  jobId: string,
): Promise<unknown> {
  const job = await getCompletedBacktest(deps, jobId);
  return deps.results.read(job.results, 'equity');
}
