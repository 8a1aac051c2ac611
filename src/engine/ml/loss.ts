/** 1 / (1 + e^-x): a log-odds as a probability. */
export function sigmoid(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

/** Probabilities are kept this far from 0 and 1 where their logarithm is taken. */
const MIN_PROBABILITY = 1e-15;

/** Mean log loss, -log of the probability given to what happened; `NaN` of no rows. */
export function logLoss(probabilities: Float64Array, labels: Uint8Array): number {
  let total = 0;
  for (let i = 0; i < labels.length; i++) {
    const given = labels[i] === 1 ? probabilities[i]! : 1 - probabilities[i]!;
    total -= Math.log(Math.max(given, MIN_PROBABILITY));
  }
  return total / labels.length;
}
