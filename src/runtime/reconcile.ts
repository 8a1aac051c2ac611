import { randomUUID } from 'node:crypto';
import type { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import middy, { type MiddlewareObj } from '@middy/core';
import { METRICS, METRICS_NAMESPACE } from '#contract/names.ts';
import {
  type ReconcileDeps,
  type ReconcileReport,
  reconcileChallenge,
  reconcileJob,
  reconcileJobs,
} from '#domain/reconcile-jobs.ts';

/** Event of EventBridge (status change of an execution, whose name is the job's id) or of Scheduler (`{}` or a challenge's id). */
interface ReconcileEvent {
  readonly challenge_id?: string;
  readonly 'detail-type'?: string;
  readonly detail?: { readonly name?: string };
}

type Trigger =
  | { readonly kind: 'deadline'; readonly challengeId: string }
  | { readonly kind: 'execution'; readonly jobId: string }
  | { readonly kind: 'schedule' };

type ReconcileMiddleware = MiddlewareObj<ReconcileEvent | Trigger, ReconcileReport | undefined>;

/**
 * The reconcile function: one job after its execution ended, one challenge at its deadline, and all unfinished jobs and challenges
 * on the schedule.
 */
export function reconcileLambda(
  deps: ReconcileDeps,
  { stage, logger }: { readonly stage: string; readonly logger: Logger },
) {
  return middy<ReconcileEvent, ReconcileReport | undefined>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(addCorrelationId(logger))
    .use(readTrigger())
    .use(publishReport(stage, logger))
    .handler((trigger) => reconcile(deps, logger, trigger as Trigger));
}

/** Gives all log lines of an invocation the same correlation id: these events have none. */
function addCorrelationId(logger: Logger): ReconcileMiddleware {
  return { before: () => logger.setCorrelationId(randomUUID()) };
}

function readTrigger(): ReconcileMiddleware {
  return {
    before: (request) => {
      const { challenge_id, detail } = request.event as ReconcileEvent;
      if (challenge_id !== undefined) request.event = { kind: 'deadline', challengeId: challenge_id };
      else if (detail?.name !== undefined) request.event = { kind: 'execution', jobId: detail.name };
      else request.event = { kind: 'schedule' };
    },
  };
}

/** Publishes and logs the report of a scheduled run; 0 is published too, so that the alarms have data. */
function publishReport(stage: string, logger: Logger): ReconcileMiddleware {
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE, serviceName: 'reconcile' });
  return {
    after: (request) => {
      if (!request.response) return;
      const { started, failed, oldestPendingMs, longestStallMs, challenges } = request.response;
      metrics.addDimension('stage', stage);
      metrics.addMetric(METRICS.oldestPendingSeconds, MetricUnit.Seconds, Math.round(oldestPendingMs / 1000));
      metrics.addMetric(METRICS.longestStallSeconds, MetricUnit.Seconds, Math.round(longestStallMs / 1000));
      metrics.addMetric(METRICS.challengeProcessingErrors, MetricUnit.Count, challenges.failed.length);
      metrics.publishStoredMetrics();
      const { changed, left } = challenges;
      logger.info('reconciled', { started, failed, challenges: { changed: changed.length, left } });
      if (left > 0) logger.warn('challenges left to the next run', { left });
      request.response = undefined;
    },
  };
}

async function reconcile(
  deps: ReconcileDeps,
  logger: Logger,
  trigger: Trigger,
): Promise<ReconcileReport | undefined> {
  switch (trigger.kind) {
    case 'deadline': {
      const changed = await reconcileChallenge(deps, trigger.challengeId);
      logger.info('challenge deadline reached', { challenge_id: trigger.challengeId, changed });
      return undefined;
    }
    case 'execution': {
      const repair = await reconcileJob(deps, trigger.jobId);
      logger.info('execution ended', { job_id: trigger.jobId, repair });
      return undefined;
    }
    case 'schedule':
      return reconcileJobs(deps);
  }
}
