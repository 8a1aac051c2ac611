import * as z from 'zod';
import { Timestamp } from './common.ts';

/** How long the platform keeps jobs that nobody keeps, and how a job shows it. */

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

const days = z
  .string()
  .regex(/^[1-9]\d{0,4}$/, 'must be a number of days from 1 to 99999')
  .transform(Number)
  .optional();

/** Retention as environment variables, in days; absent: forever. */
export const retentionEnv = {
  RETENTION_RESULTS_DAYS: days,
  RETENTION_TRIALS_DAYS: days,
  RETENTION_JOBS_DAYS: days,
  /** Entries of the audit trail. */
  RETENTION_AUDIT_DAYS: days,
};

export function retentionDays(env: z.output<z.ZodObject<typeof retentionEnv>>): RetentionDays {
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

/** Fields of every stored job that retention reads and writes. */
export const retainedJobFields = {
  /** True: a user keeps the job. Absent or false: the platform may delete it. */
  kept: z.boolean().optional(),
  /** Model with a version of which the job is evidence, and the time of its registration; absent: of none. */
  evidence_of: z.object({ model: z.string(), at: Timestamp }).optional(),
  /** State of the deletion of results or trials; absent: they are stored. */
  results_expired: z.enum(['deleting', 'deleted']).optional(),
  /** Start of the deletion of the job; absent: it is stored. */
  expired_at: Timestamp.optional(),
};

/** Fields of a job in responses. */
export const retentionView = {
  kept: z.boolean().meta({
    description:
      'The platform never deletes the job: a user keeps it, it is shared, or a registered version has it as evidence',
  }),
  expires_at: Timestamp.nullable().meta({
    description:
      'Earliest time at which the platform deletes the job, or its results or trials; null: never, or not known before its end',
  }),
  results_deleted: z
    .boolean()
    .meta({ description: 'Its results or trials were deleted; its summary is stored' }),
};

export const KeepRequest = z
  .looseObject({
    keep: z.boolean().optional().meta({
      description: 'false: the platform may delete the job again',
      default: true,
    }),
  })
  .meta({ id: 'KeepRequest', examples: [{}, { keep: false }] });
