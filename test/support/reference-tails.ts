/** Distribution tails by definition, slow and simple: the reference for the engine's tails. */

/** Integral by the tanh-sinh rule, which tolerates singular endpoints. */
function integral(f: (x: number) => number, from: number, to: number): number {
  const half = (to - from) / 2;
  let sum = 0;
  for (let k = -160; k <= 160; k++) {
    const u = (Math.PI / 2) * Math.sinh(k / 40);
    const weight = ((Math.PI / 2) * Math.cosh(k / 40)) / Math.cosh(u) ** 2 / 40;
    // Exact distance from the nearer end.
    const gap = (half * Math.exp(-Math.abs(u))) / Math.cosh(u);
    const value = weight * f(u < 0 ? from + gap : to - gap);
    if (Number.isFinite(value)) sum += value;
  }
  return half * sum;
}

/** P(|T| > t): with t = sqrt(df) tan(angle) the density is a power of the cosine. */
export function tTail(t: number, df: number): number {
  const power = (angle: number) => Math.cos(angle) ** (df - 1);
  // With many degrees of freedom the mass is near 0.
  const end = Math.min(Math.PI / 2, 12 / Math.sqrt(df));
  const angle = Math.atan(Math.abs(t) / Math.sqrt(df));
  if (angle >= end) return 0;
  const inner = integral(power, 0, angle);
  const outer = integral(power, angle, end);
  return outer / (inner + outer);
}

/** P(chi-square of `df` degrees > x), from df - 2 upwards. */
export function chiSquareTail(x: number, df: number): number {
  if (df === 2) return Math.exp(-x / 2);
  if (df === 1) {
    const normal = (u: number) => Math.exp((-u * u) / 2);
    return 1 - (2 / Math.sqrt(2 * Math.PI)) * integral(normal, 0, Math.sqrt(x));
  }
  const gamma = df % 2 ? Math.sqrt(Math.PI) : 1;
  let factorial = gamma;
  for (let k = df % 2 ? 0.5 : 1; k <= df / 2 - 1; k++) factorial *= k;
  return chiSquareTail(x, df - 2) + ((x / 2) ** (df / 2 - 1) * Math.exp(-x / 2)) / factorial;
}

/** Two-sided: all counts at most as likely as the observed one. */
export function binomialTest(k: number, n: number, share: number): number {
  let log = n * Math.log1p(-share);
  const logs = [log];
  for (let i = 1; i <= n; i++) {
    log += Math.log(((n - i + 1) / i) * (share / (1 - share)));
    logs.push(log);
  }
  const limit = logs[k]! + 1e-7;
  return Math.min(
    1,
    logs.reduce((sum, one) => sum + (one <= limit ? Math.exp(one) : 0), 0),
  );
}
