import { normalCdf } from './normal.ts';

/**
 * Probability of a chi-square value of at least `value`: Q(df/2, value/2), from Q(1/2, x) = erfc(sqrt x) or Q(1, x) = exp(-x)
 * by Q(a + 1, x) = Q(a, x) + x^a exp(-x) / Gamma(a + 1), whose terms are all positive.
 *
 * @param df degrees of freedom, whole, 1 or more
 */
export function chiSquareUpperP(value: number, df: number): number {
  if (!(value > 0)) return 1;
  const x = value / 2;
  const isOdd = df % 2 === 1;
  let a = isOdd ? 0.5 : 1;
  let p = isOdd ? 2 * normalCdf(-Math.sqrt(value)) : Math.exp(-x);
  let term = isOdd ? 2 * Math.sqrt(x / Math.PI) * Math.exp(-x) : x * Math.exp(-x);
  for (; a < df / 2; a++) {
    p += term;
    term *= x / (a + 1);
  }
  return Math.min(1, p);
}
