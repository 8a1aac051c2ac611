import { normalCdf, normalQuantile } from './distributions.ts';
import { deviation, mean } from './moments.ts';

const EULER_GAMMA = 0.5772156649015329;

/** Sharpe ratio and the moments that determine its standard error. All values are per period of the returns, not annualized. */
export interface SharpeSample {
  /** Mean of the returns divided by their standard deviation. */
  readonly sharpe: number;
  /** Number of returns. */
  readonly periods: number;
  readonly skewness: number;
  /** Raw kurtosis: 3 for the normal distribution. */
  readonly kurtosis: number;
}

/** Sharpe ratio, skewness and kurtosis of returns; undefined for fewer than 2 returns or for returns that do not vary. */
export function sharpeSample(returns: ArrayLike<number>): SharpeSample | undefined {
  const periods = returns.length;
  const center = mean(returns);
  let second = 0;
  let third = 0;
  let fourth = 0;
  for (let i = 0; i < periods; i++) {
    const off = returns[i]! - center;
    second += off * off;
    third += off ** 3;
    fourth += off ** 4;
  }
  // Equal returns differ from their mean by rounding errors.
  if (periods < 2 || !(second > periods * (1e-12 * center) ** 2)) return undefined;
  const variance = second / periods;
  return {
    sharpe: center / Math.sqrt(second / (periods - 1)),
    periods,
    skewness: third / periods / variance ** 1.5,
    kurtosis: fourth / periods / variance ** 2,
  };
}

/**
 * Probabilistic Sharpe ratio: probability that the true Sharpe ratio is above `benchmark` (per period),
 * Phi((SR - SR*) sqrt(T - 1) / sqrt(1 - skew SR + (kurt - 1) / 4 SR^2)).
 * Bailey and Lopez de Prado, The Sharpe Ratio Efficient Frontier, J. of Risk 15(2), 2012; standard error after Mertens (2002).
 *
 * @returns 0 to 1; null with fewer than 2 periods, or when the variance of the estimate is not positive
 */
export function probabilisticSharpe(sample: SharpeSample, benchmark = 0): number | null {
  const spread = unitVariance(sample);
  if (sample.periods < 2 || !(spread > 0)) return null;
  return normalCdf(((sample.sharpe - benchmark) * Math.sqrt(sample.periods - 1)) / Math.sqrt(spread));
}

/**
 * Confidence interval of the Sharpe ratio, per period: SR +- z sqrt((1 - skew SR + (kurt - 1) / 4 SR^2) / (T - 1)) (same source).
 *
 * @returns null with fewer than 2 periods, or when the variance of the estimate is not positive
 */
export function sharpeInterval(sample: SharpeSample, confidence = 0.95): readonly [number, number] | null {
  const error = sharpeError(sample);
  if (error === null) return null;
  const width = normalQuantile((1 + confidence) / 2) * error;
  return [sample.sharpe - width, sample.sharpe + width];
}

/**
 * Standard error of the Sharpe ratio, per period (same source).
 *
 * @returns null with fewer than 2 periods, or when the variance of the estimate is not positive
 */
export function sharpeError(sample: SharpeSample): number | null {
  const spread = unitVariance(sample);
  if (sample.periods < 2 || !(spread > 0)) return null;
  return Math.sqrt(spread / (sample.periods - 1));
}

/**
 * Minimum track record length: number of periods until the Sharpe ratio is above `benchmark` at this confidence.
 * 1 + (1 - skew SR + (kurt - 1) / 4 SR^2) (z / (SR - SR*))^2 (same source).
 *
 * @returns not an integer; null when the ratio is not above the benchmark: no length is enough
 */
export function minimumTrackRecord(
  sample: SharpeSample,
  { confidence = 0.95, benchmark = 0 }: { confidence?: number; benchmark?: number } = {},
): number | null {
  if (!(sample.sharpe > benchmark)) return null;
  const z = normalQuantile(confidence) / (sample.sharpe - benchmark);
  return 1 + unitVariance(sample) * z * z;
}

/**
 * Expected maximum Sharpe ratio of `trials` strategies without skill:
 * SR0 = sqrt(V) ((1 - g) Phi^-1(1 - 1/N) + g Phi^-1(1 - 1/(N e))), g Euler's constant.
 * Bailey and Lopez de Prado, The Deflated Sharpe Ratio, J. of Portfolio Management 40(5), 2014.
 *
 * @param variance of the trials' Sharpe ratios, per period
 * @param trials number of trials, 1 or more; need not be an integer (see `effectiveTrials`). 0 for one trial: no selection
 */
export function expectedMaximumSharpe(variance: number, trials: number): number {
  if (!(trials > 1)) return 0;
  const typical = -normalQuantile(1 / trials);
  const extreme = -normalQuantile(1 / (trials * Math.E));
  return Math.sqrt(variance) * ((1 - EULER_GAMMA) * typical + EULER_GAMMA * extreme);
}

/** Daily returns from which a probabilistic or deflated Sharpe ratio is given: fewer prove nothing, whatever they are. */
export const MIN_PROBABILITY_DAYS = 30;

/**
 * Variance of trials' Sharpe ratios by which a run is deflated: at most that of ratios without skill, 1 / (n - 1). A trial of a few days,
 * or one that lost everything, has a ratio far from the others and would raise it.
 *
 * @param variance sample variance of the trials' Sharpe ratios, per period
 * @param periods number of returns of the run, 2 or more
 */
export function selectionVariance(variance: number, periods: number): number {
  return Math.min(variance, 1 / (periods - 1));
}

/**
 * Deflated Sharpe ratio: {@link probabilisticSharpe} of the selected trial, with the expected maximum Sharpe ratio of as
 * many trials without skill as the benchmark. `trials` counts every trial that was run, including pruned and failed ones.
 */
export function deflatedSharpe(
  sample: SharpeSample,
  selection: { readonly variance: number; readonly trials: number },
): number | null {
  return probabilisticSharpe(sample, expectedMaximumSharpe(selection.variance, selection.trials));
}

/**
 * Effective number of independent trials among N correlated ones: rho + (1 - rho) N (same source, appendix 3).
 *
 * @param correlation mean correlation between two trials' returns; a negative value counts as 0
 */
export function effectiveTrials(trials: number, correlation: number): number {
  const rho = Math.min(1, Math.max(0, correlation));
  return rho + (1 - rho) * trials;
}

/** Variance of the estimated Sharpe ratio, times the number of periods minus one. */
function unitVariance({ sharpe, skewness, kurtosis }: SharpeSample): number {
  return 1 - skewness * sharpe + ((kurtosis - 1) / 4) * sharpe * sharpe;
}

/**
 * Mean correlation between two different series, over all pairs. One pass over the data suffices: the square of the sum of
 * the standardized series contains the products of all pairs.
 *
 * @param series all of one length; series that do not vary are left out
 * @returns null with fewer than two series that vary
 */
export function meanCorrelation(series: readonly ArrayLike<number>[]): number | null {
  const length = series[0]?.length ?? 0;
  const total = new Float64Array(length);
  let count = 0;
  for (const values of series) {
    const spread = deviation(values, 'population');
    if (!(spread > 0)) continue;
    const center = mean(values);
    for (let i = 0; i < length; i++) total[i]! += (values[i]! - center) / spread;
    count++;
  }
  if (count < 2) return null;
  const squares = total.reduce((sum, value) => sum + value * value, 0);
  return (squares / length - count) / (count * (count - 1));
}
