import type { JobStatus } from '#contract/backtests/backtest.ts';
import type { Caller } from '../access/access.ts';
import type { JobLists, JobPage, JobSearch } from './job-list-ports.ts';

/** Query of a list of jobs of any kind, and its caller. */
export interface JobListInput {
  /** Admins see all jobs; others see jobs they own or that are shared with them. */
  readonly caller: Caller;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly status?: JobStatus | undefined;
  readonly experiment_name?: string | undefined;
  readonly strategy?: string | undefined;
  readonly q?: string | undefined;
  readonly pinned?: boolean | undefined;
  readonly sort?: string | undefined;
  readonly sort_order: 'asc' | 'desc';
  /** Also counts the jobs. */
  readonly count: boolean;
}

/** Jobs visible to the caller. Throws VAL006 for a cursor that is broken or was made with another filter. */
export async function listJobs<Row>(jobs: JobLists<Row>, input: JobListInput): Promise<JobPage<Row>> {
  const { caller, limit, cursor = null, status, experiment_name, strategy } = input;
  const filter = {
    ...(!caller.isAdmin && { visibleTo: caller }),
    ...(status && { status }),
    ...(experiment_name !== undefined && { experiment_name }),
    ...(strategy !== undefined && { strategy }),
  };
  const search = searchOf(input);
  const [page, counted] = await Promise.all([
    jobs.list(filter, limit, cursor, search),
    input.count && !search ? jobs.count(filter) : null,
  ]);
  // A search has counted already.
  return { ...page, count: input.count ? (counted ?? page.count) : null };
}

/** Undefined when the query has no part that is a search. */
function searchOf({ q, pinned, sort, sort_order }: JobListInput): JobSearch | undefined {
  if (q === undefined && pinned === undefined && sort === undefined) return undefined;
  return {
    sort_order,
    ...(q !== undefined && { q }),
    ...(pinned !== undefined && { pinned }),
    ...(sort !== undefined && { sort }),
  };
}
