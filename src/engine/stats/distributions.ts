const SQRT_HALF = Math.SQRT1_2;
const SQRT_2_OVER_PI = Math.sqrt(2 / Math.PI);
const ONE_OVER_SQRT_PI = 1 / Math.sqrt(Math.PI);

/** Below this z value the distribution function is less than the smallest double. */
const MIN_Z = -38.6;

/** ln sqrt(2 pi): the standard normal density at z is exp(-z^2 / 2 - LN_SQRT_2PI). */
export const LN_SQRT_2PI = 0.5 * Math.log(2 * Math.PI);

/** Distribution function of the standard normal, to a relative error of about 1e-13 in the lower tail (to -37). */
export function normalCdf(x: number): number {
  if (x > 0) return 1 - normalCdf(-x);
  if (x < MIN_Z) return 0;
  return 0.5 * scaledErfc(-x * SQRT_HALF) * Math.exp(-0.5 * x * x);
}

/** ln of {@link normalCdf}, for any finite x: it does not underflow. */
export function logNormalCdf(x: number): number {
  if (x > 0) return Math.log1p(-normalCdf(-x));
  return Math.log(0.5 * scaledErfc(-x * SQRT_HALF)) - 0.5 * x * x;
}

/**
 * The value whose {@link normalCdf} is `p`.
 *
 * @param p 0 to 1; the ends give infinities
 */
export function normalQuantile(p: number): number {
  return p > 0.5 ? -lowerQuantile(Math.log1p(-p)) : lowerQuantile(Math.log(p));
}

/** The value whose {@link logNormalCdf} is `logP` (at most 0): quantiles of probabilities too small for a double. */
export function normalQuantileOfLog(logP: number): number {
  return logP > -Math.LN2 ? -lowerQuantile(Math.log(-Math.expm1(logP))) : lowerQuantile(logP);
}

/** ln of the probability between `a` and `b` of the standard normal, without cancellation in the tails. */
export function logNormalMass(a: number, b: number): number {
  if (a > 0) return logNormalMass(-b, -a);
  if (b > 0) return Math.log1p(-normalCdf(a) - normalCdf(-b));
  // Both distribution functions have the factor exp(-b^2 / 2). Without it they neither underflow nor lose digits.
  const beyond = scaledErfc(-a * SQRT_HALF) * Math.exp(-0.5 * (a - b) * (a + b));
  return Math.log(0.5 * (scaledErfc(-b * SQRT_HALF) - beyond)) - 0.5 * b * b;
}

/**
 * Quantile of a probability of at most 1/2 by Newton's method on the logarithm of the distribution function. This
 * logarithm is concave and at most -ln 2 - x^2 / 2 here. Each step from the start value below therefore approaches the
 * root from the left.
 */
function lowerQuantile(logP: number): number {
  if (logP === Number.NEGATIVE_INFINITY || Number.isNaN(logP)) return logP;
  let x = -Math.sqrt(Math.max(0, -2 * (logP + Math.LN2)));
  for (;;) {
    const slope = SQRT_2_OVER_PI / scaledErfc(-x * SQRT_HALF);
    const next = x + (logP - logNormalCdf(x)) / slope;
    if (!(next > x)) return x;
    x = next;
  }
}

/**
 * erfc(y) exp(y^2) for y of at least 0, by the rational approximations of Cody (Math. Comp. 23, 1969). The polynomials are written
 * out: a loop over coefficients takes twice the time.
 */
function scaledErfc(y: number): number {
  if (y <= 0.46875) {
    const square = y * y;
    const erf =
      (y *
        ((((0.18577770618460315 * square + 3.1611237438705655) * square + 113.86415415105016) * square +
          377.485237685302) *
          square +
          3209.3775891384694)) /
      ((((square + 23.601290952344122) * square + 244.02463793444417) * square + 1282.6165260773723) *
        square +
        2844.236833439171);
    return Math.exp(square) * (1 - erf);
  }
  if (y <= 4) {
    return (
      ((((((((2.1531153547440383e-8 * y + 0.5641884969886701) * y + 8.883149794388377) * y +
        66.11919063714163) *
        y +
        298.6351381974001) *
        y +
        881.952221241769) *
        y +
        1712.0476126340707) *
        y +
        2051.0783778260716) *
        y +
        1230.3393547979972) /
      ((((((((y + 15.744926110709835) * y + 117.6939508913125) * y + 537.1811018620099) * y +
        1621.3895745666903) *
        y +
        3290.7992357334597) *
        y +
        4362.619090143247) *
        y +
        3439.3676741437216) *
        y +
        1230.3393548037495)
    );
  }
  const inverse = 1 / (y * y);
  const correction =
    (inverse *
      (((((0.016315387137302097 * inverse + 0.30532663496123236) * inverse + 0.36034489994980445) * inverse +
        0.12578172611122926) *
        inverse +
        0.016083785148742275) *
        inverse +
        0.0006587491615298378)) /
    (((((inverse + 2.568520192289822) * inverse + 1.8729528499234604) * inverse + 0.5279051029514285) *
      inverse +
      0.06051834131244132) *
      inverse +
      0.0023352049762686918);
  return (ONE_OVER_SQRT_PI - correction) / y;
}

/**
 * Two-sided p-value of Student's t distribution: the probability of a value at least as far from 0 as `t`.
 * Equals the regularized incomplete beta function I_x(df/2, 1/2) at x = df / (df + t^2) (Abramowitz and Stegun 26.7.1).
 *
 * @param t the t value, any sign
 * @param df degrees of freedom, above 0; need not be an integer
 * @returns 0 to 1; `NaN` when t is `NaN` or df is not above 0
 */
export function studentTwoSidedP(t: number, df: number): number {
  if (Number.isNaN(t) || !(df > 0)) return Number.NaN;
  if (!Number.isFinite(t)) return 0;
  const a = df / 2;
  const square = t * t;
  // y = 1 - x is computed directly: near t = 0 the subtraction would lose every digit.
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
 * @param df degrees of freedom, above 0; need not be an integer
 * @returns 0 to 1; `NaN` when t is `NaN` or df is not above 0
 */
export function studentCdf(t: number, df: number): number {
  const tail = studentTwoSidedP(t, df) / 2;
  return t > 0 ? 1 - tail : tail;
}

/**
 * The value whose {@link studentCdf} is `p`, by bisection down to adjacent doubles.
 *
 * @param p above 0 and below 1
 * @param df degrees of freedom, above 0; need not be an integer
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
 * Γ(a + 1/2) / Γ(a) by its asymptotic series for a above 20, where the first neglected term is below 1e-15. Smaller
 * values are shifted up by Γ(z + 1) = z Γ(z). A difference of two log-gammas would lose digits as `a` grows.
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
  // The number of terms grows with sqrt(max(a, b)): 10,000 suffice for a hundred million degrees of freedom.
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
