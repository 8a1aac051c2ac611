/**
 * Two-sided p-value of Student's t distribution: the probability of a value at least as far from 0 as `t`.
 * Equals the regularised incomplete beta function I_x(df/2, 1/2) at x = df / (df + t^2) (Abramowitz and Stegun 26.7.1).
 *
 * @param t the t value, any sign
 * @param df degrees of freedom, above 0; need not be whole
 * @returns 0 to 1; `NaN` when t is `NaN` or df is not above 0
 */
export function studentTwoSidedP(t: number, df: number): number {
  if (Number.isNaN(t) || !(df > 0)) return Number.NaN;
  if (!Number.isFinite(t)) return 0;
  const a = df / 2;
  const square = t * t;
  // 1 - x is computed directly: near t = 0 the difference would lose every digit.
  const x = df / (df + square);
  const y = square / (df + square);
  if (y === 0) return 1;
  const logX = y < 0.5 ? Math.log1p(-y) : Math.log(x);
  const front = Math.exp(a * logX + 0.5 * Math.log(y)) / betaWithHalf(a);
  // The fraction converges fast only on this side of the mean of the beta distribution (Numerical Recipes 6.4).
  if (x < (a + 1) / (a + 2.5)) return (front * betaFraction(a, 0.5, x)) / a;
  return 1 - (front * betaFraction(0.5, a, y)) / 0.5;
}

/**
 * Distribution function of Student's t: the probability of a value of at most `t`.
 *
 * @param t the t value, any sign
 * @param df degrees of freedom, above 0; need not be whole
 * @returns 0 to 1; `NaN` when t is `NaN` or df is not above 0
 */
export function studentCdf(t: number, df: number): number {
  const tail = studentTwoSidedP(t, df) / 2;
  return t > 0 ? 1 - tail : tail;
}

/**
 * The value whose {@link studentCdf} is `p`, by halving the interval until no number lies between.
 *
 * @param p above 0 and below 1
 * @param df degrees of freedom, above 0; need not be whole
 */
export function studentQuantile(p: number, df: number): number {
  if (p < 0.5) return -studentQuantile(1 - p, df);
  const tail = 2 * (1 - p);
  let low = 0;
  let high = 1;
  while (studentTwoSidedP(high, df) > tail) high *= 2;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) return middle;
    if (studentTwoSidedP(middle, df) > tail) low = middle;
    else high = middle;
  }
}

/** B(a, 1/2) = sqrt(pi) Γ(a) / Γ(a + 1/2). */
function betaWithHalf(a: number): number {
  return Math.sqrt(Math.PI) / gammaHalfStep(a);
}

/**
 * Γ(a + 1/2) / Γ(a): the asymptotic series above 20, where its first neglected term is below 1e-15, reached from below by
 * Γ(z + 1) = z Γ(z). A difference of two log-gammas would lose digits as `a` grows.
 */
function gammaHalfStep(a: number): number {
  let factor = 1;
  let z = a;
  while (z < 20) {
    factor *= z / (z + 0.5);
    z += 1;
  }
  const w = 1 / (z * z);
  const series = (-1 / 8 + w * (1 / 192 + w * (-1 / 640 + w * (17 / 14336)))) / z;
  return factor * Math.sqrt(z) * Math.exp(series);
}

/** Continued fraction of the incomplete beta function by Lentz's method (Numerical Recipes 6.4). */
function betaFraction(a: number, b: number, x: number): number {
  const tiny = 1e-300;
  const guard = (value: number) => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / guard(1 - ((a + b) * x) / (a + 1));
  let result = d;
  // Terms needed grow with sqrt(max(a, b)): 10,000 cover a hundred million degrees of freedom.
  for (let m = 1; m <= 10_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / guard(1 + even * d);
    c = guard(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / guard(1 + odd * d);
    c = guard(1 + odd / c);
    const change = d * c;
    result *= change;
    if (Math.abs(change - 1) < 1e-16) break;
  }
  return result;
}
