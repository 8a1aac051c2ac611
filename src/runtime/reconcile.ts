import { randomUUID } from 'node:crypto';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { METRICS, METRICS_NAMESPACE } from '#contract/names.ts';
import {
  type ReconcileDeps,
  reconcileChallenge,
  reconcileJob,
  reconcileJobs,
} from '#domain/reconcile-jobs.ts';
import type { Log } from './log.ts';
import { runInContext } from './request-context.ts';

/** An EventBridge event: the schedule, an execution that changed status (its name is the job's id), or a challenge's time. */
export interface ReconcileEvent {
  readonly challenge_id?: string;
  readonly 'detail-type'?: string;
  readonly detail?: { readonly name?: string };
}

/** A job without an execution for longer was lost between being stored and being started. */
const GRACE_MS = 2 * 60_000;

/**
 * The reconcile function: one job after its execution ended, one challenge when its time is up, all unfinished ones on the
 * schedule. On the schedule it publishes the age of the oldest pending job, how long the quietest running hyperopt job has
 * been so and how many challenges failed, 0 without one, so that the alarms have data.
 */
export function createReconcile(
  deps: Omit<ReconcileDeps, 'graceMs' | 'onFault'>,
  { stage, log }: { readonly stage: string; readonly log: Log },
): (event: ReconcileEvent) => Promise<void> {
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE, serviceName: 'reconcile' });
  const reconcile: ReconcileDeps = {
    ...deps,
    graceMs: GRACE_MS,
    onFault: (jobId, error) => log.error('not reconciled', { id: jobId, error: error as Error }),
  };
  const all = async () => {
    const report = await reconcileJobs(reconcile);
    const { started, failed, oldestPendingMs, longestStallMs, challenges } = report;
    metrics.addDimension('stage', stage);
    metrics.addMetric(METRICS.oldestPendingSeconds, MetricUnit.Seconds, Math.round(oldestPendingMs / 1000));
    metrics.addMetric(METRICS.longestStallSeconds, MetricUnit.Seconds, Math.round(longestStallMs / 1000));
    metrics.addMetric(METRICS.challengeProcessingErrors, MetricUnit.Count, challenges.failed.length);
    metrics.publishStoredMetrics();
    const { changed, left } = challenges;
    log.info('reconciled', { started, failed, challenges: { changed: changed.length, left } });
    if (left > 0) log.warn('challenges left to the next pass', { left });
  };
  const one = async ({ detail, challenge_id }: ReconcileEvent) => {
    if (challenge_id !== undefined) {
      const changed = await reconcileChallenge(reconcile, challenge_id);
      log.info('time is up', { challenge_id, changed });
    } else if (detail?.name !== undefined) {
      const repair = await reconcileJob(reconcile, detail.name);
      log.info('execution ended', { job_id: detail.name, repair });
    } else await all();
  };
  return (event) => runInContext({ correlationId: randomUUID() }, () => one(event));
}
