import type { BoostInput } from './boost-input.ts';
import { computeGradients, createGradients, MAX_ROWS, marginLoss } from './gradients.ts';
import type { Tree } from './tree.ts';
import { treeGrower } from './tree-grower.ts';

export interface Boosted {
  /** Log-odds before the first tree: those of the fitted rows' weighted mean label. */
  readonly base: number;
  /** Up to the best round. */
  readonly trees: readonly Tree[];
  /** By feature, of these trees: reduction of the loss by splits on it. */
  readonly gains: Float64Array;
  /** Mean weighted log loss after each round, those after the best one included. */
  readonly trainingLoss: readonly number[];
  /** Null without early stopping. */
  readonly validationLoss: readonly number[] | null;
}

/**
 * Gradient boosting of the log loss with second derivatives (Chen and Guestrin, KDD 2016, arXiv:1603.02754). Trees are
 * chosen by quantised gradients, which add up exactly in any order; leaf values are computed from the exact ones, row by row.
 *
 * @throws RangeError when there are more rows than can be added up exactly
 */
export function boost(input: BoostInput): Boosted {
  const { settings, fitted, weights, labels, onRound } = input;
  if (fitted > MAX_ROWS) throw new RangeError(`Boosting takes at most ${MAX_ROWS} rows, not ${fitted}.`);
  const base = priorLogOdds(labels, weights, fitted);
  const scores = new Float64Array(weights.length).fill(base);
  const gradients = createGradients(fitted);
  computeGradients(scores, labels, weights, gradients);
  const fittedWeight = sumWeights(weights, 0, fitted);
  const validationWeight = sumWeights(weights, input.validationFrom, weights.length);
  const isJudged = validationWeight > 0;

  const grow = treeGrower(input, gradients, scores);
  const trees: Tree[] = [];
  const gains: Float64Array[] = [];
  const trainingLoss: number[] = [];
  const validationLoss: number[] = [];
  let best = -1;
  for (let round = 0; round < settings.n_estimators; round++) {
    const grown = grow(round);
    trees.push(grown.tree);
    gains.push(grown.gains);
    trainingLoss.push(computeGradients(scores, labels, weights, gradients) / fittedWeight);
    if (isJudged) validationLoss.push(lossOf(input, scores) / validationWeight);
    onRound?.(round + 1, trainingLoss[round]!, validationLoss[round] ?? null);
    if (!isJudged || round === 0 || validationLoss[round]! < validationLoss[best]!) best = round;
    else if (round - best >= settings.early_stopping_rounds) break;
  }
  return {
    base,
    trees: trees.slice(0, best + 1),
    gains: sumColumns(gains.slice(0, best + 1), input.binned.bins.length),
    trainingLoss,
    validationLoss: isJudged ? validationLoss : null,
  };
}

/** Probabilities of the prior are kept this far from 0 and 1. */
const MIN_PRIOR = 1e-6;

function priorLogOdds(labels: Uint8Array, weights: Float64Array, rows: number): number {
  let positive = 0;
  for (let i = 0; i < rows; i++) if (labels[i] === 1) positive += weights[i]!;
  const share = positive / sumWeights(weights, 0, rows);
  const prior = Math.min(Math.max(share, MIN_PRIOR), 1 - MIN_PRIOR);
  return Math.log(prior / (1 - prior));
}

function sumWeights(weights: Float64Array, from: number, to: number): number {
  let total = 0;
  for (let i = from; i < to; i++) total += weights[i]!;
  return total;
}

/** The sum of the weighted log losses of the rows that early stopping judges by. */
function lossOf({ labels, weights, validationFrom }: BoostInput, scores: Float64Array): number {
  let loss = 0;
  for (let i = validationFrom; i < scores.length; i++) {
    loss += weights[i]! * marginLoss(labels[i] === 1 ? scores[i]! : -scores[i]!);
  }
  return loss;
}

function sumColumns(parts: readonly Float64Array[], size: number): Float64Array {
  const total = new Float64Array(size);
  for (const part of parts) for (let j = 0; j < size; j++) total[j] = total[j]! + part[j]!;
  return total;
}
