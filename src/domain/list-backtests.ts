import type { BacktestListQuery } from '#contract/backtest-api.ts';
import type { Caller } from './access.ts';
import type { JobRow, JobStore, Page } from './ports.ts';

/** Jobs visible to the caller, newest first; to an admin all. Throws VAL006 for a broken or foreign cursor. */
export async function listBacktests(
  deps: { readonly jobs: JobStore },
  { caller, limit, cursor, ...filter }: BacktestListQuery & { readonly caller: Caller },
): Promise<Page<JobRow>> {
  return deps.jobs.list({ ...filter, ...(!caller.isAdmin && { visibleTo: caller }) }, limit, cursor ?? null);
}
