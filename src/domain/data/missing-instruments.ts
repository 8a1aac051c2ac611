import { BACKTEST_LIMITS } from '#contract/values/backtest-limits.ts';
import { CodedError } from '#contract/values/errors.ts';
import { listNames } from '#contract/values/list-names.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';

/** Error that lists the pairs without a stored instrument and says how to collect them. */
export function noInstruments(
  code: 'VAL005' | 'DATA001',
  exchange: string,
  missing: readonly string[],
): CodedError {
  return new CodedError(code, {
    message: `config.precision exchange needs the instruments of ${listNames(missing)} on ${exchange}, which are not stored. Collect them with the candles (${TOUCHSTONE} collect, POST /api/v1/collections of data collection), or set config.precision to none`,
    field: 'config.precision',
    context: { exchange, missing: missing.slice(0, BACKTEST_LIMITS.pairs.max) },
  });
}
