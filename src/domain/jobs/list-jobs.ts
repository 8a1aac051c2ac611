import type { JobStatus } from '#contract/backtests/backtest.ts';
import type { Caller } from '../access/access.ts';
import type { JobFacts, JobLists, JobPage, JobSearch, ReadSortValues } from './job-list-ports.ts';

type Undefinable<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Query of a list of jobs of any kind, and its caller. */
export interface JobListInput extends Undefinable<JobFacts> {
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

/**
 * Jobs visible to the caller. Throws VAL006 for a cursor that is broken or was made with another filter.
 *
 * @param sortValues absent: the rows have what they are sorted by
 */
export async function listJobs<Row>(
  jobs: JobLists<Row>,
  input: JobListInput,
  sortValues?: ReadSortValues<Row>,
): Promise<JobPage<Row>> {
  const { caller, limit, cursor = null, status, experiment_name, strategy } = input;
  const filter = {
    ...(!caller.isAdmin && { visibleTo: caller }),
    ...(status && { status }),
    ...(experiment_name !== undefined && { experiment_name }),
    ...(strategy !== undefined && { strategy }),
  };
  const search = searchOf(input);
  const [page, counted] = await Promise.all([
    jobs.list(filter, limit, cursor, search, sortValues),
    input.count && !search ? jobs.count(filter) : null,
  ]);
  // A search has counted already.
  return { ...page, count: input.count ? (counted ?? page.count) : null };
}

/** Undefined when the query has no part that is a search. */
function searchOf(input: JobListInput): JobSearch | undefined {
  const { q, pinned, sort, sort_order, session, owner, exchange, tag, look_ahead, params } = input;
  const wanted = { q, pinned, sort, session, owner, exchange, tag, look_ahead, params };
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : { sort_order, ...Object.fromEntries(given) };
}
