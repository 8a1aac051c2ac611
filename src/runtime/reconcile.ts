import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { METRICS, METRICS_NAMESPACE } from '#contract/names.ts';
import { type ReconcileDeps, reconcileJob, reconcileJobs } from '#domain/reconcile-jobs.ts';
import type { Log } from './log.ts';

/** An EventBridge event: the schedule, or an execution that changed status (its name is the job's id). */
export interface ReconcileEvent {
  readonly 'detail-type'?: string;
  readonly detail?: { readonly name?: string };
}

/** A job without an execution for longer was lost between being stored and being started. */
const GRACE_MS = 2 * 60_000;

/**
 * The reconcile function: one job after its execution ended, all unfinished jobs on the schedule. On the schedule it
 * publishes the age of the oldest pending job and how long the quietest running hyperopt job has been so, 0 without one, so
 * that the alarms have data.
 */
export function createReconcile(
  deps: Omit<ReconcileDeps, 'graceMs' | 'onFault'>,
  { stage, log }: { readonly stage: string; readonly log: Log },
): (event: ReconcileEvent) => Promise<void> {
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE, serviceName: 'reconcile' });
  const reconcile: ReconcileDeps = {
    ...deps,
    graceMs: GRACE_MS,
    onFault: (jobId, error) => log.error('job not reconciled', { job_id: jobId, error: error as Error }),
  };
  return async ({ detail }) => {
    if (detail?.name !== undefined) {
      const repair = await reconcileJob(reconcile, detail.name);
      log.info('execution ended', { job_id: detail.name, repair });
      return;
    }
    const { started, failed, oldestPendingMs, longestQuietMs } = await reconcileJobs(reconcile);
    metrics.addDimension('stage', stage);
    metrics.addMetric(METRICS.oldestPendingSeconds, MetricUnit.Seconds, Math.round(oldestPendingMs / 1000));
    metrics.addMetric(METRICS.longestQuietSeconds, MetricUnit.Seconds, Math.round(longestQuietMs / 1000));
    metrics.publishStoredMetrics();
    log.info('reconciled', { started, failed });
  };
}
