import type { CodedError } from '#contract/values/errors.ts';
import { expired } from '../shared/unknown-resources.ts';
import type { RetainedJob } from './retention.ts';

/** Jobs of one kind, as far as keeping them needs. */
export interface KeepableJobs<Job extends RetainedJob> {
  /** Keeps the job, or lets it expire again. `done` false: it is unknown, or has expired. */
  setKept(jobId: string, kept: boolean): Promise<{ readonly done: boolean; readonly job: Job | undefined }>;
}

/** Keeps a job, or lets it expire again. Throws the error of an unknown job, RES006 for an expired one, DATA005. */
export async function keepJob<Job extends RetainedJob>(
  jobs: KeepableJobs<Job>,
  jobId: string,
  kept: boolean,
  unknown: (jobId: string) => CodedError,
): Promise<Job> {
  const { done, job } = await jobs.setKept(jobId, kept);
  if (!job) throw unknown(jobId);
  if (!done) throw expired('The job', jobId);
  return job;
}
