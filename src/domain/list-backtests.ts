import { JOB_STATUSES } from '#contract/backtest.ts';
import type { Caller } from './access.ts';
import type { JobRow, JobStore, Page } from './ports.ts';
import { checkNumber, checkOneOf } from './validate.ts';

export interface ListBacktestsInput {
  /** They are shown what is theirs or shared with them; an admin everything. */
  readonly caller: Caller;
  readonly limit?: number;
  readonly cursor?: string | null;
  readonly status?: string;
  readonly experiment_name?: string;
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** Jobs that the caller sees, newest first. Throws VAL005 for a limit or status out of range, VAL006 for a broken or foreign cursor. */
export async function listBacktests(
  deps: { readonly jobs: JobStore },
  input: ListBacktestsInput,
): Promise<Page<JobRow>> {
  const limit = checkNumber(input.limit ?? DEFAULT_LIMIT, 'limit', { min: 1, max: MAX_LIMIT, integer: true });
  const status = input.status === undefined ? undefined : checkOneOf(input.status, 'status', JOB_STATUSES);
  const filter = {
    ...(input.caller.isAdmin ? {} : { seenBy: input.caller }),
    ...(status ? { status } : {}),
    ...(input.experiment_name === undefined ? {} : { experiment_name: input.experiment_name }),
  };
  return deps.jobs.list(filter, limit, input.cursor ?? null);
}
