import { isTerminal, type JobStatus } from '#contract/backtests/backtest.ts';
import type { Grant } from '#contract/common/sharing-schemas.ts';
import type { RetentionDays } from '#contract/env/retention.ts';
import { STUDY_KIND } from '#contract/hyperopt/hyperopt.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { isoTime } from '../shared/iso-time.ts';

/** Attributes of a job that decide whether and when it expires. */
export interface RetainedJob {
  readonly kind: string;
  readonly status: JobStatus;
  readonly finished_at?: string | undefined;
  readonly shared_with?: readonly Grant[] | undefined;
  readonly kept?: boolean | undefined;
  readonly evidence_of?: { readonly model: string; readonly at: string } | undefined;
  readonly results_expired?: 'deleting' | 'deleted' | undefined;
  readonly expired_at?: string | undefined;
}

/** A registration commits within seconds after it has marked its evidence: an older mark without a version is of one that failed. */
export const UNCOMMITTED_MS = 60 * 60_000;

/** True when the job, its results and its trials never expire. Validations belong to registered versions. */
export function isKept({ kind, kept, shared_with = [], evidence_of }: RetainedJob): boolean {
  return kind === 'validation' || kept === true || shared_with.length > 0 || evidence_of !== undefined;
}

/** Days after which the details of a job expire: the results of a backtest, the trials of a hyperopt job. */
export function detailDays({ kind }: Pick<RetainedJob, 'kind'>, days: RetentionDays): number | null {
  return kind === STUDY_KIND ? days.trials : days.results;
}

/** Earliest time at which the job or its details may be deleted; null: never, or not known yet. */
export function expiryOf(job: RetainedJob, days: RetentionDays): string | null {
  if (isKept(job) || !isTerminal(job.status) || job.finished_at === undefined) return null;
  const details = job.results_expired ? null : detailDays(job, days);
  const due = [details, days.jobs].filter((each) => each !== null);
  return due.length === 0 ? null : isoTime(Date.parse(job.finished_at) + Math.min(...due) * DAY_MS);
}
