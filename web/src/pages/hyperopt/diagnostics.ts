import LIMITS from 'virtual:limits';
import type { ResponseOf } from '../../api/client.ts';
import { decimal, NO_VALUE } from '../../ui/format.ts';

type Result = ResponseOf<'getHyperoptResult'>;
type Overfitting = Result['overfitting'];

export type Assessment = 'good' | 'uncertain' | 'bad' | 'undefined';

export interface Diagnostic {
  readonly name: string;
  readonly value: string;
  readonly assessment: Assessment;
  /** What the value says, or why there is none. */
  readonly meaning: string;
  readonly bounds: string;
}

interface Bounds {
  readonly good: number;
  readonly bad: number;
}

/** Beyond `good` or `bad`, in the direction from one to the other. */
function assess(value: number | null | undefined, { good, bad }: Bounds): Assessment {
  if (value === null || value === undefined) return 'undefined';
  const sign = Math.sign(good - bad);
  if (sign * (value - good) >= 0) return 'good';
  return sign * (value - bad) <= 0 ? 'bad' : 'uncertain';
}

function boundsText({ good, bad }: Bounds): string {
  return good > bad ? `good from ${good}, bad up to ${bad}` : `good up to ${good}, bad from ${bad}`;
}

const percent = (value: number) => `${decimal(100 * value, 0)} %`;
const shown = (value: number | null | undefined) =>
  value === null || value === undefined ? NO_VALUE : decimal(value, 3);

/** How far the best trial can be believed, one entry per test. */
export function diagnosticsOf(
  { overfitting, permutations }: Pick<Result, 'overfitting' | 'permutations'>,
  isTrained: boolean,
): readonly Diagnostic[] {
  const { deflated_sharpe_ratio: deflated, trials, effective_trials, pbo, plateau } = overfitting;
  const bounds = LIMITS.overfitting;
  const effective =
    effective_trials === null ? '' : `, which count as ${decimal(effective_trials, 1)} independent ones`;
  const efficiency = overfitting.walk_forward_efficiency;
  const isTooGood = efficiency !== null && efficiency > bounds.walk_forward_efficiency.max;
  return [
    {
      name: 'Deflated Sharpe ratio',
      value: shown(deflated),
      assessment: assess(deflated, bounds.deflated_sharpe_ratio),
      bounds: boundsText(bounds.deflated_sharpe_ratio),
      meaning:
        deflated === null
          ? 'Not defined: the daily returns do not vary, are too few, or are equal in all trials.'
          : `${percent(deflated)} probability that the Sharpe ratio is above the best one expected of ${trials} trials without any skill${effective}.`,
    },
    {
      name: 'Probability of backtest overfitting',
      value: shown(pbo?.probability),
      assessment: assess(pbo?.probability, bounds.pbo),
      bounds: boundsText(bounds.pbo),
      meaning: pbo
        ? `In ${percent(pbo.probability)} of ${decimal(pbo.splits, 0)} ways to halve the days, the best trial of one half is at or below the median on the other. In ${percent(pbo.loss_probability)} it loses there.`
        : 'Not defined: it needs ten days and two complete trials.',
    },
    ...(isTrained
      ? [
          {
            name: 'Walk-forward efficiency',
            value: shown(efficiency),
            assessment: isTooGood
              ? ('uncertain' as const)
              : assess(efficiency, bounds.walk_forward_efficiency),
            bounds: boundsText(bounds.walk_forward_efficiency),
            meaning:
              efficiency === null
                ? 'Not defined: no profit on the days that the models were trained on.'
                : `The return out of sample is ${percent(efficiency)} of that on the training days${isTooGood ? ', more than skill explains' : ''}.`,
          },
        ]
      : []),
    {
      name: 'Plateau around the best',
      value: shown(plateau?.width),
      assessment: assess(plateau?.width, bounds.plateau_width),
      bounds: boundsText(bounds.plateau_width),
      meaning: plateau
        ? `Parameters can move by ${percent(plateau.width)} of their ranges before the value drops; ${plateau.trials} complete trials are that near.`
        : 'Not defined: it needs ten complete trials.',
    },
    trackRecord(overfitting),
    ...(permutations ? [permutedSearches(permutations)] : []),
  ];
}

function permutedSearches({
  p_value,
  searches,
  chance,
  reason,
}: NonNullable<Result['permutations']>): Diagnostic {
  const bounds = LIMITS.overfitting.permutations;
  return {
    name: 'P-value against permuted searches',
    value: shown(p_value),
    assessment: assess(p_value, bounds),
    bounds: boundsText(bounds),
    meaning: chance
      ? `The same search ran on ${decimal(searches, 0)} permutations of the candles, which have no patterns. Nine in ten of them find a best value from ${shown(chance.low)} to ${shown(chance.high)}.`
      : `Not defined: ${reason}.`,
  };
}

function trackRecord({ min_track_record_days: needed, days }: Overfitting): Diagnostic {
  const enough = needed !== null && needed <= days;
  return {
    name: 'Track record',
    value: `${decimal(days, 0)} d`,
    assessment: needed === null ? 'undefined' : enough ? 'good' : needed > 3 * days ? 'bad' : 'uncertain',
    bounds: 'good when at least as long as needed',
    meaning:
      needed === null
        ? 'Not defined: the Sharpe ratio is not above 0.'
        : `${decimal(needed, 0)} days are needed for 95 % confidence in a Sharpe ratio above 0; the run has ${decimal(days, 0)}.`,
  };
}
