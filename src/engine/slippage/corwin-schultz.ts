const K = 3 - 2 * Math.SQRT2;

/**
 * Bid-ask spread of two consecutive days, as a ratio of the price, from their highs and lows (Corwin and Schultz, J. of Finance
 * 67(2), 2012). Negative estimates are 0.
 */
export function corwinSchultz(high1: number, low1: number, high2: number, low2: number): number {
  const beta = Math.log(high1 / low1) ** 2 + Math.log(high2 / low2) ** 2;
  const gamma = Math.log(Math.max(high1, high2) / Math.min(low1, low2)) ** 2;
  const alpha = (Math.sqrt(2 * beta) - Math.sqrt(beta)) / K - Math.sqrt(gamma / K);
  // 2 (e^alpha - 1) / (1 + e^alpha)
  return Math.max(0, 2 * Math.tanh(alpha / 2));
}
