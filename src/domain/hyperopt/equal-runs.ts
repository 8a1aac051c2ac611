import type { EndedTrial, HyperoptJobIn, TrialIn } from '#contract/hyperopt.ts';
import { groupEqualRuns } from '#engine/search/trials.ts';
import { EXIT_NAMES } from './exit-space.ts';
import type { TrialReturns } from './hyperopt-ports.ts';

type Complete = TrialIn<'complete'>;

/** Share of the complete trials that must repeat another's run before a reader is told. */
const TOLD_SHARE = 0.1;
const MAX_NUMBERS = 10;

export interface EqualRuns {
  readonly distinct: number;
  /** Sentences for the reader; empty when hardly any run is another's. */
  readonly warnings: readonly string[];
}

/**
 * Complete trials of different parameters whose runs are equal to the last bit: objective, windows and daily returns. Parameters
 * that differ among them had no effect.
 */
export function equalRuns(
  { base }: Pick<HyperoptJobIn<'running'>, 'base'>,
  trials: readonly EndedTrial[],
  returns: ReadonlyMap<number, TrialReturns>,
): EqualRuns {
  const originals = trials.filter(
    (trial): trial is Complete => trial.state === 'complete' && trial.same_as === null,
  );
  const groups = groupEqualRuns(originals, returns);
  const repeats = originals.length - groups.length;
  if (repeats === 0 || repeats < TOLD_SHARE * originals.length)
    return { distinct: groups.length, warnings: [] };
  const [largest] = groups.toSorted((a, b) => b.length - a.length);
  const [first, ...others] = largest!.map(({ number }) => number);
  const shown = others.slice(0, MAX_NUMBERS).join(', ');
  const more = others.length > MAX_NUMBERS ? ` and ${others.length - MAX_NUMBERS} more` : '';
  const names = differing(largest!);
  const warning =
    `${repeats} of ${originals.length} complete trials traded exactly as an earlier one with other parameters: ` +
    `trial${others.length > 1 ? 's' : ''} ${shown}${more} as trial ${first}. Without effect among them: ${names.join(', ')}.`;
  const gate = base.ml_engine?.entry_threshold ?? null;
  const isModelAlone = names.every((name) => MODEL.includes(name));
  return {
    distinct: groups.length,
    warnings: [
      gate !== null && isModelAlone
        ? `${warning} ${base.strategy} does not read predictions: a model only holds back entries that it rates below entry_threshold ${gate}. Search the strategy itself with models: none.`
        : warning,
    ],
  };
}

const MODEL = ['model_type', 'n_estimators', 'learning_rate'];

/** Names of the parameters that are not the same in all of the trials, as a backtest's configuration has them. */
function differing([first, ...others]: readonly Complete[]): string[] {
  const names = Object.keys(first!.params).filter((name) =>
    others.some(({ params }) => params[name] !== first!.params[name]),
  );
  const found = new Set(names.map(configName));
  return [...MODEL.filter((name) => found.delete(name)), ...[...found].sort()];
}

/** `exit.roi_t1` is a part of `minimal_roi`. */
function configName(name: string): string {
  const [, space] = /^exit\.([a-z]+)/.exec(name) ?? [];
  return (space && EXIT_NAMES[space as keyof typeof EXIT_NAMES]) || name;
}
