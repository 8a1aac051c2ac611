import { createRandom, mix32, type Random } from '../../random.ts';
import type { BinnedMatrix } from '../features.ts';
import type { ClassifierSettings } from '../settings.ts';
import { RESULTS } from '../wasm/gradients.ts';
import { type Kernel, withKernel } from '../wasm/kernel.ts';
import { type GrownTree, growSymmetricTree, growTree } from './grow.ts';
import { columnLayout, createHistogramPool, histogramSize } from './histogram.ts';
import { partitionRows, type TrainingMemory, takeTrainingMemory } from './memory.ts';
import { MAX_ROWS, marginLoss, splitRules, type Units, unitsOf } from './split.ts';
import type { Tree } from './tree.ts';

interface Boosted {
  /** Log-odds before the first tree, from the weighted mean label of the fitted rows. */
  readonly base: number;
  /** Trees up to the best round. */
  readonly trees: readonly Tree[];
  /** By feature: loss reduction of the splits on it, over these trees. */
  readonly gains: Float64Array;
  /** Mean weighted log loss after each round, including rounds after the best one. */
  readonly trainingLoss: readonly number[];
  /** Null without early stopping. */
  readonly validationLoss: readonly number[] | null;
}

/**
 * Gradient boosting of the log loss with second derivatives (Chen and Guestrin, KDD 2016, arXiv:1603.02754). Splits are
 * chosen with quantized gradients, which add up exactly in any order. Leaf values use the exact gradients, row by row.
 *
 * @throws RangeError when there are more than `MAX_ROWS` rows
 */
export function boost(input: BoostInput): Boosted {
  const { fitted } = input;
  if (fitted > MAX_ROWS)
    throw new RangeError(
      `Boosting takes at most ${MAX_ROWS} rows, not ${fitted}. Shorten the training period.`,
    );
  return withKernel((kernel) => boostWith(kernel, input));
}

function boostWith(kernel: Kernel, input: BoostInput): Boosted {
  const { settings, binned, fitted, weights, labels, validationFrom, onRound } = input;
  const rows = weights.length;
  const base = priorLogOdds(labels, weights, fitted);
  const memory = takeTrainingMemory(kernel, binned, rows, fitted);
  kernel.f64(memory.scores, rows).fill(base);
  kernel.f64(memory.weights, fitted).set(weights.subarray(0, fitted));
  const signs = kernel.f64(memory.signs, fitted);
  for (let i = 0; i < fitted; i++) signs[i] = 1 - 2 * labels[i]!;
  let derived = computeGradients(memory, fitted);
  const fittedWeight = sumWeights(weights, 0, fitted);
  const validationWeight = sumWeights(weights, validationFrom, rows);
  const isValidated = validationWeight > 0;

  const grow = treeGrower(input, memory);
  const trees: Tree[] = [];
  const gains: Float64Array[] = [];
  const trainingLoss: number[] = [];
  const validationLoss: number[] = [];
  let best = -1;
  for (let round = 0; round < settings.n_estimators; round++) {
    const grown = grow(round, derived.units);
    derived = computeGradients(memory, fitted);
    trees.push(grown.tree);
    gains.push(grown.gains);
    trainingLoss.push(derived.loss / fittedWeight);
    if (isValidated) validationLoss.push(lossOf(input, kernel.f64(memory.scores, rows)) / validationWeight);
    onRound?.(round + 1, trainingLoss[round]!, validationLoss[round] ?? null);
    if (!isValidated || round === 0 || validationLoss[round]! < validationLoss[best]!) best = round;
    else if (round - best >= settings.early_stopping_rounds) break;
  }
  return {
    base,
    trees: trees.slice(0, best + 1),
    gains: sumColumns(gains.slice(0, best + 1), binned.bins.length),
    trainingLoss,
    validationLoss: isValidated ? validationLoss : null,
  };
}

/** Fills the derivatives at the current scores. Returns the sum of the weighted losses, and units for the derivatives. */
function computeGradients(
  { kernel, ...at }: TrainingMemory,
  rows: number,
): { readonly loss: number; readonly units: Units } {
  const loss = kernel.run.computeGradients(
    at.scores,
    at.signs,
    at.weights,
    at.gradient,
    at.hessian,
    at.packed,
    rows,
  );
  const [gradientSum = 0, hessianSum = 0] = kernel.f64(RESULTS, 2);
  return { loss, units: unitsOf(gradientSum, hessianSum, rows) };
}

/** Smallest distance of the prior probability from 0 and 1. */
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

/** Sum of the weighted log losses of the validation rows. */
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

interface BoostInput {
  readonly binned: BinnedMatrix;
  readonly labels: Uint8Array;
  /** By row. */
  readonly weights: Float64Array;
  readonly settings: ClassifierSettings;
  /** Number of fitted rows: 0..fitted-1. */
  readonly fitted: number;
  /** First validation row of early stopping; the validation rows go to the last row. No early stopping without such rows. */
  readonly validationFrom: number;
  readonly onRound?:
    | ((round: number, trainingLoss: number, validationLoss: number | null) => void)
    | undefined;
}

