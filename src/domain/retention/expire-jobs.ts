import { isTerminal } from '#contract/backtests/backtest.ts';
import { type RetentionDays, TOMBSTONE_DAYS } from '#contract/env/retention.ts';
import { STUDY_KIND } from '#contract/hyperopt/hyperopt.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { jobLists } from '#contract/values/tables.ts';
import type { Clock, ResultStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import { detailDays, isKept, type RetainedJob, UNCOMMITTED_MS } from './retention.ts';

/** A job in a page of {@link JobRetention.oldest}. */
export interface ExpiringJob extends RetainedJob {
  readonly job_id: string;
  /** Also the name of the model that a version of it would belong to. */
  readonly strategy: string;
}

/** A job that a user has deleted. */
export interface DeletedJob {
  readonly job_id: string;
  /** Time of the deletion, ISO 8601. */
  readonly at: string;
}

/** Jobs of a list, oldest first. */
export interface ExpiringPage {
  readonly jobs: readonly ExpiringJob[];
  /** Jobs that cannot be read, with the error. They are skipped. */
  readonly unreadable: readonly { readonly job_id: string; readonly error: unknown }[];
  /** Position of the last job; undefined: there is none. */
  readonly end: string | undefined;
}

/** Details: results of a backtest, trials of a hyperopt job. */
export type ExpiringPart = 'details' | 'job';

/** Progress of a pass through one list of jobs. */
export interface Checkpoint {
  /** Position in the list before which all jobs were visited; empty: none. */
  readonly position: string;
  /** `YYYY-MM` of the pass. Each month begins another one at the oldest job. */
  readonly month: string;
  /** Runs in a row that failed at this position. */
  readonly failures: number;
}

/** Stored jobs, as far as their expiry needs. Every method may throw DATA005. */
export interface JobRetention {
  checkpoint(name: string): Promise<Checkpoint | undefined>;
  saveCheckpoint(name: string, checkpoint: Checkpoint): Promise<void>;
  /** Jobs of a list that were created before a time, after a position. */
  oldest(list: string, after: string, before: string): Promise<ExpiringPage>;
  /** Marks the part as being deleted. False: the job is kept, is not terminal or is gone; nothing was changed. */
  begin(jobId: string, part: ExpiringPart, at: string): Promise<boolean>;
  /** Deletes the trials, and for a job its access items. Repeats are harmless. */
  deleteItems(jobId: string, part: ExpiringPart): Promise<void>;
  /** Records the end of the deletion. The job itself leaves all lists, and its item is deleted at that time, Unix s. */
  finish(jobId: string, part: ExpiringPart, deleteAt: number): Promise<void>;
  /** Jobs that users deleted before a time, oldest deletion first, as long as their data are stored. */
  deleted(before: string, limit: number): Promise<readonly DeletedJob[]>;
  /** Records that the data of a deleted job are removed. */
  forgetDeleted(job: DeletedJob): Promise<void>;
  /** Records that a version has the job as evidence. */
  setEvidence(jobId: string, model: string, at: string): Promise<void>;
  /** Removes evidence that a registration recorded at that time and then did not commit. */
  clearEvidence(jobId: string, at: string): Promise<void>;
}

export interface ExpireJobsDeps {
  readonly days: RetentionDays;
  readonly retention: JobRetention;
  readonly results: Pick<ResultStore, 'remove'>;
  readonly registry: Pick<RegistryStore, 'versions'>;
  readonly clock: Clock;
}

/** Numbers of jobs whose details, and of jobs that were deleted. */
export type ExpiryReport = Readonly<Record<ExpiringPart, number>>;

/** A run visits jobs this long after their creation plus retention: a job that ran longer waits for the next month's pass. */
const MARGIN_MS = DAY_MS;
/** Runs in a row that may fail at a position before the pass continues without the job. */
const MAX_FAILURES = 10;
const CONCURRENT_JOBS = 8;

/**
 * Deletes what has outlived its retention: one page of each list of jobs per run. The decision is one conditional write on
 * the job, so a registration, a grant or a user who keeps the job either comes before it or finds the job expired. The
 * data follow; a run that dies in between leaves the mark, and a later run continues. An error in one job or list does not
 * stop the others.
 *
 * @param onError is called with the ID of a job, or the name of a list
 */
export async function expireJobs(
  deps: ExpireJobsDeps,
  onError: (name: string, error: unknown) => void,
): Promise<ExpiryReport> {
  const report: Record<ExpiringPart, number> = { details: 0, job: 0 };
  const evidence = evidenceOf(deps.registry);
  for (const kind of ['backtest', STUDY_KIND]) {
    const due = { details: detailDays({ kind }, deps.days), job: deps.days.jobs };
    for (const part of ['details', 'job'] as const) {
      const days = due[part];
      if (days === null) continue;
      for (const list of jobLists(kind)) {
        try {
          report[part] += await expireList({ ...deps, evidence, onError }, { list, part, days });
        } catch (error) {
          onError(`${list}#${part}`, error);
        }
      }
    }
  }
  return report;
}

type Evidence = (model: string) => Promise<ReadonlySet<string>>;

interface RunDeps extends ExpireJobsDeps {
  readonly evidence: Evidence;
  readonly onError: (name: string, error: unknown) => void;
}

interface Pass {
  readonly list: string;
  readonly part: ExpiringPart;
  readonly days: number;
}

async function expireList(deps: RunDeps, pass: Pass): Promise<number> {
  const { retention, clock, onError } = deps;
  const name = `${pass.list}#${pass.part}`;
  const now = clock.now();
  const month = isoTime(now).slice(0, 7);
  const stored = await retention.checkpoint(name);
  const from = stored?.month === month ? stored : { position: '', month, failures: 0 };
  const finishedBefore = isoTime(now - pass.days * DAY_MS);
  const createdBefore = isoTime(now - pass.days * DAY_MS - MARGIN_MS);
  const { jobs, unreadable, end } = await retention.oldest(pass.list, from.position, createdBefore);
  if (end === undefined) return 0;
  for (const { job_id, error } of unreadable) onError(job_id, error);
  let deleted = 0;
  let failed = false;
  for (let at = 0; at < jobs.length; at += CONCURRENT_JOBS) {
    await Promise.all(
      jobs.slice(at, at + CONCURRENT_JOBS).map(async (job) => {
        try {
          if (await expireJob(deps, pass.part, job, finishedBefore)) deleted += 1;
        } catch (error) {
          failed = true;
          onError(job.job_id, error);
        }
      }),
    );
  }
  const again = failed && from.failures + 1 < MAX_FAILURES;
  const next = again
    ? { position: from.position, failures: from.failures + 1 }
    : { position: end, failures: 0 };
  await retention.saveCheckpoint(name, { ...next, month });
  return deleted;
}

/** True when the part was deleted. */
async function expireJob(
  deps: RunDeps,
  part: ExpiringPart,
  job: ExpiringJob,
  finishedBefore: string,
): Promise<boolean> {
  const { retention, results, clock } = deps;
  const isBegun = part === 'job' ? job.expired_at !== undefined : job.results_expired === 'deleting';
  if (!isBegun) {
    if (part === 'details' && job.results_expired) return false;
    if (!isTerminal(job.status) || (job.finished_at ?? '') >= finishedBefore) return false;
    if (await isNeeded(deps, job)) return false;
    if (!(await retention.begin(job.job_id, part, isoTime(clock.now())))) return false;
  }
  await results.remove(job.job_id);
  await retention.deleteItems(job.job_id, part);
  const deleteAt = Math.floor((clock.now() + TOMBSTONE_DAYS * DAY_MS) / 1000);
  await retention.finish(job.job_id, part, deleteAt);
  return true;
}

/**
 * True when the job is kept. The registry decides about evidence: versions registered before retention existed have not
 * marked their jobs, and a registration may have marked a job without committing.
 */
async function isNeeded({ retention, evidence, clock }: RunDeps, job: ExpiringJob): Promise<boolean> {
  const { evidence_of: mark, ...unmarked } = job;
  if (isKept(unmarked)) return true;
  const now = clock.now();
  const isEvidence = (await evidence(job.strategy)).has(job.job_id);
  if (isEvidence && !mark) await retention.setEvidence(job.job_id, job.strategy, isoTime(now));
  if (isEvidence || !mark) return isEvidence;
  if (now - Date.parse(mark.at) > UNCOMMITTED_MS) await retention.clearEvidence(job.job_id, mark.at);
  // The next pass finds it without the mark.
  return true;
}

/** Jobs that are evidence of a version, by model. Each model is read once per run. */
function evidenceOf(registry: Pick<RegistryStore, 'versions'>): Evidence {
  const models = new Map<string, Promise<ReadonlySet<string>>>();
  const read = async (model: string) => {
    const versions = await registry.versions(model);
    const jobs = versions.flatMap(({ backtest_run_id, evidence, validation }) => [
      backtest_run_id,
      evidence?.hyperopt_job_id,
      validation.job_id,
    ]);
    return new Set(jobs.filter((job) => typeof job === 'string'));
  };
  return (model) => {
    const found = models.get(model) ?? read(model);
    models.set(model, found);
    return found;
  };
}
