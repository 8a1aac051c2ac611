import type { Challenge, ChallengeEvaluation } from '#contract/registry/challenge-api.ts';
import { CANARY_STAGES, type Hold } from '#contract/registry/stored-challenge.ts';
import { MINUTE_MS } from '#contract/values/durations.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { minute, number, percent, signed, table, wrap } from '../output.ts';
import { intervalChart } from './interval-chart.ts';

/** A challenge and the comparison of its variants. */
export interface ChallengeSnapshot {
  readonly challenge: Challenge;
  readonly evaluation: ChallengeEvaluation;
}

const PAGE_WIDTH = 80;

/** Columns of the terminal, up to 80; 80 without a terminal. */
export function pageWidth({ columns }: { readonly columns?: number }): number {
  return Math.min(PAGE_WIDTH, columns || PAGE_WIDTH);
}

/** The page of a challenge, in lines of up to `width` columns; its tables may be wider. */
export function statusText({ challenge, evaluation }: ChallengeSnapshot, width: number): string {
  const now = Date.parse(evaluation.evaluated_at);
  const lines = [
    ...headLines(challenge, now),
    '',
    ...canaryLines(challenge, now),
    ...holdText(challenge),
    variantTable(challenge, evaluation),
    ...evaluation.warnings.map((warning) => `Warning: ${warning}`),
    '',
    ...evidenceLines(evaluation, width),
    '',
    challenge.status === 'active' ? 'Required to recommend the challenger' : 'Criteria at the end',
    ...criteriaLines(evaluation),
    ...conditionLines(evaluation),
    '',
    `Recommendation: ${evaluation.recommendation}`,
    ...recommendationText(challenge, evaluation),
  ];
  return lines.map((line) => (isFixed(line) ? line : wrap(line, width))).join('\n');
}

/** Charts and tables are not wrapped. */
function isFixed(line: string): boolean {
  return line === '' || line.startsWith(' ') || line.includes('\n');
}

function headLines(challenge: Challenge, now: number): string[] {
  const { challenge_id, model_name, champion_version, challenger_version } = challenge;
  const { created_at, created_by, ends_at, ended_at } = challenge;
  const left = ended_at ? '' : ` (${timeText(Date.parse(ends_at) - now)} left)`;
  return [
    `${challenge_id} of ${model_name}: version ${challenger_version} against ${champion_version}`,
    `${capital(challengeStatusText(challenge))}.`,
    `${minute(created_at)} to ${minute(ended_at ?? ends_at)} UTC${left}, created by ${created_by}`,
  ];
}

