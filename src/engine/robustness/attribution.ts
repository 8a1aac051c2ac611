import type { BenchmarkAttribution } from '#contract/backtests/report-robustness.ts';
import { studentQuantile, studentTwoSidedP } from '../stats/distributions.ts';
import { deviation, finite, mean, ratio } from '../stats/moments.ts';
import { neweyWest } from './newey-west.ts';

const YEAR = 365;
const YEAR_ROOT = Math.sqrt(YEAR);

type Figures = Omit<BenchmarkAttribution, 'benchmark' | 'pair' | 'reason'>;

export const NO_ATTRIBUTION: Figures = {
  days: null,
  lag: null,
  benchmark_return_pct: null,
  alpha_pct: null,
  alpha_low_pct: null,
  alpha_high_pct: null,
  alpha_p_value: null,
  beta: null,
  beta_low: null,
  beta_high: null,
  information_ratio: null,
  up_capture_pct: null,
  down_capture_pct: null,
  beta_neutral_sharpe_ratio: null,
};

/**
 * Regression of daily returns on those of a benchmark.
 *
 * @returns undefined when the benchmark does not vary
 */
export function attribute(returns: Float64Array, benchmark: Float64Array): Figures | undefined {
  const line = neweyWest(returns, benchmark);
  if (!line) return undefined;
  const { alpha, beta, alphaError, betaError, lag, observations } = line;
  const width = studentQuantile(0.975, observations - 2);
  const active = returns.map((each, day) => each - benchmark[day]!);
  const neutral = returns.map((each, day) => each - beta * benchmark[day]!);
  return {
    days: observations,
    lag,
    benchmark_return_pct: (compound(benchmark) - 1) * 100,
    alpha_pct: alpha * YEAR * 100,
    alpha_low_pct: (alpha - width * alphaError) * YEAR * 100,
    alpha_high_pct: (alpha + width * alphaError) * YEAR * 100,
    alpha_p_value: alphaError > 0 ? studentTwoSidedP(alpha / alphaError, observations - 2) : null,
    beta,
    beta_low: beta - width * betaError,
    beta_high: beta + width * betaError,
    information_ratio: ratio(mean(active) * YEAR_ROOT, deviation(active, 'population')),
    up_capture_pct: capture(returns, benchmark, (each) => each > 0),
    down_capture_pct: capture(returns, benchmark, (each) => each < 0),
    beta_neutral_sharpe_ratio: ratio(mean(neutral) * YEAR_ROOT, deviation(neutral, 'population')),
  };
}

function compound(returns: ArrayLike<number>): number {
  let growth = 1;
  for (let day = 0; day < returns.length; day++) growth *= 1 + returns[day]!;
  return growth;
}

/** Geometric mean return on the selected days of the benchmark, over that of the benchmark, percent. */
function capture(
  returns: Float64Array,
  benchmark: Float64Array,
  selects: (benchmarkReturn: number) => boolean,
): number | null {
  const daily = (values: Float64Array) => {
    const selected = values.filter((_, day) => selects(benchmark[day]!));
    return compound(selected) ** (1 / selected.length) - 1;
  };
  const share = ratio(daily(returns), daily(benchmark));
  return share === null ? null : finite(share * 100);
}
