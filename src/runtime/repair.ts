import type { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import middy, { type MiddlewareObj } from '@middy/core';
import { METRICS, METRICS_NAMESPACE } from '#contract/values/names.ts';
import {
  measureQueue,
  type QueueMeasures,
  type ReconcileDeps,
  type ReconcileReport,
  reconcileChallenge,
  reconcileJobs,
} from '#domain/repair/repair-jobs.ts';
import { eventCorrelation } from './event-correlation.ts';

/** An event of Scheduler: `{}` or the id of a challenge. */
interface ReconcileEvent {
  readonly challenge_id?: string;
}

type Trigger = { readonly kind: 'deadline'; readonly challengeId: string } | { readonly kind: 'schedule' };

type ReconcileMiddleware = MiddlewareObj<ReconcileEvent | Trigger, ReconcileReport | undefined>;

/**
 * The reconcile function: one challenge at its deadline; all slots, validations and challenges on the schedule.
 */
export function reconcileLambda(
  deps: ReconcileDeps,
  { stage, logger }: { readonly stage: string; readonly logger: Logger },
) {
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE, serviceName: 'reconcile' });
  return middy<ReconcileEvent, ReconcileReport | undefined>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(eventCorrelation(logger))
    .use(readTrigger())
    .use(measureFirst(deps, (measures) => publishMeasures(metrics, stage, measures)))
    .use(publishReport(metrics, stage, logger))
    .handler((trigger) => reconcile(deps, logger, trigger as Trigger));
}

function readTrigger(): ReconcileMiddleware {
  return {
    before: (request) => {
      const { challenge_id } = request.event as ReconcileEvent;
      request.event =
        challenge_id === undefined ? { kind: 'schedule' } : { kind: 'deadline', challengeId: challenge_id };
    },
  };
}

/**
 * Measures the queue before a scheduled run: the alarms must see a queue that the run fails to repair. If it cannot be
 * measured, the run fails after its work: its alarm rings, since those on the measures have no data.
 */
function measureFirst(deps: ReconcileDeps, publish: (measures: QueueMeasures) => void): ReconcileMiddleware {
  const failures = new WeakMap<object, unknown>();
  return {
    before: async (request) => {
      if ((request.event as Trigger).kind !== 'schedule') return;
      await measureQueue(deps).then(publish, (error: unknown) => failures.set(request, error));
    },
    after: (request) => {
      if (failures.has(request)) throw failures.get(request);
    },
  };
}

/** Publishes the queue's measures; 0 is published too, so that the alarms have data. */
function publishMeasures(metrics: Metrics, stage: string, measures: QueueMeasures): void {
  const seconds = (ms: number) => Math.round(ms / 1000);
  const total = (counts: QueueMeasures['waiting']) =>
    Object.values(counts).reduce((sum, count) => sum + count, 0);
  metrics.addDimension('stage', stage);
  metrics.addMetric(METRICS.oldestPendingSeconds, MetricUnit.Seconds, seconds(measures.oldestPendingMs));
  metrics.addMetric(METRICS.queueIdleSeconds, MetricUnit.Seconds, seconds(measures.idleMs));
  metrics.addMetric(METRICS.longestStallSeconds, MetricUnit.Seconds, seconds(measures.longestStallMs));
  metrics.addMetric(METRICS.waitingJobs, MetricUnit.Count, total(measures.waiting));
  metrics.addMetric(METRICS.runningJobs, MetricUnit.Count, total(measures.running));
  metrics.publishStoredMetrics();
}

/** Publishes and logs the report of a scheduled run. */
function publishReport(metrics: Metrics, stage: string, logger: Logger): ReconcileMiddleware {
  return {
    after: (request) => {
      if (!request.response) return;
      const { restarted, failed, dispatched, challenges, expired, removed } = request.response;
      metrics.addDimension('stage', stage);
      metrics.addMetric(METRICS.challengeProcessingErrors, MetricUnit.Count, challenges.failed.length);
      metrics.publishStoredMetrics();
      const { changed, left } = challenges;
      const jobs = { restarted, failed, dispatched };
      logger.info('reconciled', { ...jobs, challenges: { changed: changed.length, left }, expired, removed });
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
    case 'schedule':
      return reconcileJobs(deps);
  }
}
