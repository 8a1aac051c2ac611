import type { FeatureMatrix } from './features.ts';
import { type Model, sigmoid } from './model.ts';

/** A linear model of standardized features: log odds = intercept + sum of weights[j] * (x[j] - mean[j]) / scale[j]. */
interface LogisticParts {
  readonly intercept: number;
  readonly weights: Float64Array;
  readonly mean: Float64Array;
  /** Standard deviations of the training rows; 0 for a constant feature, which is ignored. */
  readonly scale: Float64Array;
}

interface LogisticFit {
  readonly parts: LogisticParts;
  /** Mean weighted log loss after each Newton step, without the penalty. */
  readonly losses: readonly number[];
}

const MAX_STEPS = 50;
const MAX_HALVINGS = 30;
/** Newton's method stops when a step lowers the objective by less than this share of it. */
const TOLERANCE = 1e-12;
/** Keeps the system solvable when features are collinear and `l2` is 0. */
const MIN_L2 = 1e-6;

/**
 * Maximum likelihood with an L2 penalty l2/2 * |weights|^2; the intercept is not penalized. Newton's method, here equal to
 * iteratively reweighted least squares (Hastie, Tibshirani, Friedman: The Elements of Statistical Learning 4.4.1). A step
 * that does not lower the objective is halved. A missing or infinite value counts as the feature's mean.
 */
export function fitLogistic(
  features: FeatureMatrix,
  labels: Uint8Array,
  weights: Float64Array,
  l2: number,
): LogisticFit {
  const { rows } = features;
  const { mean, scale } = standardization(features, weights);
  const columns = features.columns.map((column, j) => standardize(column, rows, mean[j]!, scale[j]!));
  const problem: Problem = { columns, labels, weights, l2: Math.max(l2, MIN_L2), total: sum(weights, rows) };

  let beta: Float64Array = new Float64Array(columns.length + 1);
  beta[0] = priorLogOdds(problem);
  let current = objective(problem, beta);
  const losses: number[] = [];
  for (let step = 0; step < MAX_STEPS; step++) {
    const next = newtonStep(problem, beta, current);
    const gained = current.value - next.current.value;
    beta = next.beta;
    current = next.current;
    losses.push(current.loss);
    if (!(gained > TOLERANCE * Math.abs(current.value))) break;
  }
  return { parts: { intercept: beta[0]!, weights: beta.slice(1), mean, scale }, losses };
}

/** P(label = 1) of each row. */
function predictLogistic(parts: LogisticParts, features: FeatureMatrix, into: Float64Array): void {
  const { intercept, weights, mean, scale } = parts;
  const { columns, rows } = features;
  into.fill(intercept, 0, rows);
  columns.forEach((column, j) => {
    if (scale[j] === 0) return;
    const weight = weights[j]! / scale[j]!;
    const center = mean[j]!;
    for (let i = 0; i < rows; i++) {
      const distance = column[i]! - center;
      if (Number.isFinite(distance)) into[i] = into[i]! + weight * distance;
    }
  });
  for (let i = 0; i < rows; i++) into[i] = sigmoid(into[i]!);
}

interface Problem {
  /** Standardized. */
  readonly columns: readonly Float64Array[];
  readonly labels: Uint8Array;
  readonly weights: Float64Array;
  readonly l2: number;
  /** Sum of the weights. */
  readonly total: number;
}

interface Objective {
  readonly probabilities: Float64Array;
  /** Mean weighted log loss. */
  readonly loss: number;
  /** Minimized value: the sum of the weighted log losses plus the penalty. */
  readonly value: number;
}

function standardization({ columns, rows }: FeatureMatrix, weights: Float64Array) {
  const mean = new Float64Array(columns.length);
  const scale = new Float64Array(columns.length);
  columns.forEach((column, j) => {
    let total = 0;
    let sumOf = 0;
    for (let i = 0; i < rows; i++) {
      if (!Number.isFinite(column[i]!)) continue;
      total += weights[i]!;
      sumOf += weights[i]! * column[i]!;
    }
    if (total === 0) return;
    const center = sumOf / total;
    let squares = 0;
    for (let i = 0; i < rows; i++) {
      if (Number.isFinite(column[i]!)) squares += weights[i]! * (column[i]! - center) ** 2;
    }
    mean[j] = center;
    const deviation = Math.sqrt(squares / total);
    // Rounding of the mean gives a constant column a tiny deviation.
    if (Number.isFinite(deviation) && deviation > 1e-12 * Math.abs(center)) scale[j] = deviation;
  });
  return { mean, scale };
}

function standardize(column: Float64Array, rows: number, mean: number, scale: number): Float64Array {
  const out = new Float64Array(rows);
  if (scale === 0) return out;
  for (let i = 0; i < rows; i++) {
    const value = (column[i]! - mean) / scale;
    out[i] = Number.isFinite(value) ? value : 0;
  }
  return out;
}

function sum(values: Float64Array, rows: number): number {
  let total = 0;
  for (let i = 0; i < rows; i++) total += values[i]!;
  return total;
}

