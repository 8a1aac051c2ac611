import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { ChallengeAction, ChallengeEvent } from '#contract/registry/stored-challenge.ts';
import { METRICS, PLATFORM } from '#contract/values/names.ts';
import type { ChallengeListener } from '#domain/challenges/challenge-store.ts';
import type { ChallengeTimer } from '#domain/challenges/process-due-challenges.ts';
import { lazy } from '#domain/shared/lazy.ts';
import type { ChallengeChange } from '#domain/transitions/registry-store.ts';
import type { Log } from './log.ts';
import { serviceMetrics } from './metrics.ts';

const { setTimers } = lazy(() => import('#domain/challenges/process-due-challenges.ts'));

type MetricName = (typeof METRICS)[keyof typeof METRICS];
type Report = { readonly level: 'warn' | 'info'; readonly message: string; readonly metric: MetricName };

const ENDED = { level: 'info', message: 'challenge ended', metric: METRICS.challengesEnded } as const;

/** Log line and metric of each automatic action that a user should know of. */
const REPORTS: Readonly<Partial<Record<ChallengeAction, Report>>> = {
  roll_back: { level: 'warn', message: 'challenge rolled back', metric: METRICS.challengesRolledBack },
  hold: { level: 'warn', message: 'challenge held', metric: METRICS.challengesHeld },
  promotion_rejected: { level: 'warn', message: 'challenge not promoted', metric: METRICS.challengesHeld },
  complete: ENDED,
  expire: ENDED,
  keep_champion: ENDED,
};

/** Adds one to a metric. */
export type CountChallenge = (metric: MetricName) => void;

/** Publishes each count immediately, under one service name for all functions: the alarms watch their sum. */
export function challengeMetrics(stage: string): CountChallenge {
  let metrics: Metrics | undefined;
  return (metric) => {
    metrics ??= serviceMetrics('challenges');
    const single = metrics.singleMetric();
    single.addDimension('stage', stage);
    single.addMetric(metric, MetricUnit.Count, 1);
  };
}

/**
 * Handles changes of challenges once they are stored: logs and counts the platform's automatic actions, and sets the timer to new
 * deadlines. A failure of the timer is logged: the regular repair runs apply the deadline then.
 */
export function challengeListener(deps: {
  readonly log: Log;
  readonly count?: CountChallenge;
  readonly timer?: ChallengeTimer;
}): ChallengeListener {
  const { log, timer } = deps;
  return async (changes) => {
    for (const change of changes) for (const event of change.events) report(deps, change, event);
    if (!timer) return;
    await setTimers(timer, changes).catch((error: unknown) => {
      const ids = changes.map(({ after }) => after.challenge_id);
      log.warn('challenge timer not set', { challenge_ids: ids, error: error as Error });
    });
  };
}

function report(
  { log, count }: { readonly log: Log; readonly count?: CountChallenge },
  { after }: ChallengeChange,
  event: ChallengeEvent,
): void {
  const entry = event.actor === PLATFORM ? REPORTS[event.action] : undefined;
  if (!entry) return;
  const { challenge_id, status, outcome, reason, canary_stage } = event;
  log[entry.level](entry.message, {
    challenge_id,
    model_name: after.model_name,
    status,
    outcome,
    reason,
    canary_stage,
    at: event.at,
  });
  count?.(entry.metric);
}
