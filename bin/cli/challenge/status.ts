import type { Challenge } from '#contract/challenge-api.ts';
import type { ChallengeEvaluation } from '#contract/challenge-evaluation.ts';
import { CANARY_STAGES } from '#contract/stored-challenge.ts';
import type { ApiClient } from '../client.ts';
import { minute, number, percent, table, wrap } from '../format.ts';
import { pText, signed, timeText } from './figures.ts';
import { challengePath, findChallenge } from './find.ts';
import { intervalChart } from './interval.ts';
import { adviceText, holdText, methodText, standingText } from './words.ts';

/** A challenge, and how its arms compare. */
export interface Standing {
  readonly challenge: Challenge;
  readonly evaluation: ChallengeEvaluation;
}

export async function readStanding(client: ApiClient, reference: string): Promise<Standing> {
  const challenge = await findChallenge(client, reference);
  const evaluation = await client.get<ChallengeEvaluation>(
    challengePath(challenge.challenge_id, '/evaluate'),
  );
  return { challenge, evaluation };
}

const PAGE_WIDTH = 80;

/** Columns of what is printed: those of the terminal, at most 80; 80 where there is none. */
export function pageWidth({ columns }: { readonly columns?: number }): number {
  return Math.min(PAGE_WIDTH, columns || PAGE_WIDTH);
}

/** Prints how a challenge stands. */
export async function printStatus(client: ApiClient, reference: string, json = false): Promise<void> {
  const standing = await readStanding(client, reference);
  console.log(json ? JSON.stringify(standing) : statusText(standing, pageWidth(process.stdout)));
}

/** The page of a challenge, in lines of at most `width` columns but for its tables. */
export function statusText({ challenge, evaluation }: Standing, width: number): string {
  const now = Date.parse(evaluation.evaluated_at);
  const lines = [
    ...headLines(challenge, now),
    '',
    ...ladderLines(challenge, now),
    ...holdText(challenge),
    armTable(challenge, evaluation),
    ...evaluation.warnings.map((warning) => `Warning: ${warning}`),
    '',
    ...evidenceLines(evaluation, width),
    '',
    challenge.status === 'active' ? 'Before the challenger is recommended' : 'What held at its end',
    ...criteriaLines(evaluation),
    ...conditionLines(evaluation),
    '',
    `Recommendation: ${evaluation.recommendation}`,
    ...adviceText(challenge, evaluation),
  ];
  return lines.map((line) => (isFixed(line) ? line : wrap(line, width))).join('\n');
}

/** Drawings and tables stay as they are. */
function isFixed(line: string): boolean {
  return line === '' || line.startsWith(' ') || line.includes('\n');
}

function headLines(challenge: Challenge, now: number): string[] {
  const { challenge_id, model_name, champion_version, challenger_version } = challenge;
  const { created_at, created_by, ends_at, ended_at } = challenge;
  const left = ended_at ? '' : ` (${timeText(Date.parse(ends_at) - now)} left)`;
  return [
    `${challenge_id} of ${model_name}: version ${challenger_version} against ${champion_version}`,
    `${capital(standingText(challenge))}.`,
    `${minute(created_at)} to ${minute(ended_at ?? ends_at)} UTC${left}, created by ${created_by}`,
  ];
}

