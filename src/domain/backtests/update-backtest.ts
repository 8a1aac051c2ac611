import type { StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { ANNOTATION_LIMITS } from '#contract/values/job-limits.ts';
import type { JobStore } from '../ports.ts';
import { expired, unknownBacktest } from '../shared/unknown-resources.ts';
import { checkMaxLength, checkTags } from '../shared/validate.ts';
import { getBacktest } from './get-backtest.ts';

export interface UpdateBacktestInput {
  readonly notes?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly pinned?: boolean | undefined;
}

/**
 * Changes what users have written on a job, in one write; of two concurrent changes of a field the later one holds. Throws VAL005,
 * RES001, RES006 for an expired job, DATA005.
 */
export async function updateBacktest(
  { jobs }: { readonly jobs: JobStore },
  jobId: string,
  { notes, tags, pinned }: UpdateBacktestInput,
): Promise<StoredBacktestJob> {
  checkMaxLength(notes, 'notes', ANNOTATION_LIMITS.notes);
  const changes = {
    ...(notes !== undefined && { notes }),
    ...(tags !== undefined && { tags: checkTags(tags, ANNOTATION_LIMITS) }),
    ...(pinned !== undefined && { pinned }),
  };
  if (Object.keys(changes).length === 0) return getBacktest({ jobs }, jobId);
  const { done, job } = await jobs.annotate(jobId, changes);
  if (!job) throw unknownBacktest(jobId);
  if (!done) throw expired('The backtest', jobId);
  return job;
}
