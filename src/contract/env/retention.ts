import { type EnvValues, mapped, matching, optional } from './env-fields.ts';

/** How long the platform keeps jobs that nobody keeps. */

/** Days after the end of a job, by kind of data; null: forever. */
export interface RetentionDays {
  /** Report, equity and trades of a backtest. Its summary stays. */
  readonly results: number | null;
  /** Trials of a hyperopt job. Its outcome stays. */
  readonly trials: number | null;
  /** Jobs of both kinds, with all that belongs to them. */
  readonly jobs: number | null;
}

export const KEEP_FOREVER: RetentionDays = { results: null, trials: null, jobs: null };

const days = optional(mapped(matching(/^[1-9]\d{0,4}$/, 'must be a number of days from 1 to 99999'), Number));

/** Retention as environment variables, in days; absent: forever. */
export const retentionEnv = {
  RETENTION_RESULTS_DAYS: days,
  RETENTION_TRIALS_DAYS: days,
  RETENTION_JOBS_DAYS: days,
  /** Entries of the audit trail. */
  RETENTION_AUDIT_DAYS: days,
};

export function retentionDays(env: EnvValues<typeof retentionEnv>): RetentionDays {
  return {
    results: env.RETENTION_RESULTS_DAYS ?? null,
    trials: env.RETENTION_TRIALS_DAYS ?? null,
    jobs: env.RETENTION_JOBS_DAYS ?? null,
  };
}

/** Variables that set a retention; {@link retentionDays} reads them. */
export function retentionVariables({
  results,
  trials,
  jobs,
  audit,
}: RetentionDays & { readonly audit: number | null }) {
  const text = (value: number | null) => (value === null ? undefined : String(value));
  return {
    RETENTION_RESULTS_DAYS: text(results),
    RETENTION_TRIALS_DAYS: text(trials),
    RETENTION_JOBS_DAYS: text(jobs),
    RETENTION_AUDIT_DAYS: text(audit),
  };
}

/** Days for which the item of a deleted job stays: reads of it are 410 RES006, then 404. */
export const TOMBSTONE_DAYS = 30;
