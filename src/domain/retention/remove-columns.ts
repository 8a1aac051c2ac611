import { isOver } from '../backtests/columns-job.ts';
import type { Clock, JobStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { ExpireJobsDeps } from './expire-jobs.ts';

export interface RemoveColumnsDeps extends Pick<ExpireJobsDeps, 'retention' | 'results'> {
  readonly jobs: Pick<JobStore, 'endedColumnsJobs'>;
  readonly clock: Clock;
}

/**
 * Removes columns that were computed over an hour ago, with their jobs. Every step may be repeated: a run that dies leaves the job in
 * its list, and a later run removes the rest. An error in one job does not stop the others.
 *
 * @param onError is called with the ID of a job
 */
export async function removeColumns(
  { retention, results, jobs, clock }: RemoveColumnsDeps,
  onError: (name: string, error: unknown) => void,
): Promise<void> {
  const now = clock.now();
  for await (const job of jobs.endedColumnsJobs()) {
    if (!isOver(job, now)) continue;
    try {
      // False after a run that died: the mark is there.
      await retention.begin(job.job_id, 'job', isoTime(now));
      await results.remove(job.job_id);
      await retention.finish(job.job_id, 'job', Math.floor(now / 1_000));
    } catch (error) {
      onError(job.job_id, error);
    }
  }
}