/** Tree of one round, and the loss reduction of its splits by feature. */
interface RoundTree {
  readonly tree: Tree;
  readonly gains: Float64Array;
}

/**
 * Returns a function that grows the tree of a round from the current gradients and adds its leaf values to the scores of
 * all rows. All rounds use the same memory.
 */
function treeGrower(input: BoostInput, memory: TrainingMemory): (round: number, units: Units) => RoundTree {
  const { binned, settings, fitted, validationFrom, weights } = input;
  const { kernel } = memory;
  const featureCount = binned.bins.length;
  const everyRow = range(0, fitted);
  const validated = range(validationFrom, weights.length);
  const isEveryColumn = settings.column_sample === 1;
  const columnCount = isEveryColumn ? featureCount : sampleSize(featureCount, settings.column_sample);
  const layOut = columnLayout(kernel, binned, columnCount, fitted);
  const allColumns = isEveryColumn ? layOut(range(0, featureCount)) : undefined;
  const pool = createHistogramPool(kernel, histogramSize(columnCount, binned.maxBins));

  return (round, units) => {
    const random = roundRandom(settings.seed, round);
    const columns = allColumns ?? layOut(sample(featureCount, settings.column_sample, random));
    const isEveryRow = settings.subsample === 1;
    const chosen = isEveryRow ? everyRow : sample(fitted, settings.subsample, random);
    const { gradient, hessian, packed } = memory;
    kernel.run.packGradients(gradient, hessian, packed, fitted, units.gradientUnits, units.hessianUnits);
    kernel.i32(memory.order, chosen.length).set(chosen);
    const gains = new Float64Array(featureCount);
    const rules = splitRules(settings, units);
    const grow = settings.kind === 'symmetric_gbdt' ? growSymmetricTree : growTree;
    const grown = grow({
      binned,
      columns,
      memory,
      count: chosen.length,
      isEveryRow,
      rules,
      settings,
      pool,
      gains,
    });
    finishLeaves(grown, memory, settings);
    const rest = isEveryRow ? validated : concat(others(fitted, chosen), validated);
    kernel.i32(memory.routed, rest.length).set(rest);
    route(grown.tree, 0, 0, rest.length);
    return { tree: grown.tree, gains };
  };

  /** Adds leaf values to the scores of rows from which the tree was not grown. */
  function route(tree: Tree, node: number, from: number, to: number): void {
    if (from === to) return;
    const feature = tree.feature[node]!;
    if (feature < 0) {
      kernel.run.addToScores(memory.routed + 4 * from, to - from, memory.scores, tree.value[node]!);
      return;
    }
    const split = { bin: tree.bin[node]!, missingLeft: tree.missingLeft[node] === 1 };
    const middle = partitionRows(memory, memory.routed, from, to, binned, feature, split);
    route(tree, tree.left[node]!, from, middle);
    route(tree, tree.left[node]! + 1, middle, to);
  }
}

/** Sets the leaf values, from the exact derivatives, and adds them to the scores of the tree's rows. */
function finishLeaves(
  { tree, leaves }: GrownTree,
  { kernel, order, gradient, hessian, scores }: TrainingMemory,
  { learning_rate, l2 }: ClassifierSettings,
): void {
  for (const { nodes, from, to } of leaves) {
    const rows = order + 4 * from;
    const value = kernel.run.finishLeaf(rows, to - from, gradient, hessian, scores, learning_rate, l2);
    for (const node of nodes) tree.value[node] = value;
  }
}

function concat(a: Int32Array, b: Int32Array): Int32Array {
  const both = new Int32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Random generator of one round; depends only on the seed and the round. */
function roundRandom(seed: number, round: number): Random {
  return createRandom(mix32(seed) ^ mix32(round + 1));
}

/**
 * Random subset of 0..count-1 in ascending order, with at least one number. All subsets of the size are equally likely
 * (selection sampling, Knuth, The Art of Computer Programming 3.4.2, algorithm S).
 */
function sample(count: number, share: number, random: Random): Int32Array {
  const chosen = new Int32Array(sampleSize(count, share));
  let taken = 0;
  for (let k = 0; k < count && taken < chosen.length; k++) {
    if (random() * (count - k) < chosen.length - taken) chosen[taken++] = k;
  }
  return chosen;
}

const sampleSize = (count: number, share: number): number => Math.max(1, Math.round(share * count));

/** Numbers of 0..count-1 that are not in `chosen` (ascending). */
function others(count: number, chosen: Int32Array): Int32Array {
  const rest = new Int32Array(count - chosen.length);
  let next = 0;
  let found = 0;
  for (let k = 0; k < count; k++) {
    if (chosen[next] === k) next++;
    else rest[found++] = k;
  }
  return rest;
}

/** Numbers from..to-1. */
function range(from: number, to: number): Int32Array {
  return Int32Array.from({ length: to - from }, (_, k) => from + k);
}
