import type { Logger } from '@aws-lambda-powertools/logger';
import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import middy, { type MiddlewareObj } from '@middy/core';
import { METRICS } from '#contract/values/names.ts';
import {
  measureQueue,
  type QueueMeasures,
  type RepairDeps,
  type RepairReport,
  repairChallenge,
  repairJobs,
} from '#domain/repair/repair-jobs.ts';
import { eventCorrelation } from './event-correlation.ts';
import { serviceMetrics } from './metrics.ts';

/** An event of Scheduler: `{}` or the id of a challenge. */
interface RepairEvent {
  readonly challenge_id?: string;
}

type Trigger = { readonly kind: 'deadline'; readonly challengeId: string } | { readonly kind: 'schedule' };

type RepairMiddleware = MiddlewareObj<RepairEvent | Trigger, RepairReport | undefined>;

/**
 * The repair function: one challenge at its deadline; all slots, validations and challenges on the schedule.
 */
export function repairLambda(
  deps: RepairDeps,
  { stage, logger }: { readonly stage: string; readonly logger: Logger },
) {
  const metrics = serviceMetrics('repair');
  return middy<RepairEvent, RepairReport | undefined>()
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(eventCorrelation(logger))
    .use(readTrigger())
    .use(measureFirst(deps, (measures) => publishMeasures(metrics, stage, measures)))
    .use(publishReport(metrics, stage, logger))
    .handler((trigger) => repair(deps, logger, trigger as Trigger));
}

function readTrigger(): RepairMiddleware {
  return {
    before: (request) => {
      const { challenge_id } = request.event as RepairEvent;
      request.event =
        challenge_id === undefined ? { kind: 'schedule' } : { kind: 'deadline', challengeId: challenge_id };
    },
  };
}

/**
 * Measures the queue before a scheduled run: the alarms must see a queue that the run fails to repair. If it cannot be
 * measured, the run fails after its work: its alarm rings, since those on the measures have no data.
 */
function measureFirst(deps: RepairDeps, publish: (measures: QueueMeasures) => void): RepairMiddleware {
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
function publishReport(metrics: Metrics, stage: string, logger: Logger): RepairMiddleware {
  return {
    after: (request) => {
      if (!request.response) return;
      const { restarted, failed, dispatched, challenges, expired, removed } = request.response;
      metrics.addDimension('stage', stage);
      metrics.addMetric(METRICS.challengeProcessingErrors, MetricUnit.Count, challenges.failed.length);
      metrics.publishStoredMetrics();
      const { changed, left } = challenges;
      const jobs = { restarted, failed, dispatched };
      logger.info('repaired', { ...jobs, challenges: { changed: changed.length, left }, expired, removed });
      if (left > 0) logger.warn('challenges left to the next run', { left });
      request.response = undefined;
    },
  };
}

async function repair(deps: RepairDeps, logger: Logger, trigger: Trigger): Promise<RepairReport | undefined> {
  switch (trigger.kind) {
    case 'deadline': {
      const changed = await repairChallenge(deps, trigger.challengeId);
      logger.info('challenge deadline reached', { challenge_id: trigger.challengeId, changed });
      return undefined;
    }
    case 'schedule':
      return repairJobs(deps);
  }
}
