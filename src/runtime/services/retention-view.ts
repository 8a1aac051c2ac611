import type { RetentionDays } from '#contract/env/retention.ts';
import { expiryOf, isKept, type RetainedJob } from '#domain/retention/retention.ts';

/** Retention of a job as clients see it. */
export function retentionOf(job: RetainedJob, days: RetentionDays) {
  return {
    kept: isKept(job),
    expires_at: expiryOf(job, days),
    results_deleted: job.results_expired !== undefined,
  };
}
