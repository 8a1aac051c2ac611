import { TOMBSTONE_DAYS } from '#contract/env/retention.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { ExpireJobsDeps } from './expire-jobs.ts';

/** The task of a cancelled job may write results until its execution has been stopped. */
const DELAY_MS = 15 * 60_000;
/** Jobs of one run. */
const MAX_JOBS = 100;

/**
 * Removes the data of jobs that users have deleted, oldest deletion first. Every step may be repeated: a run that dies leaves the
 * entry of the job, and a later run removes the rest. An error in one job does not stop the others.
 *
 * @param onError is called with the ID of a job
 * @returns number of jobs removed
 */
export async function removeDeleted(
  { retention, results, clock }: Pick<ExpireJobsDeps, 'retention' | 'results' | 'clock'>,
  onError: (name: string, error: unknown) => void,
): Promise<number> {
  const before = isoTime(clock.now() - DELAY_MS);
  let removed = 0;
  for (const job of await retention.deleted(before, MAX_JOBS)) {
    try {
      await results.remove(job.job_id);
      await retention.deleteItems(job.job_id, 'job');
      const deleteAt = Math.floor((clock.now() + TOMBSTONE_DAYS * DAY_MS) / 1000);
      await retention.finish(job.job_id, 'job', deleteAt);
      await retention.forgetDeleted(job);
      removed += 1;
    } catch (error) {
      onError(job.job_id, error);
    }
  }
  return removed;
}
