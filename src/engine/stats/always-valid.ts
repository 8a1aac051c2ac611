/** Input of a sequential test. */
export interface SequentialSample {
  /** Mean of the challenger minus mean of the champion. */
  readonly difference: number;
  readonly standardError: number;
  /** Effective number of trades (see `StratifiedTest.effectiveSize`). */
  readonly effectiveSize: number;
  /** Number of trades at which the confidence sequence is narrowest. Fixed before the first look. */
  readonly tuningSize: number;
}

const ALPHA = 0.05;

/**
 * Always-valid p-value, which may be evaluated after every trade: without a true difference, the probability that it is
 * ever below alpha is at most alpha. Normal mixture, p = min(1, sqrt(1 + x) exp(-z^2 / 2 x / (1 + x))), x = n rho^2 (Robbins 1970;
 * Johari et al., Always Valid Inference, Operations Research 70(3), 2022; Waudby-Smith et al., Annals of Statistics 52(6), 2024).
 */
export function alwaysValidP(sample: SequentialSample, alpha = ALPHA): number {
  const x = information(sample, alpha);
  const z = zValue(sample);
  if (!(x > 0)) return 1;
  return Math.min(1, Math.sqrt(1 + x) * Math.exp(-0.5 * z * z * (x / (1 + x))));
}

/**
 * Half width of the confidence sequence of the difference. With probability 1 - alpha it contains the true difference
 * after every trade. It excludes 0 exactly when {@link alwaysValidP} is below alpha. Infinite without information.
 */
export function alwaysValidHalfWidth(sample: SequentialSample, alpha = ALPHA): number {
  const x = information(sample, alpha);
  if (!(x > 0)) return Number.POSITIVE_INFINITY;
  return sample.standardError * Math.sqrt(((1 + x) / x) * 2 * Math.log(Math.sqrt(1 + x) / alpha));
}

/** One-sided {@link alwaysValidHalfWidth}: with probability 1 - alpha the true difference is never beyond it. */
export function alwaysValidOneSidedHalfWidth(sample: SequentialSample, alpha = ALPHA): number {
  const x = information(sample, 2 * alpha);
  if (!(x > 0)) return Number.POSITIVE_INFINITY;
  const odds = Math.log(1 + Math.sqrt(1 + x) / (2 * alpha));
  return sample.standardError * Math.sqrt(((2 * (1 + x)) / x) * odds);
}

/**
 * Likelihood ratio of the mixture sequential probability ratio test with a N(0, tau2) prior of the difference d:
 * sqrt(V / (V + tau2)) exp(tau2 d^2 / (2 V (V + tau2))). V is the squared standard error. 1 / ratio is an always-valid
 * p-value, equal to {@link alwaysValidP} for tau2 = V x.
 */
export function mixtureLikelihoodRatio(difference: number, standardError: number, tau2: number): number {
  const v = standardError * standardError;
  return Math.sqrt(v / (v + tau2)) * Math.exp((tau2 * difference * difference) / (2 * v * (v + tau2)));
}

/** Minimum number of challenger trades before harm can be detected. */
const MIN_HARM_TRADES = 20;

/**
 * True if the challenger is significantly worse: the one-sided always-valid bound of the difference is below 0. Valid
 * after every trade. Between unbalanced variants, skewed winners can produce this without harm. The permutation test
 * must then agree.
 *
 * @param lowerP `PermutationTest.pLower` of an unbalanced comparison; null when the variants are balanced
 */
export function isHarmful(
  sample: SequentialSample,
  { challengerTrades, lowerP }: { readonly challengerTrades: number; readonly lowerP: number | null },
): boolean {
  if (challengerTrades < MIN_HARM_TRADES) return false;
  if (!(sample.difference + alwaysValidOneSidedHalfWidth(sample) < 0)) return false;
  return lowerP === null || lowerP < ALPHA;
}

/** n rho^2, with the rho^2 that makes the interval narrowest at the tuning size. */
function information({ effectiveSize, tuningSize }: SequentialSample, alpha: number): number {
  const bits = -2 * Math.log(alpha);
  return (effectiveSize * (bits + Math.log(1 + bits))) / tuningSize;
}

function zValue({ difference, standardError }: SequentialSample): number {
  return difference === 0 ? 0 : difference / standardError;
}
