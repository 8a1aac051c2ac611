import { normalCdf, normalQuantile } from './distributions.ts';
import { deviation, mean } from './moments.ts';

const EULER_GAMMA = 0.5772156649015329;

/** A Sharpe ratio with what its uncertainty depends on. Everything is per period of the returns: nothing annualized. */
interface SharpeSample {
  /** Mean of the returns by their standard deviation. */
  readonly sharpe: number;
  /** How many returns. */
  readonly periods: number;
  readonly skewness: number;
  /** Raw: 3 for the normal distribution. */
  readonly kurtosis: number;
}

/** The Sharpe ratio of returns and their shape; undefined of fewer than 2 returns or of returns that do not vary. */
export function sharpeSample(returns: ArrayLike<number>): SharpeSample | undefined {
  const periods = returns.length;
  const centre = mean(returns);
  let second = 0;
  let third = 0;
  let fourth = 0;
  for (let i = 0; i < periods; i++) {
    const off = returns[i]! - centre;
    second += off * off;
    third += off ** 3;
    fourth += off ** 4;
  }
  // Equal returns leave rounding errors of their mean behind.
  if (periods < 2 || !(second > periods * (1e-12 * centre) ** 2)) return undefined;
  const variance = second / periods;
  return {
    sharpe: centre / Math.sqrt(second / (periods - 1)),
    periods,
    skewness: third / periods / variance ** 1.5,
    kurtosis: fourth / periods / variance ** 2,
  };
}

/**
 * Probabilistic Sharpe ratio: how sure it is that the true Sharpe ratio is above `benchmark` (per period),
 * Phi((SR - SR*) sqrt(T - 1) / sqrt(1 - skew SR + (kurt - 1) / 4 SR^2)).
 * Bailey and Lopez de Prado, The Sharpe Ratio Efficient Frontier, J. of Risk 15(2), 2012; the error is Mertens's (2002).
 *
 * @returns 0 to 1; null with fewer than 2 periods, or where the shape leaves the ratio no uncertainty
 */
export function probabilisticSharpe(sample: SharpeSample, benchmark = 0): number | null {
  const spread = unitVariance(sample);
  if (sample.periods < 2 || !(spread > 0)) return null;
  return normalCdf(((sample.sharpe - benchmark) * Math.sqrt(sample.periods - 1)) / Math.sqrt(spread));
}

/**
 * Minimum track record length: periods needed until the Sharpe ratio is above `benchmark` at this confidence,
 * 1 + (1 - skew SR + (kurt - 1) / 4 SR^2) (z / (SR - SR*))^2 (same source).
 *
 * @returns not whole; null when the ratio is not above the benchmark: no length is enough
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
 * The largest Sharpe ratio to be expected of `trials` strategies without skill:
 * SR0 = sqrt(V) ((1 - g) Phi^-1(1 - 1/N) + g Phi^-1(1 - 1/(N e))), g Euler's constant.
 * Bailey and Lopez de Prado, The Deflated Sharpe Ratio, J. of Portfolio Management 40(5), 2014.
 *
 * @param variance of the trials' Sharpe ratios, per period
 * @param trials how many were tried, 1 or more; need not be whole (see `effectiveTrials`). One trial is no selection: 0
 */
export function expectedMaximumSharpe(variance: number, trials: number): number {
  if (!(trials > 1)) return 0;
  const typical = -normalQuantile(1 / trials);
  const extreme = -normalQuantile(1 / (trials * Math.E));
  return Math.sqrt(variance) * ((1 - EULER_GAMMA) * typical + EULER_GAMMA * extreme);
}

/**
 * Deflated Sharpe ratio: {@link probabilisticSharpe} of the selected trial against what the best of as many trials without
 * skill would show. `trials` counts every trial that was run, also those that were stopped or failed.
 */
export function deflatedSharpe(
  sample: SharpeSample,
  selection: { readonly variance: number; readonly trials: number },
): number | null {
  return probabilisticSharpe(sample, expectedMaximumSharpe(selection.variance, selection.trials));
}

/**
 * As how many independent trials N correlated ones count: rho + (1 - rho) N (same source, appendix 3).
 *
 * @param correlation the mean correlation between two trials' returns; below 0 it counts as 0
 */
export function effectiveTrials(trials: number, correlation: number): number {
  const rho = Math.min(1, Math.max(0, correlation));
  return rho + (1 - rho) * trials;
}

/** The variance of a Sharpe ratio's estimate, times the periods less one. */
function unitVariance({ sharpe, skewness, kurtosis }: SharpeSample): number {
  return 1 - skewness * sharpe + ((kurtosis - 1) / 4) * sharpe * sharpe;
}

/**
 * Mean correlation between two different series, over all pairs, in one pass over the data: of the standardised series the
 * squared sum holds all pairs at once.
 *
 * @param series of one length; those that do not vary are left out
 * @returns null with fewer than two series that vary
 */
export function meanCorrelation(series: readonly ArrayLike<number>[]): number | null {
  const length = series[0]?.length ?? 0;
  const total = new Float64Array(length);
  let count = 0;
  for (const values of series) {
    const spread = deviation(values, 'population');
    if (!(spread > 0)) continue;
    const centre = mean(values);
    for (let i = 0; i < length; i++) total[i]! += (values[i]! - centre) / spread;
    count++;
  }
  if (count < 2) return null;
  const squares = total.reduce((sum, value) => sum + value * value, 0);
  return (squares / length - count) / (count * (count - 1));
}
