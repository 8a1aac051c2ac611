import type { BacktestConfigRequest } from '#contract/backtests/backtest-api.ts';
import { ROBUSTNESS_LIMITS, RobustnessRequest, type RobustnessTests } from '#contract/config/robustness.ts';
import { CodedError } from '#contract/values/errors.ts';
import { checkNumber } from '../shared/validate.ts';

export const ROBUSTNESS_KEYS = Object.keys(RobustnessRequest.shape);

/** The tests that a request asks for; without any the field is absent. Throws VAL004 or VAL005. */
export function resolveRobustness(input: BacktestConfigRequest['robustness']): {
  robustness?: RobustnessTests;
} {
  const { cost_sweep, random_entries, permutations, capacity } = input ?? {};
  const count = (name: keyof typeof ROBUSTNESS_LIMITS, value: number | undefined) =>
    value === undefined
      ? {}
      : { [name]: checkNumber(value, `config.robustness.${name}`, ROBUSTNESS_LIMITS[name]) };
  const robustness = {
    ...flag('cost_sweep', cost_sweep),
    ...count('random_entries', random_entries),
    ...count('permutations', permutations),
    ...flag('capacity', capacity),
  };
  return Object.keys(robustness).length === 0 ? {} : { robustness };
}

function flag(name: 'cost_sweep' | 'capacity', value: unknown = false) {
  if (typeof value === 'boolean') return value ? { [name]: value } : {};
  const field = `config.robustness.${name}`;
  throw new CodedError('VAL005', { message: `${field} must be true or false`, field, context: {} });
}
