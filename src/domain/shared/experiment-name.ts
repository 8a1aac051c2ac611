import { BACKTEST_LIMITS } from '#contract/values/backtest-limits.ts';
import { CodedError } from '#contract/values/errors.ts';

/** The name; null when undefined. Throws VAL005 when it is empty or too long. */
export function checkExperimentName(name: string | undefined): string | null {
  if (name === undefined) return null;
  const { min, max } = BACKTEST_LIMITS.experiment_name;
  if (name.length < min || name.length > max) {
    throw new CodedError('VAL005', {
      message: `experiment_name must be ${min} to ${max} characters`,
      field: 'experiment_name',
      context: { length: name.length, max },
    });
  }
  return name;
}