const capital = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}`;
const trafficText = (value: number) => `${number(100 * value, 0)} %`;

/** The canary stages by traffic share, the current one in brackets, and the conditions of the next one. */
function canaryLines(challenge: Challenge, now: number): string[] {
  const { canary_stage, enable_canary, traffic_split, status } = challenge;
  const [toChampion, toChallenger] = traffic_split as [number, number];
  if (toChampion === 1) return [`Traffic: all to the champion, version ${challenge.champion_version}`];
  if (toChallenger === 1) return [`Traffic: all to the challenger, version ${challenge.challenger_version}`];
  if (!enable_canary) return [`Traffic: ${trafficText(toChallenger)} to the challenger, without a canary`];
  const steps = CANARY_STAGES.map(({ name, share }) =>
    name === canary_stage ? `[${trafficText(share)}]` : trafficText(share),
  );
  const stages = `Traffic to the challenger: ${steps.join(' ──▶ ')}`;
  return status === 'active' ? [stages, nextText(challenge, now)] : [stages];
}

function nextText({ next_stage: next }: Challenge, now: number): string {
  if (!next) return 'This is the last canary stage.';
  const { not_before, challenger_trades, trades_needed, canary_stage, needs_approval } = next;
  const wait = Date.parse(not_before) - now;
  const to = CANARY_STAGES.find(({ name }) => name === canary_stage)!.share;
  const waits = [
    wait > 0 ? `in ${timeText(wait)}` : 'due ✓',
    `${number(challenger_trades, 0)} of ${number(trades_needed, 0)} trades of the challenger${challenger_trades >= trades_needed ? ' ✓' : ''}`,
    ...(needs_approval ? ['an approval'] : []),
  ];
  return `Next ${trafficText(to)}: ${waits.join('; ')}`;
}

/** Unit that shows the larger of two means in three digits. */
function meanUnit(champion: number, challenger: number): number {
  return Math.max(Math.abs(champion), Math.abs(challenger)) / 99 || 1;
}

/** A value of the challenger with the limit that rolls it back. */
const limited = (value: string, limit: number | null) =>
  limit === null ? value : `${value} (at most ${limit})`;

type Unrealised = ChallengeEvaluation['unrealised']['champion'];

/** Mean unrealised profit; the number of trades that report it if some do not. */
function unrealisedText({ open, marked, mean_pct }: Unrealised): string {
  if (mean_pct === null) return '-';
  return `${signed(mean_pct, 0.01)}${marked < open ? ` of ${number(marked, 0)}` : ''}`;
}

function variantTable(challenge: Challenge, evaluation: ChallengeEvaluation): string {
  const { assignments, open_trades, errors, unrealised, clusters } = evaluation;
  const { champion_mean, challenger_mean, raw } = evaluation;
  const { max_errors, max_drawdown_pct, challenger_drawdown_pct } = challenge;
  const count = (value: number) => number(value, 0);
  const split = challenge.traffic_split as [number, number];
  const mean = (champion: number, challenger: number): [string, string] => {
    const unit = meanUnit(champion, challenger);
    return [
      challenge.champion_trades > 0 ? signed(champion, unit) : '-',
      challenge.challenger_trades > 0 ? signed(challenger, unit) : '-',
    ];
  };
  const means = mean(champion_mean, challenger_mean);
  const rawMeans = mean(raw.champion_mean, raw.challenger_mean);
  return table(
    [
      '',
      `champion\nversion ${challenge.champion_version}`,
      `challenger\nversion ${challenge.challenger_version}`,
    ],
    [
      ['Traffic', trafficText(split[0]), trafficText(split[1])],
      ['Assigned', count(assignments.champion), count(assignments.challenger)],
      ['Closed trades', count(challenge.champion_trades), count(challenge.challenger_trades)],
      ['Open trades', count(open_trades.champion), count(open_trades.challenger)],
      ...(unrealised.champion.marked + unrealised.challenger.marked > 0
        ? [
            [
              '  unrealised mean, %',
              unrealisedText(unrealised.champion),
              unrealisedText(unrealised.challenger),
            ],
          ]
        : []),
      ['Errors', count(errors.champion), limited(count(errors.challenger), max_errors)],
      ['Drawdown, points', '-', limited(number(challenger_drawdown_pct), max_drawdown_pct)],
      ...(clusters ? [['Keys compared', count(clusters.champion), count(clusters.challenger)]] : []),
      ['Mean profit, %', ...means],
      ...(means.join() === rawMeans.join() ? [] : [['  stages as one', ...rawMeans]]),
    ],
  );
}

/** The planned look is a single test and therefore more powerful than the always-valid interval. */
const WIDER =
  'The interval may contain 0 nevertheless: it stays valid after every trade and is therefore wider.';

function evidenceLines(evaluation: ChallengeEvaluation, width: number): string[] {
  const { confidence_interval, p_value, p_value_method, is_significant } = evaluation;
  if (!confidence_interval) {
    return ['No interval yet: it needs two closed trades of each variant in one canary stage.'];
  }
  const [low, high] = confidence_interval as [number, number];
  return [
    'Difference of means, % per trade (95 % confidence sequence)',
    intervalChart([low, high], width),
    `p-value ${pText(p_value)} (${methodText(p_value_method)})`,
    ...(is_significant && low <= 0 && high >= 0 ? [WIDER] : []),
  ];
}

const CRITERIA: Readonly<Record<string, readonly [name: string, unit: string]>> = {
  p_value: ['p-value', ''],
  improvement_pct: ['improvement', ' %'],
  min_trades: ['closed trades of each variant', ''],
  min_clusters: ['keys of each variant', ''],
  open_trade_gap: ['open trade imbalance', ' points'],
};
const OPERATORS = { '<': 'below', '>': 'above', '<=': 'at most', '>=': 'at least' } as const;

function criteriaLines({ criteria }: ChallengeEvaluation): string[] {
  return criteria.map(({ name, operator, threshold, value, passed }) => {
    const [words, unit] = CRITERIA[name] ?? [name, ''];
    const text = name === 'p_value' ? pText(value) : `${number(value, unit ? 1 : 0)}${unit}`;
    return `  ${passed ? '✓' : '✗'} ${words.padEnd(30)} ${text.padEnd(11)} ${OPERATORS[operator]} ${threshold}${unit}`;
  });
}

/** Conditions of a verdict that only some platforms set. */
function conditionLines({ conditions }: ChallengeEvaluation): string[] {
  const words = { assignments: 'assignments of each variant', hours: 'hours since its creation' } as const;
  return (Object.keys(words) as (keyof typeof words)[])
    .filter((name) => conditions[name].needed > 0)
    .map((name) => {
      const { value, needed, met } = conditions[name];
      const digits = name === 'hours' ? 1 : 0;
      // Rounded down, as the service does.
      const text = number(Math.floor(value * 10 ** digits) / 10 ** digits, digits);
      return `  ${met ? '✓' : '✗'} ${words[name].padEnd(30)} ${text.padEnd(11)} at least ${needed}`;
    });
}

/** The evidence in two lines. */
export function evidenceText({ challenge, evaluation }: ChallengeSnapshot): string {
  const { champion_trades, challenger_trades } = challenge;
  const { champion_mean, challenger_mean, improvement_pct, p_value, p_value_method } = evaluation;
  const unit = meanUnit(champion_mean, challenger_mean);
  return [
    `Evidence: ${number(champion_trades, 0)} and ${number(challenger_trades, 0)} closed trades, mean ${signed(champion_mean, unit)} % and ${signed(challenger_mean, unit)} %,`,
    `improvement ${percent(improvement_pct, 1)}, p-value ${pText(p_value)} (${methodText(p_value_method)})`,
  ].join('\n');
}

type Method = ChallengeEvaluation['p_value_method'];
const METHODS: Readonly<Record<Method, string>> = {
  welch: "Welch's test at the planned look",
  permutation: 'permutation test at the planned look',
  always_valid: 'valid after every trade',
};

const methodText = (method: Method) => METHODS[method];

const HOLDS: Readonly<Record<Hold['reason'], readonly [why: string, what: string]>> = {
  manual: ['held by a user', 'to resume it:'],
  approval: ['the next canary stage needs an approval', 'to approve it:'],
  sample_ratio_mismatch: [
    'sample ratio mismatch: the assignments do not match the traffic split',
    'check that the router requests one assignment per entry and follows it; then:',
  ],
  open_trades: [
    'open trade imbalance: one variant has more open trades in relation to its closed ones',
    'wait until they close, it then resumes automatically; or:',
  ],
  no_traffic: [
    'no assignment and no trade within 24 hours',
    'check that signals are routed and trades logged, it then resumes automatically; or:',
  ],
};

/** Why a challenge is held and what to do; empty when it is not held. */
export function holdText({ hold, challenge_id }: Challenge): string[] {
  if (!hold) return [];
  const { reason, since, note } = hold;
  const [why, what] = HOLDS[reason];
  return [
    `Held since ${minute(since)} UTC (${reason}): ${why}${note ? `: ${note}` : ''}.`,
    `Next step: ${what}`,
    `  ${TOUCHSTONE} challenge ${reason === 'approval' ? 'advance' : 'resume'} ${challenge_id}`,
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
  max_drawdown: 'the drawdown of the challenger exceeded its limit',
  errors: 'the errors of the challenger exceeded their limit',
  manual: 'rolled back by a user',
  champion_replaced: 'another version was promoted to Production',
  champion_stopped: 'the version in Production was stopped',
};

/** `active`, or how the challenge ended. */
export function challengeStatusText({ status, outcome, reason, promoted_at }: Challenge): string {
  const promoted = outcome === 'challenger_wins' && promoted_at !== null && 'the challenger is promoted';
  const details = [outcome && OUTCOMES[outcome], promoted, reason && REASONS[reason]]
    .filter(Boolean)
    .join('; ');
  return details ? `${status.replace('_', ' ')}: ${details}` : status.replace('_', ' ');
}

/** Recommended action and its reason. */
function recommendationText(challenge: Challenge, evaluation: ChallengeEvaluation): string[] {
  const { challenge_id: id, model_name, champion_version, challenger_version, promoted_at } = challenge;
  const { promotion_rejected: rejection } = challenge;
  const stays = `The champion stays in Production: version ${champion_version}.`;
  const seeVersions = [`See: ${TOUCHSTONE} versions ${model_name}`];
  const isReplaced = challenge.reason === 'champion_replaced' || challenge.reason === 'champion_stopped';
  switch (evaluation.recommendation) {
    case 'CONTINUE':
      return continueText(challenge, evaluation);
    case 'PROMOTE_CHALLENGER':
      if (promoted_at) return [`Version ${challenger_version} was promoted at ${minute(promoted_at)} UTC.`];
      return [
        ...(rejection ? [`Automatic promotion was rejected: ${rejection.code}: ${rejection.message}.`] : []),
        `Promote version ${challenger_version}: it is better by ${percent(evaluation.improvement_pct, 1)}, p ${pText(evaluation.p_value)}.`,
        'Promote within 7 days of the verdict; otherwise the champion stays:',
        `  ${TOUCHSTONE} challenge promote ${id}`,
      ];
    case 'KEEP_CHAMPION':
      if (isReplaced) return seeVersions;
      if (challenge.status === 'expired') return [`The time limit passed without a verdict. ${stays}`];
      return [stays];
    case 'ROLLBACK':
      return isReplaced ? seeVersions : [stays];
  }
}

function continueText(challenge: Challenge, evaluation: ChallengeEvaluation): string[] {
  const { champion_trades, challenger_trades, effective_min_trades: needed } = challenge;
  const missing = { champion: needed - champion_trades, challenger: needed - challenger_trades };
  const needs = (['champion', 'challenger'] as const)
    .filter((variant) => missing[variant] > 0)
    .map((variant) => `${number(missing[variant], 0)} of the ${variant}`);
  const { assignments, hours } = evaluation.conditions;
  const lacking = [
    ...(assignments.met ? [] : [`${number(assignments.needed - assignments.value, 0)} assignments`]),
    ...(hours.met ? [] : [`${number(Math.ceil((hours.needed - hours.value) * 10) / 10, 1)} hours`]),
  ];
  const verdict =
    needs.length > 0
      ? `Continue: the first verdict needs ${number(needed, 0)} closed trades of each variant; missing: ${needs.join(', ')}.`
      : lacking.length > 0
        ? `Continue: a verdict still needs ${lacking.join(' and ')}.`
        : 'Continue: the difference is not significant.';
  const { minimum_detectable_improvement_pct: detectable, trades_needed } = evaluation;
  if (detectable === null || trades_needed === null) return [verdict];
  return [
    verdict,
    `Minimum detectable improvement with these trades, at 80 % power: ${percent(detectable, 0)}; 10 % needs ${number(trades_needed, 0)} trades of each variant.`,
  ];
}

/** A p-value to four digits. */
export function pText(p: number): string {
  return p < 0.0001 ? 'below 0.0001' : p.toFixed(4);
}

/** A time as `6 d 22 h`, `3 h 05 min`, `12 min` or `40 s`; never negative. */
export function timeText(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / MINUTE_MS);
  if (minutes < 1) return `${Math.floor(Math.max(0, ms) / 1000)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 1) return `${minutes} min`;
  if (hours < 24) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
  return `${Math.floor(hours / 24)} d ${String(hours % 24).padStart(2, '0')} h`;
}