const capital = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}`;
const share = (value: number) => `${number(100 * value, 0)} %`;

/** The shares of the challenger's traffic, the one now in brackets, and what the next one waits for. */
function ladderLines(challenge: Challenge, now: number): string[] {
  const { canary_stage, enable_canary, traffic_split, status } = challenge;
  const [toChampion, toChallenger] = traffic_split as [number, number];
  if (toChampion === 1) return [`Traffic: all to the champion, version ${challenge.champion_version}`];
  if (toChallenger === 1) return [`Traffic: all to the challenger, version ${challenge.challenger_version}`];
  if (!enable_canary) return [`Traffic: ${share(toChallenger)} to the challenger, without a canary`];
  const steps = CANARY_STAGES.map(({ name, share: each }) =>
    name === canary_stage ? `[${share(each)}]` : share(each),
  );
  const ladder = `Traffic to the challenger: ${steps.join(' ──▶ ')}`;
  return status === 'active' ? [ladder, nextText(challenge, now)] : [ladder];
}

function nextText({ next_stage: next }: Challenge, now: number): string {
  if (!next) return 'This is the last share.';
  const { not_before, challenger_trades, trades_needed, canary_stage, needs_approval } = next;
  const wait = Date.parse(not_before) - now;
  const to = CANARY_STAGES.find(({ name }) => name === canary_stage)!.share;
  const waits = [
    wait > 0 ? `${timeText(wait)} to wait` : 'time has passed ✓',
    `${number(challenger_trades, 0)} of ${number(trades_needed, 0)} trades of the challenger${challenger_trades >= trades_needed ? ' ✓' : ''}`,
    ...(needs_approval ? ['an approval'] : []),
  ];
  return `Next ${share(to)}: ${waits.join('; ')}`;
}

/** Three digits of the greater of two means. */
function meanUnit(champion: number, challenger: number): number {
  return Math.max(Math.abs(champion), Math.abs(challenger)) / 99 || 1;
}

/** What the challenger came to, and beyond what it is rolled back. */
const limited = (value: string, limit: number | null) =>
  limit === null ? value : `${value} (at most ${limit})`;

type Unrealised = ChallengeEvaluation['unrealised']['champion'];

/** The mean of the open trades that told theirs, and how many did when not all. */
function unrealisedText({ open, marked, mean_pct }: Unrealised): string {
  if (mean_pct === null) return '-';
  return `${signed(mean_pct, 0.01)}${marked < open ? ` of ${number(marked, 0)}` : ''}`;
}

function armTable(challenge: Challenge, evaluation: ChallengeEvaluation): string {
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
      ['Traffic', share(split[0]), share(split[1])],
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

/** The planned look is made once, and so decides by less than what holds after every trade. */
const WIDER = 'The interval may hold 0 all the same: it is made for being looked at after every trade.';

function evidenceLines(evaluation: ChallengeEvaluation, width: number): string[] {
  const { confidence_interval, p_value, p_value_method, is_significant } = evaluation;
  if (!confidence_interval) {
    return ['No interval yet: it takes two closed trades of each arm in a stage.'];
  }
  const [low, high] = confidence_interval as [number, number];
  return [
    'Difference of means, % per trade (95 %, at all times)',
    intervalChart([low, high], width),
    `p-value ${pText(p_value)} (${methodText(p_value_method)})`,
    ...(is_significant && low <= 0 && high >= 0 ? [WIDER] : []),
  ];
}

const CRITERIA: Readonly<Record<string, readonly [name: string, unit: string]>> = {
  p_value: ['p-value', ''],
  improvement_pct: ['improvement', ' %'],
  min_trades: ['closed trades of each arm', ''],
  min_clusters: ['keys of each arm', ''],
  open_trade_gap: ['gap of open trades', ' points'],
};
const OPERATORS = { '<': 'below', '>': 'above', '<=': 'at most', '>=': 'at least' } as const;

function criteriaLines({ criteria }: ChallengeEvaluation): string[] {
  return criteria.map(({ name, operator, threshold, value, passed }) => {
    const [words, unit] = CRITERIA[name] ?? [name, ''];
    const told = name === 'p_value' ? pText(value) : `${number(value, unit ? 1 : 0)}${unit}`;
    return `  ${passed ? '✓' : '✗'} ${words.padEnd(26)} ${told.padEnd(14)} ${OPERATORS[operator]} ${threshold}${unit}`;
  });
}

/** Conditions of the verdict that the criteria do not name, where the platform asks for them. */
function conditionLines({ conditions }: ChallengeEvaluation): string[] {
  const words = { assignments: 'assignments of each arm', hours: 'hours since its creation' } as const;
  return (Object.keys(words) as (keyof typeof words)[])
    .filter((name) => conditions[name].needed > 0)
    .map((name) => {
      const { value, needed, met } = conditions[name];
      const digits = name === 'hours' ? 1 : 0;
      // Cut, as the service does it.
      const text = number(Math.floor(value * 10 ** digits) / 10 ** digits, digits);
      return `  ${met ? '✓' : '✗'} ${words[name].padEnd(26)} ${text.padEnd(14)} at least ${needed}`;
    });
}

/** The evidence in two lines, for who is about to act on it. */
export function evidenceText({ challenge, evaluation }: Standing): string {
  const { champion_trades, challenger_trades } = challenge;
  const { champion_mean, challenger_mean, improvement_pct, p_value, p_value_method } = evaluation;
  const unit = meanUnit(champion_mean, challenger_mean);
  return [
    `Evidence: ${number(champion_trades, 0)} and ${number(challenger_trades, 0)} closed trades, mean ${signed(champion_mean, unit)} % and ${signed(challenger_mean, unit)} %,`,
    `improvement ${percent(improvement_pct, 1)}, p-value ${pText(p_value)} (${methodText(p_value_method)})`,
  ].join('\n');
}
