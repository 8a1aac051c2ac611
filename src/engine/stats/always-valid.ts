/** What a sequential statement is made from. */
export interface SequentialSample {
  /** Mean of the challenger less that of the champion. */
  readonly difference: number;
  readonly standardError: number;
  /** Trades that the comparison is worth (see `StratifiedTest.effectiveSize`). */
  readonly effectiveSize: number;
  /** Trades at which the statement is sharpest. Fixed before the first look. */
  readonly tuningSize: number;
}

const ALPHA = 0.05;

/**
 * A p-value that may be looked at after every trade: the chance that it is ever below alpha without a true difference is at
 * most alpha. Normal mixture, p = min(1, sqrt(1 + x) exp(-z^2 / 2 x / (1 + x))), x = n rho^2 (Robbins 1970; Johari et al.,
 * Always Valid Inference, Operations Research 70(3), 2022; Waudby-Smith et al., Annals of Statistics 52(6), 2024).
 */
export function alwaysValidP(sample: SequentialSample, alpha = ALPHA): number {
  const x = information(sample, alpha);
  const z = zValue(sample);
  if (!(x > 0)) return 1;
  return Math.min(1, Math.sqrt(1 + x) * Math.exp(-0.5 * z * z * (x / (1 + x))));
}

/**
 * Half the width of the interval around the difference that holds the true one at all times with probability 1 - alpha. It
 * leaves out 0 exactly when {@link alwaysValidP} is below alpha. Infinite before there is any information.
 */
export function alwaysValidHalfWidth(sample: SequentialSample, alpha = ALPHA): number {
  const x = information(sample, alpha);
  if (!(x > 0)) return Number.POSITIVE_INFINITY;
  return sample.standardError * Math.sqrt(((1 + x) / x) * 2 * Math.log(Math.sqrt(1 + x) / alpha));
}

/** As {@link alwaysValidHalfWidth} for one side only: with probability 1 - alpha the true difference is never beyond it. */
export function alwaysValidOneSidedHalfWidth(sample: SequentialSample, alpha = ALPHA): number {
  const x = information(sample, 2 * alpha);
  if (!(x > 0)) return Number.POSITIVE_INFINITY;
  const odds = Math.log(1 + Math.sqrt(1 + x) / (2 * alpha));
  return sample.standardError * Math.sqrt(((2 * (1 + x)) / x) * odds);
}

/**
 * The likelihood ratio of the mixture sequential probability ratio test with a N(0, tau2) prior of the difference,
 * sqrt(V / (V + tau2)) exp(tau2 d^2 / (2 V (V + tau2))), V the squared standard error. 1 / ratio is an always-valid p-value,
 * the same as {@link alwaysValidP} for tau2 = V x.
 */
export function mixtureLikelihoodRatio(difference: number, standardError: number, tau2: number): number {
  const v = standardError * standardError;
  return Math.sqrt(v / (v + tau2)) * Math.exp((tau2 * difference * difference) / (2 * v * (v + tau2)));
}

/** Challenger trades before harm is spoken of. */
const MIN_HARM_TRADES = 20;

/**
 * Whether the challenger is significantly worse, at any time of the test: the one-sided always-valid bound of the difference
 * is below 0. Where the variants are not balanced, skewed winners alone can do that: then the permutation test must agree.
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

/** n rho^2, rho^2 chosen so that the interval is narrowest at the tuning size. */
function information({ effectiveSize, tuningSize }: SequentialSample, alpha: number): number {
  const bits = -2 * Math.log(alpha);
  return (effectiveSize * (bits + Math.log(1 + bits))) / tuningSize;
}

function zValue({ difference, standardError }: SequentialSample): number {
  return difference === 0 ? 0 : difference / standardError;
}
