import { mean } from '../stats/moments.ts';

/** Line through two series by least squares, with errors for residuals that are correlated in time and of unequal variance. */
export interface Regression {
  /** Value of the line at x = 0. */
  readonly alpha: number;
  /** Slope of the line. */
  readonly beta: number;
  readonly alphaError: number;
  readonly betaError: number;
  /** Number of lags of the errors. */
  readonly lag: number;
  readonly observations: number;
}

/** Lags by the rule of Newey and West (1994) for Bartlett weights: floor(4 (T / 100)^(2/9)). */
export function neweyWestLag(observations: number): number {
  return Math.floor(4 * (observations / 100) ** (2 / 9));
}

/**
 * y = alpha + beta x + e by least squares. The errors are those of Newey and West, Econometrica 55(3), 1987, with Bartlett weights
 * and the small-sample factor T / (T - 2), as statsmodels' `HAC` with `use_correction`.
 *
 * @returns undefined with fewer than 3 observations, or when x does not vary
 */
export function neweyWest(
  y: ArrayLike<number>,
  x: ArrayLike<number>,
  lag = neweyWestLag(y.length),
): Regression | undefined {
  const n = y.length;
  const centerX = mean(x);
  const centerY = mean(y);
  let squares = 0;
  let products = 0;
  let size = 0;
  for (let t = 0; t < n; t++) {
    const off = x[t]! - centerX;
    squares += off * off;
    products += off * (y[t]! - centerY);
    size += x[t]! * x[t]!;
  }
  // Equal values differ from their mean by rounding errors.
  if (n < 3 || !(squares > 1e-24 * size)) return undefined;
  const beta = products / squares;
  // With x centered the columns of the regression are orthogonal: its intercept is the mean of y.
  const scores = new Float64Array(n);
  const slopes = new Float64Array(n);
  for (let t = 0; t < n; t++) {
    const off = x[t]! - centerX;
    scores[t] = y[t]! - centerY - beta * off;
    slopes[t] = scores[t]! * off;
  }
  const correction = n / (n - 2);
  const level = (correction * longRun(scores, scores, lag)) / (n * n);
  const both = (correction * longRun(scores, slopes, lag)) / (n * squares);
  const slope = (correction * longRun(slopes, slopes, lag)) / (squares * squares);
  return {
    alpha: centerY - beta * centerX,
    beta,
    alphaError: Math.sqrt(Math.max(0, level - 2 * centerX * both + centerX * centerX * slope)),
    betaError: Math.sqrt(Math.max(0, slope)),
    lag,
    observations: n,
  };
}

/** Sum of a_t b_t and, with Bartlett weights, of the products with up to `lag` rows between them. */
function longRun(a: Float64Array, b: Float64Array, lag: number): number {
  let total = 0;
  for (let between = 0; between <= lag; between++) {
    let sum = 0;
    for (let t = between; t < a.length; t++) sum += a[t]! * b[t - between]! + a[t - between]! * b[t]!;
    total += (between === 0 ? 0.5 : 1 - between / (lag + 1)) * sum;
  }
  return total;
}
