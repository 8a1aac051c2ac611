import type { Challenge } from '#contract/challenge-api.ts';
import type { ChallengeEvaluation } from '#contract/challenge-evaluation.ts';
import type { Hold } from '#contract/stored-challenge.ts';
import { minute, number, percent } from '../format.ts';
import { pText } from './figures.ts';

/** What the fields of a challenge say, in sentences. */

type Method = ChallengeEvaluation['p_value_method'];
const METHODS: Readonly<Record<Method, string>> = {
  welch: "Welch's test at the planned look",
  permutation: 'permutation test at the planned look',
  always_valid: 'valid after every trade',
};

export const methodText = (method: Method) => METHODS[method];

const HOLDS: Readonly<Record<Hold['reason'], readonly [why: string, what: string]>> = {
  manual: ['somebody holds it', 'when it is to go on:'],
  approval: ['the next share must be approved', 'to approve it:'],
  sample_ratio: [
    'assignments are not split as they should be',
    'see that the router asks for each entry once and does as it is told; then:',
  ],
  open_trades: [
    'the arms differ in their share of open trades',
    'wait until they close, then it goes on by itself; or:',
  ],
  no_traffic: [
    'nothing came for a day',
    'see that signals are routed and trades logged, then it goes on by itself; or:',
  ],
};

/** Why a challenge is held, and what to do about it; nothing of one that is not. */
export function holdText({ hold, challenge_id }: Challenge): string[] {
  if (!hold) return [];
  const { reason, since, note } = hold;
  const [why, what] = HOLDS[reason];
  return [
    `Held since ${minute(since)} UTC (${reason}): ${why}${note ? `: ${note}` : ''}.`,
    `To do: ${what}`,
    `  npx touchstone challenge ${reason === 'approval' ? 'advance' : 'resume'} ${challenge_id}`,
  ];
}

const OUTCOMES: Readonly<Record<NonNullable<Challenge['outcome']>, string>> = {
  challenger_wins: 'the challenger has won',
  champion_wins: 'the champion has won',
  champion_kept: 'the champion was kept although the challenger had won',
  promoted_manually: 'the challenger was promoted before a verdict',
};
const REASONS: Readonly<Record<NonNullable<Challenge['reason']>, string>> = {
  harm: 'the challenger was significantly worse',
  max_drawdown: 'the challenger lost more than it was allowed to',
  errors: 'the challenger failed more often than it was allowed to',
  manual: 'somebody rolled it back',
  champion_replaced: 'another version came into Production',
};

/** How a challenge stands: `active`, or how it ended. */
export function standingText({ status, outcome, reason, promoted_at }: Challenge): string {
  const promoted = outcome === 'challenger_wins' && promoted_at !== null && 'it is promoted';
  const told = [outcome && OUTCOMES[outcome], promoted, reason && REASONS[reason]].filter(Boolean).join('; ');
  return told ? `${status.replace('_', ' ')}: ${told}` : status.replace('_', ' ');
}

/** The recommendation as sentences: what to do, and why. */
export function adviceText(challenge: Challenge, evaluation: ChallengeEvaluation): string[] {
  const { challenge_id: id, model_name, champion_version, challenger_version, promoted_at } = challenge;
  const { promotion_refused: refused } = challenge;
  const stays = `The champion stays: version ${champion_version}.`;
  const seeVersions = [`See: npx touchstone versions ${model_name}`];
  switch (evaluation.recommendation) {
    case 'CONTINUE':
      return goOn(challenge, evaluation);
    case 'PROMOTE_CHALLENGER':
      if (promoted_at) return [`Version ${challenger_version} was promoted at ${minute(promoted_at)} UTC.`];
      return [
        ...(refused
          ? [`The platform did not promote it by itself: ${refused.code}: ${refused.message}.`]
          : []),
        `Promote version ${challenger_version}: it is better by ${percent(evaluation.improvement_pct, 1)}, p ${pText(evaluation.p_value)}.`,
        'Within 7 days of the verdict, or the champion is kept:',
        `  npx touchstone challenge promote ${id}`,
      ];
    case 'KEEP_CHAMPION':
      if (challenge.reason === 'champion_replaced') return seeVersions;
      if (challenge.status === 'expired') return [`The time is up without a verdict. ${stays}`];
      return [stays];
    case 'ROLLBACK':
      return challenge.reason === 'champion_replaced' ? seeVersions : [stays];
  }
}

function goOn(challenge: Challenge, evaluation: ChallengeEvaluation): string[] {
  const { champion_trades, challenger_trades, effective_min_trades: least } = challenge;
  const missing = { champion: least - champion_trades, challenger: least - challenger_trades };
  const needs = (['champion', 'challenger'] as const)
    .filter((arm) => missing[arm] > 0)
    .map((arm) => `the ${arm} ${number(missing[arm], 0)}`);
  const { assignments, hours } = evaluation.conditions;
  const lacking = [
    ...(assignments.met ? [] : [`${number(assignments.needed - assignments.value, 0)} assignments`]),
    ...(hours.met ? [] : [`${number(Math.ceil((hours.needed - hours.value) * 10) / 10, 1)} hours`]),
  ];
  const verdict =
    needs.length > 0
      ? `Go on: the first verdict comes with ${number(least, 0)} closed trades of each arm; still to come: ${needs.join(', ')}.`
      : lacking.length > 0
        ? `Go on: before a verdict it still needs ${lacking.join(' and ')}.`
        : 'Go on: nothing is proven yet.';
  const { minimum_detectable_improvement_pct: seen, trades_needed } = evaluation;
  if (seen === null || trades_needed === null) return [verdict];
  return [
    verdict,
    `So many trades show an improvement of ${percent(seen, 0)} in four tests of five; ${number(trades_needed, 0)} of each arm would show one of 10 %.`,
  ];
}
