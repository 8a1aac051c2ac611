import type { ResolvedBacktestConfig } from '#contract/backtest.ts';
import { CodedError } from '#contract/errors.ts';
import type { HyperoptJobConfig, SearchedParameter } from '#contract/hyperopt.ts';
import { historyStartOf } from '#engine/run/history.ts';
import type { KnownStrategy } from '../strategy-ports.ts';

type Values = ResolvedBacktestConfig['params'];

/** Each may take the time limit of `startupCandles`: a strategy that hangs must not hold the request for a minute. */
const MAX_FAILURES = 3;

/**
 * Time from which the trials of a hyperopt job need candles, ms: the earliest for any values that are searched. `startupCandles` is a
 * function of all parameters together and is not asked for every combination: it is asked for the smallest and the largest
 * values, and from the worst of these on for each parameter by turns, all its choices or both ends of its range. That is exact
 * where no parameter changes the direction in which another one works.
 * Throws VAL006 when the strategy cannot answer for `params` of the configuration.
 */
export async function firstCandle(
  { definition, startupCandles }: KnownStrategy,
  { params, timeframe, date_range, ml_engine }: ResolvedBacktestConfig,
  search: HyperoptJobConfig['search'],
): Promise<number> {
  const start = Date.parse(date_range.start);
  const firstOf = async (values: Values) =>
    historyStartOf(definition, await startupCandles(values), timeframe, start, ml_engine);
  const first = { values: params, from: await firstOf(params) };
  let failures = 0;
  const tryValues = async (values: Values) => {
    if (failures === MAX_FAILURES) return;
    try {
      const from = await firstOf(values);
      if (from < first.from) Object.assign(first, { values, from });
    } catch (error) {
      // Trials with such parameters will fail and say why.
      if (!(error instanceof CodedError && error.code === 'VAL006')) throw error;
      failures += 1;
    }
  };
  const searched = Object.entries(search).map(([name, each]) => ({ name, values: extremes(each) }));
  const all = (at: number) => Object.fromEntries(searched.map(({ name, values }) => [name, values.at(at)!]));
  await tryValues({ ...params, ...all(0) });
  await tryValues({ ...params, ...all(-1) });
  for (const { name, values } of searched) {
    for (const value of values) {
      if (first.values[name] !== value) await tryValues({ ...first.values, [name]: value });
    }
  }
  return first.from;
}

function extremes(searched: SearchedParameter): readonly (string | number | boolean)[] {
  return searched.kind === 'choice' ? searched.choices : [searched.min, searched.max];
}
