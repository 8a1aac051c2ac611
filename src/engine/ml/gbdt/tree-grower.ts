import type { BoostInput } from './boost-input.ts';
import { type Gradients, packGradients } from './gradients.ts';
import { type GrownTree, growTree } from './grow.ts';
import { growSymmetricTree } from './grow-symmetric.ts';
import { layOutColumns } from './histogram.ts';
import { createHistogramPool } from './histogram-pool.ts';
import { partitionRows, type RowOrder } from './partition.ts';
import { others, range, roundRandom, sample } from './sampling.ts';
import { splitRules } from './split.ts';
import type { Tree } from './tree.ts';

/** A round's tree, and by feature how much its splits reduce the loss. */
export interface RoundTree {
  readonly tree: Tree;
  readonly gains: Float64Array;
}

/**
 * What grows the tree of a round from the gradients as they are then, and adds its leaf values to the scores of all rows. Its
 * buffers are used again in each round.
 */
export function treeGrower(
  input: BoostInput,
  gradients: Gradients,
  scores: Float64Array,
): (round: number) => RoundTree {
  const { binned, settings, fitted, validationFrom, histograms } = input;
  const featureCount = binned.bins.length;
  const everyRow = range(0, fitted);
  const judged = range(validationFrom, scores.length);
  const rows = new Int32Array(scores.length);
  const spareRows = new Int32Array(scores.length);
  const order = { rows, packed: new Float64Array(fitted), spareRows, sparePacked: new Float64Array(fitted) };
  const routed: RowOrder = {
    rows: new Int32Array(scores.length),
    packed: null,
    spareRows,
    sparePacked: null,
  };

  const layOut = (features: Int32Array) => {
    const columns = layOutColumns(binned, features, fitted);
    return { columns, pool: createHistogramPool(columns.size) };
  };
  const allColumns = settings.column_sample < 1 ? undefined : layOut(range(0, featureCount));

  return (round) => {
    const random = roundRandom(settings.seed, round);
    const { columns, pool } = allColumns ?? layOut(sample(featureCount, settings.column_sample, random));
    const isEveryRow = settings.subsample === 1;
    const chosen = isEveryRow ? everyRow : sample(fitted, settings.subsample, random);
    packGradients(gradients);
    rows.set(chosen);
    for (let i = 0; i < chosen.length; i++) order.packed[i] = gradients.packed[chosen[i]!]!;
    const gains = new Float64Array(featureCount);
    const rules = splitRules(settings, gradients);
    const grow = settings.kind === 'symmetric_gbdt' ? growSymmetricTree : growTree;
    const grown = grow({
      binned,
      columns,
      order,
      count: chosen.length,
      isEveryRow,
      rules,
      settings,
      histograms,
      pool,
      gains,
    });
    setLeafValues(grown, order, gradients, settings);
    for (const { nodes, from, to } of grown.leaves) {
      addToScores(scores, rows, from, to, grown.tree.value[nodes[0]!]!);
    }
    const rest = isEveryRow ? judged : concat(others(fitted, chosen), judged);
    routed.rows.set(rest);
    route(grown.tree, 0, 0, rest.length);
    return { tree: grown.tree, gains };
  };

  /** Sends rows that the tree was not grown from to its leaves. */
  function route(tree: Tree, node: number, from: number, to: number): void {
    if (from === to) return;
    const feature = tree.feature[node]!;
    if (feature < 0) {
      addToScores(scores, routed.rows, from, to, tree.value[node]!);
      return;
    }
    const missingLeft = tree.missingLeft[node] === 1;
    const middle = partitionRows(routed, from, to, binned, feature, tree.bin[node]!, missingLeft);
    route(tree, tree.left[node]!, from, middle);
    route(tree, tree.left[node]! + 1, middle, to);
  }
}

/** -rate * G / (H + l2) of the exact derivatives, added up by ascending row. */
function setLeafValues(
  { tree, leaves }: GrownTree,
  { rows }: RowOrder,
  { gradient, hessian }: Gradients,
  { learning_rate, l2 }: BoostInput['settings'],
): void {
  for (const { nodes, from, to } of leaves) {
    let g = 0;
    let h = l2;
    for (let i = from; i < to; i++) {
      const row = rows[i]!;
      g += gradient[row]!;
      h += hessian[row]!;
    }
    const value = h > 0 ? (-learning_rate * g) / h : 0;
    for (const node of nodes) tree.value[node] = value;
  }
}

function addToScores(scores: Float64Array, rows: Int32Array, from: number, to: number, value: number): void {
  for (let i = from; i < to; i++) {
    const row = rows[i]!;
    scores[row] = scores[row]! + value;
  }
}

function concat(a: Int32Array, b: Int32Array): Int32Array {
  const both = new Int32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
