import type { TrialParams } from '#contract/hyperopt/hyperopt.ts';
import type { FoundParams } from '#contract/hyperopt/hyperopt-api.ts';
import { exitsOf, isExit } from './exit-space.ts';

const FIRST = ['model_type', 'n_estimators', 'learning_rate'];

/**
 * A trial's parameters in the shapes that a backtest's configuration takes: those of the model, then the strategy's by name, then
 * the exits'. The database keeps no order of keys.
 */
export function foundParams(params: TrialParams): FoundParams {
  const place = (name: string) => (FIRST.includes(name) ? `0${FIRST.indexOf(name)}` : `1${name}`);
  const own = Object.entries(params)
    .filter(([name]) => !isExit(name))
    .sort(([a], [b]) => (place(a) < place(b) ? -1 : 1));
  return { ...Object.fromEntries(own), ...exitsOf(params) } as FoundParams;
}
