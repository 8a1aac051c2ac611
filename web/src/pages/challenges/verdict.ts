import type { ResponseOf } from '../../api/client.ts';
import { decimal, words } from '../../ui/format.ts';
import type { Challenge } from './search.ts';

export type Evaluation = ResponseOf<'evaluateChallenge'>;

export interface Headline {
  readonly text: string;
  readonly tone?: 'up' | 'down' | 'warn';
}

const ROLLBACKS: Readonly<Record<string, string>> = {
  harm: 'the challenger was significantly worse',
  max_drawdown: 'the challenger exceeded its drawdown limit',
  errors: 'the challenger exceeded its error limit',
  manual: 'by hand',
  champion_replaced: 'another version entered Production',
};

/** What the challenge says, in one sentence that fits its state and its trades. */
export function headlineOf(challenge: Challenge, evaluation: Evaluation): Headline {
  return challenge.status === 'active' ? openHeadline(evaluation) : endedHeadline(challenge, evaluation);
}

/** Difference of the means with its sign; empty while a version has no closed trade. */
export function differenceText(evaluation: Evaluation): string {
  if (versionWithoutTrades(evaluation)) return '';
  const difference = evaluation.challenger_mean - evaluation.champion_mean;
  return `${difference > 0 ? '+' : ''}${decimal(difference, 3)} pp a trade`;
}

/** The versions without a closed trade, as the subject of a sentence; undefined if both have some. */
export function versionWithoutTrades({ champion_trades, challenger_trades }: Evaluation): string | undefined {
  if (champion_trades === 0 && challenger_trades === 0) return 'neither version has a closed trade';
  if (champion_trades === 0) return 'the champion has no closed trade';
  if (challenger_trades === 0) return 'the challenger has no closed trade';
  return undefined;
}

function openHeadline(evaluation: Evaluation): Headline {
  const missing = versionWithoutTrades(evaluation);
  if (missing) return { text: `Nothing to compare yet: ${missing}` };
  const difference = differenceText(evaluation);
  const unmet = Object.entries(evaluation.conditions).filter(([, { met }]) => !met);
  if (unmet.length > 0) {
    const waits = unmet.map(
      ([name, { value, needed }]) => `${decimal(value, 0)} of ${decimal(needed, 0)} ${name}`,
    );
    return { text: `Too early to decide: ${waits.join(', ')}. So far ${difference}` };
  }
  if (!evaluation.is_significant) {
    return { text: `No difference is shown yet: ${difference}, p-value ${decimal(evaluation.p_value, 4)}` };
  }
  return evaluation.challenger_mean > evaluation.champion_mean
    ? { text: `The challenger is better, but not by every criterion below: ${difference}`, tone: 'warn' }
    : { text: `The champion is better: ${difference}`, tone: 'down' };
}

function endedHeadline(challenge: Challenge, evaluation: Evaluation): Headline {
  const { status, outcome, reason, promoted_at } = challenge;
  const difference = differenceText(evaluation);
  const by = difference && `: ${difference}`;
  if (status === 'rolled_back') {
    return { text: `Rolled back: ${ROLLBACKS[reason ?? ''] ?? words(reason ?? 'no reason')}`, tone: 'down' };
  }
  if (outcome === 'challenger_wins') {
    const end = promoted_at === null ? 'waits for its promotion' : 'was promoted';
    return { text: `The challenger has won and ${end}${by}`, tone: 'up' };
  }
  if (outcome === 'promoted_manually') {
    return { text: `The challenger was promoted by hand, without a verdict${by}`, tone: 'warn' };
  }
  if (outcome === 'champion_wins') return { text: `The champion has won${by}`, tone: 'down' };
  if (outcome === 'champion_kept') {
    return {
      text: `The champion stays${reason ? `: ${ROLLBACKS[reason] ?? words(reason)}` : by}`,
      tone: 'down',
    };
  }
  return { text: `Ended without a verdict${by}` };
}

/** What a verdict needs and what there is. */
export interface Requirement {
  readonly name: string;
  readonly now: string;
  readonly needs: string;
  readonly isMet: boolean;
  /** The figure says nothing, although it is there. */
  readonly isVoid?: boolean;
}

const CRITERIA: Readonly<Record<string, string>> = {
  p_value: 'p-value',
  improvement_pct: 'Improvement',
  min_trades: 'Trades of each version',
  min_clusters: 'Keys of each version',
};
const NEEDS = { '<': 'below', '>': 'over', '<=': 'at most', '>=': 'at least' } as const;

/** The requirements of a verdict. Conditions that ask for nothing are left out. */
export function requirementsOf(evaluation: Evaluation): readonly Requirement[] {
  const { conditions, criteria, warnings } = evaluation;
  const hasTrades = versionWithoutTrades(evaluation) === undefined;
  const isBaselineNearZero = warnings.some((warning) => warning.startsWith('baseline_near_zero'));
  const counts = Object.entries(conditions)
    // The criteria have the trades too.
    .filter(([name, { needed }]) => needed > 0 && name !== 'trades')
    .map(([name, { value, needed, met }]) => ({
      name: name === 'hours' ? 'Hours' : 'Assignments of each version',
      now: decimal(value, 0),
      needs: `at least ${decimal(needed, 0)}`,
      isMet: met,
    }));
  const figures = criteria
    .filter(({ name }) => name in CRITERIA)
    .map(({ name, operator, threshold, value, passed }) => {
      const isCount = name.startsWith('min_');
      const unit = name === 'improvement_pct' ? ' %' : '';
      const digits = isCount ? 0 : unit ? 2 : 4;
      const isKnown = isCount || hasTrades;
      return {
        name: CRITERIA[name]!,
        now: isKnown ? `${decimal(value, digits)}${unit}` : 'no trades yet',
        needs: `${NEEDS[operator]} ${decimal(threshold, Number.isInteger(threshold) ? 0 : 2)}${unit}`,
        isMet: isKnown && passed,
        isVoid: isBaselineNearZero && name === 'improvement_pct',
      };
    });
  return [...figures, ...counts];
}
