import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import { METRICS, METRICS_NAMESPACE } from '#contract/names.ts';
import type { ChallengeAction, ChallengeEvent } from '#contract/stored-challenge.ts';
import { PLATFORM } from '#domain/challenges/challenge-state.ts';
import type { ChallengeChange, ChallengeListener } from '#domain/challenges/challenge-store.ts';
import { type ChallengeTimer, setTimers } from '#domain/challenges/challenge-timer.ts';
import type { Log } from './log.ts';

type MetricName = (typeof METRICS)[keyof typeof METRICS];
type Telling = { readonly level: 'warn' | 'info'; readonly message: string; readonly metric: MetricName };

const ENDED = { level: 'info', message: 'challenge ended', metric: METRICS.challengesEnded } as const;

/** What the platform did by itself that somebody should hear of. */
const TOLD: Readonly<Partial<Record<ChallengeAction, Telling>>> = {
  roll_back: { level: 'warn', message: 'challenge rolled back', metric: METRICS.challengesRolledBack },
  hold: { level: 'warn', message: 'challenge held', metric: METRICS.challengesHeld },
  promotion_refused: { level: 'warn', message: 'challenge not promoted', metric: METRICS.challengesHeld },
  complete: ENDED,
  expire: ENDED,
  keep_champion: ENDED,
};

/** Counts one of them, by the name of its metric. */
export type CountChallenge = (metric: MetricName) => void;

/** Publishes each at once, whatever function it happens in: all are one service to the alarms. */
export function challengeMetrics(stage: string): CountChallenge {
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE, serviceName: 'challenges' });
  return (metric) => {
    const single = metrics.singleMetric();
    single.addDimension('stage', stage);
    single.addMetric(metric, MetricUnit.Count, 1);
  };
}

/**
 * What follows from changes of challenges once they are stored: what the platform did by itself is logged and counted, and
 * new deadlines are given to the timer. A timer that fails is logged: the regular passes make good for it.
 */
export function watchChallenges(deps: {
  readonly log: Log;
  readonly count?: CountChallenge;
  readonly timer?: ChallengeTimer;
}): ChallengeListener {
  const { log, timer } = deps;
  return async (changes) => {
    for (const change of changes) for (const event of change.events) tell(deps, change, event);
    if (!timer) return;
    await setTimers(timer, changes).catch((error: unknown) => {
      const ids = changes.map(({ after }) => after.challenge_id);
      log.warn('challenge timer not set', { challenge_ids: ids, error: error as Error });
    });
  };
}

function tell(
  { log, count }: { readonly log: Log; readonly count?: CountChallenge },
  { after }: ChallengeChange,
  event: ChallengeEvent,
): void {
  const telling = event.actor === PLATFORM ? TOLD[event.action] : undefined;
  if (!telling) return;
  const { challenge_id, status, outcome, reason, canary_stage } = event;
  log[telling.level](telling.message, {
    ...{ challenge_id, model_name: after.model_name, status, outcome, reason, canary_stage },
    at: event.at,
  });
  count?.(telling.metric);
}
