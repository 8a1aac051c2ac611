import type { Interval, ReportRobustness } from '#contract/backtests/report-robustness.ts';
import { createRandom, type Random } from '../random.ts';
import { finite } from '../stats/moments.ts';

type Bootstrap = Omit<ReportRobustness['bootstrap'], 'reason'>;

const SAMPLES = 500;
/** Longer runs draw fewer samples, so that the bootstrap takes a bounded time. */
const MAX_DAYS_DRAWN = 250_000;
const MIN_SAMPLES = 100;

export const NO_BOOTSTRAP: Bootstrap = {
  samples: 0,
  mean_block_days: null,
  cagr_pct: null,
  max_drawdown_pct: null,
  time_under_water_pct: null,
};

/**
 * Stationary bootstrap (Politis and Romano, JASA 89, 1994) of daily returns: blocks of geometric length with a mean of T^(1/3)
 * days, from uniform starts, that continue at the first day after the last. It shows the luck of the path, not whether the
 * returns will last.
 *
 * @param returns of each day as ratios, at least one
 */
export function bootstrap(returns: Float64Array, seed: number): Bootstrap {
  const days = returns.length;
  const samples = Math.max(MIN_SAMPLES, Math.min(SAMPLES, Math.floor(MAX_DAYS_DRAWN / days)));
  const block = Math.ceil(Math.cbrt(days));
  const random = createRandom(seed);
  const growth = new Float64Array(samples);
  const falls = new Float64Array(samples);
  const below = new Float64Array(samples);
  const path = { growth: 1, fall: 0, below: 0 };
  for (let i = 0; i < samples; i++) {
    drawPath(returns, block, random, path);
    growth[i] = path.growth > 0 ? (path.growth ** (365 / days) - 1) * 100 : -100;
    falls[i] = path.fall * 100;
    below[i] = (path.below / days) * 100;
  }
  return {
    samples,
    mean_block_days: block,
    cagr_pct: intervalOf(growth),
    max_drawdown_pct: intervalOf(falls),
    time_under_water_pct: intervalOf(below),
  };
}

/** Final equity from 1, largest lost share of a peak and days below a peak of one sample. */
function drawPath(
  returns: Float64Array,
  block: number,
  random: Random,
  path: { growth: number; fall: number; below: number },
): void {
  const days = returns.length;
  const decay = block > 1 ? 1 / Math.log(1 - 1 / block) : 0;
  let equity = 1;
  let peak = 1;
  let lowest = 1;
  let below = 0;
  let left = 0;
  let day = 0;
  for (let i = 0; i < days; i++) {
    if (left === 0) {
      day = Math.floor(random() * days);
      // Length of a block: geometric with mean `block`.
      left = 1 + Math.floor(Math.log(1 - random()) * decay);
    }
    left--;
    // A day can lose more than the account: a ruined one stays so.
    equity *= 1 + returns[day]!;
    if (equity < 0) equity = 0;
    day = day + 1 === days ? 0 : day + 1;
    if (equity >= peak) peak = equity;
    else {
      below++;
      const share = equity / peak;
      if (share < lowest) lowest = share;
    }
  }
  path.growth = equity;
  path.fall = 1 - lowest;
  path.below = below;
}

/** 5, 50 and 95 % quantiles, by linear interpolation; sorts the values. */
export function intervalOf(values: Float64Array): Interval | null {
  values.sort();
  const low = finite(quantile(values, 0.05));
  const median = finite(quantile(values, 0.5));
  const high = finite(quantile(values, 0.95));
  return low === null || median === null || high === null ? null : { low, median, high };
}

function quantile(sorted: Float64Array, p: number): number {
  const at = p * (sorted.length - 1);
  const row = Math.floor(at);
  const next = sorted[Math.min(row + 1, sorted.length - 1)]!;
  return sorted[row]! + (at - row) * (next - sorted[row]!);
}
