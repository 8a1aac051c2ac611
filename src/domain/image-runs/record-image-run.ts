import { isTerminal, type JobIn, type JobRun } from '#contract/backtests/backtest.ts';
import type { ImageRunOutcome } from '#contract/backtests/image-run.ts';
import type { Digest } from '#contract/values/digest.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { Clock, JobRunOutcome, JobStore, SeriesStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { countBacktest } from '../trials/count-trials.ts';
import type { OwnerTrials } from '../trials/owner-trials.ts';
import { checkOutcome } from './check-image-run.ts';
import { type ImageRuns, InvalidRunError } from './image-run-ports.ts';

export interface RecordImageRunDeps {
  readonly jobs: Pick<JobStore, 'get' | 'claim' | 'complete' | 'fail'>;
  readonly series: Pick<SeriesStore, 'markCorrupt'>;
  readonly ownerTrials: OwnerTrials;
  readonly runs: Pick<ImageRuns, 'readOutcome' | 'adoptResults'>;
  readonly digest: Digest;
  readonly clock: Clock;
}

export interface ImageTask {
  readonly jobId: string;
  /** ARN of the task, from ECS. */
  readonly task: string;
}

/** A claim of {@link startImageRun} may come between the claim and the end. A third one does not. */
const MAX_CLAIMS = 3;

/**
 * Records that the task of a registered image has started: its job is running. Late and repeated calls change nothing for the
 * task that has the job, and a call for an earlier task is corrected by {@link recordImageRun}. Throws DATA005.
 */
export async function startImageRun(
  { jobs, clock }: Pick<RecordImageRunDeps, 'jobs' | 'clock'>,
  { jobId, task }: ImageTask,
): Promise<void> {
  await claimFor(jobs, { jobId, task }, isoTime(clock.now()));
}

/**
 * Ends a job by what the task of its registered image has written. The task can write anything: what is not a run of this job
 * fails the job. Repeating it after a crash between any two writes has the same result.
 * Throws errors that a repeated call may survive: DATA005, a bug.
 */
export async function recordImageRun(deps: RecordImageRunDeps, ended: ImageTask): Promise<JobRunOutcome> {
  for (let claims = 0; claims < MAX_CLAIMS; claims++) {
    const job = await claimFor(deps.jobs, ended, isoTime(deps.clock.now()));
    if (!job) return 'not_mine';
    if (await end(deps, job, ended.task)) return 'recorded';
  }
  throw new CodedError('DATA005', {
    message: `Write conflict: ${ended.jobId} was claimed ${MAX_CLAIMS} times`,
  });
}

/** The job as this task's; undefined if it has ended or does not exist. */
async function claimFor(
  jobs: Pick<JobStore, 'get' | 'claim'>,
  { jobId, task }: ImageTask,
  at: string,
): Promise<JobIn<'running'> | undefined> {
  const job = await jobs.get(jobId);
  if (!job || isTerminal(job.status)) return undefined;
  if (job.status === 'running' && job.task === task) return job;
  const claim = await jobs.claim(jobId, task, at);
  return claim.outcome === 'claimed' ? claim.job : undefined;
}

async function end(deps: RecordImageRunDeps, job: JobIn<'running'>, task: string): Promise<boolean> {
  const { job_id, attempt } = job;
  try {
    const outcome = checkOutcome(await deps.runs.readOutcome(task), job);
    if (outcome.status === 'failed') return await fail(deps, job, outcome);
    const { digest, trade_pages, timing, warnings, look_ahead, checks } = outcome;
    const adopted = await deps.runs.adoptResults(job, task, { digest, trade_pages });
    const trials = await countBacktest(deps, job, adopted.equity);
    const completed = {
      ...adopted.completed,
      timing,
      warnings,
      ...(look_ahead && { look_ahead }),
      ...(trials && { trials }),
      ...(checks && { checks }),
    };
    return await deps.jobs.complete(job_id, attempt, completed, isoTime(deps.clock.now()));
  } catch (error) {
    if (!(error instanceof InvalidRunError)) throw error;
    const message = `The registered image wrote an invalid result: ${error.message}. Register the version again with an image of this release of Touchstone.`;
    return deps.jobs.fail(job_id, attempt, { code: 'VAL006', message }, isoTime(deps.clock.now()));
  }
}

async function fail(
  { jobs, series, clock }: RecordImageRunDeps,
  { job_id, attempt, config }: JobRun,
  { error, corrupt }: Extract<ImageRunOutcome, { status: 'failed' }>,
): Promise<boolean> {
  const at = isoTime(clock.now());
  // At worst a month of this job's own candles is collected again.
  if (corrupt) await series.markCorrupt({ exchange: config.exchange, ...corrupt }, corrupt.month, at);
  return jobs.fail(job_id, attempt, error, at);
}
