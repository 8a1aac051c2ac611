import { DEGREES, eachRow, LONG, SHORT, TrendSmoother } from './hilbert.ts';
import { checkPeriod, firstDefined, outputColumn, rollingSum, warmUp } from './windows.ts';

/**
 * Kaufman's adaptive moving average: an exponential average of 2 candles in a trend, of 30 without one. The efficiency is the net
 * change over the sum of all changes of the last `period` candles. First value on row `period`; it starts from the value before.
 * @throws RangeError for a period that is not an integer from 1
 */
export function kama(values: Float64Array, period: number, out?: Float64Array): Float64Array {
  checkPeriod('kama', period);
  const first = firstDefined(values);
  const changes = outputColumn(values.length);
  warmUp(changes, first + 1);
  for (let row = first + 1, { length } = values; row < length; row++)
    changes[row] = Math.abs(values[row]! - values[row - 1]!);
  const result = rollingSum(changes, period, out);
  warmUp(result, first + period);
  if (first + period >= values.length) return result;
  const [fast, slow] = [2 / 3, 2 / 31];
  let average = values[first + period - 1]!;
  for (let row = first + period, { length } = values; row < length; row++) {
    const net = values[row]! - values[row - period]!;
    const sum = result[row]!;
    const efficiency = sum <= net || sum === 0 ? 1 : Math.abs(net / sum);
    const factor = efficiency * (fast - slow) + slow;
    average += (values[row]! - average) * (factor * factor);
    result[row] = average;
  }
  return result;
}

/** Columns of {@link mama}. */
interface AdaptiveAverages {
  readonly mama: Float64Array;
  /** Follows `mama` with half of its speed. */
  readonly fama: Float64Array;
}

/**
 * MESA adaptive moving average and the one that follows it (TA-Lib's MAMA): the faster the phase changes, the slower the average. First
 * value on row 32.
 * @throws RangeError for limits that are not above 0 and at most 1
 */
export function mama(
  values: Float64Array,
  fastLimit = 0.5,
  slowLimit = 0.05,
  out?: AdaptiveAverages,
): AdaptiveAverages {
  if (!(fastLimit > 0 && fastLimit <= 1 && slowLimit > 0 && slowLimit <= 1))
    throw new RangeError(
      `mama: the limits must be above 0 and at most 1, got ${fastLimit} and ${slowLimit}.`,
    );
  const lead = outputColumn(values.length, out?.mama);
  const follow = outputColumn(values.length, out?.fama);
  let [average, following, phaseBefore] = [0, 0, 0];
  eachRow(values, SHORT, (row, { inPhase, quadrature }) => {
    const phase = inPhase === 0 ? 0 : Math.atan(quadrature / inPhase) * DEGREES;
    const change = phaseBefore - phase;
    phaseBefore = phase;
    const factor = change > 1 ? Math.max(fastLimit / change, slowLimit) : fastLimit;
    average = factor * values[row]! + (1 - factor) * average;
    following = 0.5 * factor * average + (1 - 0.5 * factor) * following;
    lead[row] = average;
    follow[row] = following;
  });
  const start = firstDefined(values) + SHORT.output;
  warmUp(lead, start);
  warmUp(follow, start);
  return { mama: lead, fama: follow };
}

/** Instantaneous trendline (TA-Lib's HT_TRENDLINE): mean of the prices of a whole cycle, smoothed. First value on row 63. */
export function trendline(values: Float64Array, out?: Float64Array): Float64Array {
  const result = outputColumn(values.length, out);
  const smoother = new TrendSmoother(values);
  eachRow(values, LONG, (row, { smoothPeriod }) => {
    result[row] = smoother.step(row, smoothPeriod);
  });
  warmUp(result, firstDefined(values) + LONG.output);
  return result;
}