function priorLogOdds({ labels, weights, total }: Problem): number {
  let positive = 0;
  for (let i = 0; i < labels.length; i++) if (labels[i] === 1) positive += weights[i]!;
  const prior = Math.min(Math.max(positive / total, 1e-6), 1 - 1e-6);
  return Math.log(prior / (1 - prior));
}

function objective(problem: Problem, beta: Float64Array): Objective {
  const { columns, labels, weights, l2, total } = problem;
  const rows = weights.length;
  const probabilities = new Float64Array(rows).fill(beta[0]!);
  columns.forEach((column, j) => {
    const weight = beta[j + 1]!;
    for (let i = 0; i < rows; i++) probabilities[i] = probabilities[i]! + weight * column[i]!;
  });
  let sumOf = 0;
  for (let i = 0; i < rows; i++) {
    const margin = labels[i] === 1 ? -probabilities[i]! : probabilities[i]!;
    // log(1 + e^m) without overflow.
    sumOf += weights[i]! * (Math.max(margin, 0) + Math.log1p(Math.exp(-Math.abs(margin))));
    probabilities[i] = sigmoid(probabilities[i]!);
  }
  let squares = 0;
  for (let j = 1; j < beta.length; j++) squares += beta[j]! ** 2;
  return { probabilities, loss: sumOf / total, value: sumOf + (l2 / 2) * squares };
}

function newtonStep(problem: Problem, beta: Float64Array, current: Objective) {
  const direction = newtonDirection(problem, beta, current.probabilities);
  let stepSize = 1;
  for (let halving = 0; halving < MAX_HALVINGS; halving++, stepSize /= 2) {
    const candidate = beta.map((value, j) => value + stepSize * direction[j]!);
    const next = objective(problem, candidate);
    if (next.value < current.value) return { beta: candidate, current: next };
  }
  return { beta, current };
}

/** Solves (X'WX + l2) d = X'(w (y - p)) - l2 beta, W = w p (1 - p). */
function newtonDirection(problem: Problem, beta: Float64Array, probabilities: Float64Array): Float64Array {
  const { columns, labels, weights, l2 } = problem;
  const rows = weights.length;
  const ones = new Float64Array(rows).fill(1);
  const design = [ones, ...columns];
  const curvature = new Float64Array(rows);
  const slope = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    const p = probabilities[i]!;
    curvature[i] = weights[i]! * Math.max(p * (1 - p), 1e-16);
    slope[i] = weights[i]! * (labels[i]! - p);
  }
  const size = design.length;
  const matrix = new Float64Array(size * size);
  const right = new Float64Array(size);
  const scaled = new Float64Array(rows);
  for (let a = 0; a < size; a++) {
    for (let i = 0; i < rows; i++) scaled[i] = design[a]![i]! * curvature[i]!;
    for (let b = 0; b <= a; b++) matrix[a * size + b] = dot(scaled, design[b]!, rows);
    right[a] = dot(design[a]!, slope, rows);
    if (a === 0) continue;
    matrix[a * size + a]! += l2;
    right[a]! -= l2 * beta[a]!;
  }
  return solvePositive(matrix, right);
}

function dot(a: Float64Array, b: Float64Array, rows: number): number {
  let total = 0;
  for (let i = 0; i < rows; i++) total += a[i]! * b[i]!;
  return total;
}

/** Solves a symmetric positive definite system in place, by Cholesky's method. `matrix` needs only its lower triangle. */
function solvePositive(matrix: Float64Array, right: Float64Array): Float64Array {
  const size = right.length;
  const at = (row: number, column: number) => matrix[row * size + column]!;
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let value = at(i, j);
      for (let k = 0; k < j; k++) value -= at(i, k) * at(j, k);
      // Rounding may leave the pivot of a collinear feature at or below 0. A huge pivot gives it a step of about 0.
      matrix[i * size + j] = i === j ? Math.sqrt(value > 0 ? value : 1e300) : value / at(j, j);
    }
  }
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < i; k++) right[i]! -= at(i, k) * right[k]!;
    right[i]! /= at(i, i);
  }
  for (let i = size - 1; i >= 0; i--) {
    for (let k = i + 1; k < size; k++) right[i]! -= at(k, i) * right[k]!;
    right[i]! /= at(i, i);
  }
  return right;
}

/** A logistic regression as plain JSON. */
export interface SerializedLogistic {
  readonly intercept: number;
  /** Weights of the standardized features. */
  readonly weights: readonly number[];
  readonly mean: readonly number[];
  readonly scale: readonly number[];
}

export function logisticModel(parts: LogisticParts): Model<SerializedLogistic> {
  return {
    predict: (features, into) => predictLogistic(parts, features, into),
    contributions: () => parts.weights.map(Math.abs),
    serialize: () => ({
      intercept: parts.intercept,
      weights: [...parts.weights],
      mean: [...parts.mean],
      scale: [...parts.scale],
    }),
  };
}

export function deserializeLogistic(serialized: SerializedLogistic): Model<SerializedLogistic> {
  return logisticModel({
    intercept: serialized.intercept,
    weights: Float64Array.from(serialized.weights),
    mean: Float64Array.from(serialized.mean),
    scale: Float64Array.from(serialized.scale),
  });
}
