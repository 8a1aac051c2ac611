import type { ChallengeEvaluation } from '#contract/challenge-evaluation.ts';
import type { StoredChallenge } from '#contract/stored-challenge.ts';
import { closedTrades, totalOf } from './challenge-state.ts';

const HOUR_MS = 3_600_000;

/**
 * What a challenge needs before its verdict, and what is there: closed trades and assignments of the arm that has fewer, and
 * hours since its creation. All of them only rise.
 *
 * @param now Unix ms; after the end the hours no longer rise
 */
export function conditionsOf(challenge: StoredChallenge, now: number): ChallengeEvaluation['conditions'] {
  const { stages, created_at, ended_at, effective_min_trades, min_assignments, min_hours } = challenge;
  const closed = closedTrades(challenge);
  const assigned = totalOf(stages, 'assigned');
  const until = ended_at === null ? now : Date.parse(ended_at);
  const hours = (until - Date.parse(created_at)) / HOUR_MS;
  return {
    trades: condition(Math.min(closed.champion, closed.challenger), effective_min_trades),
    assignments: condition(Math.min(assigned.champion, assigned.challenger), min_assignments),
    // Cut, not rounded: it never seems to be met before it is.
    hours: condition(Math.floor(hours * 100) / 100, min_hours),
  };
}

function condition(value: number, needed: number) {
  return { value, needed, met: value >= needed };
}

/** Whether all conditions of a verdict are met. */
export function areMet(conditions: ChallengeEvaluation['conditions']): boolean {
  return Object.values(conditions).every(({ met }) => met);
}
