import type { BinnedMatrix } from '#engine/ml/features.ts';
import type { ClassifierSettings } from '#engine/ml/settings.ts';

/** Node of a tree, with the rows that reach it. */
export interface PlainNode {
  readonly rows: readonly number[];
  readonly value: number;
  readonly split?: PlainSplit & { readonly left: PlainNode; readonly right: PlainNode };
}

interface PlainSplit {
  readonly feature: number;
  readonly bin: number;
  readonly missingLeft: boolean;
}

/** A split with the children's score as the fraction above / below. */
interface Scored extends PlainSplit {
  readonly above: number;
  readonly below: number;
  readonly gain: number;
}

export interface PlainProblem {
  readonly binned: BinnedMatrix;
  readonly labels: Uint8Array;
  readonly weights: Float64Array;
  readonly settings: ClassifierSettings;
}

interface Sums {
  readonly g: number;
  readonly h: number;
}

const MIN_LOSS_REDUCTION = 1e-6;

/** Largest power of two with sum * units + rows / 2 below the span. */
const unitsFor = (sum: number, span: number, rows: number): number =>
  2 ** Math.floor(Math.log2((span - 2 - rows / 2) / sum) - 1e-9);

/**
 * Boosting as docs/decisions/028 describes it: splits by derivatives rounded to integers, leaf values by exact ones. Every
 * sum is computed again from its rows, in their order. Slow; without histograms, samples and early stopping.
 */
export function boostPlainly(problem: PlainProblem): PlainNode[] {
  const { labels, weights, settings } = problem;
  const rows = [...labels.keys()];
  const total = rows.reduce((sum, row) => sum + weights[row]!, 0);
  const positive = rows.reduce((sum, row) => sum + (labels[row] === 1 ? weights[row]! : 0), 0);
  const prior = Math.min(Math.max(positive / total, 1e-6), 1 - 1e-6);
  const scores = rows.map(() => Math.log(prior / (1 - prior)));
  return Array.from({ length: settings.n_estimators }, () => {
    const derivatives = rows.map((row) => {
      const sign = labels[row] === 1 ? -1 : 1;
      const e = Math.exp(Math.min(sign * scores[row]!, 200));
      const share = e / (1 + e);
      const g = sign * weights[row]! * share;
      return { g, h: Math.max((weights[row]! * share) / (1 + e), 1e-16) };
    });
    const tree = new PlainTree(problem, derivatives);
    const root = settings.kind === 'symmetric_gbdt' ? tree.growLevels(rows) : tree.grow(rows);
    for (const leaf of leavesOf(root)) for (const row of leaf.rows) scores[row]! += leaf.value;
    return root;
  });
}

/** Leaves whose rows are all of a node's: rows that were not separated are in one of two leaves. */
function leavesOf(node: PlainNode): PlainNode[] {
  if (!node.split) return [node];
  const { left, right } = node.split;
  return left.rows === right.rows ? leavesOf(left) : [...leavesOf(left), ...leavesOf(right)];
}

interface Open {
  readonly rows: readonly number[];
  readonly depth: number;
  readonly split: Scored | undefined;
  children?: readonly [Open, Open];
}

class PlainTree {
  readonly problem: PlainProblem;
  readonly derivatives: readonly Sums[];
  readonly rounded: readonly Sums[];
  readonly l2: number;
  readonly minChild: number;
  readonly minGain: number;

  constructor(problem: PlainProblem, derivatives: readonly Sums[]) {
    const { settings } = problem;
    const rows = derivatives.length;
    const gUnits = unitsFor(
      derivatives.reduce((sum, { g }) => sum + Math.abs(g), 0),
      2 ** 27,
      rows,
    );
    const hUnits = unitsFor(
      derivatives.reduce((sum, { h }) => sum + h, 0),
      2 ** 26,
      rows,
    );
    this.problem = problem;
    this.derivatives = derivatives;
    this.rounded = derivatives.map(({ g, h }) => ({
      g: Math.floor(g * gUnits + 0.5),
      h: Math.floor(h * hUnits + 0.5),
    }));
    this.l2 = settings.l2 * hUnits;
    this.minChild = Math.max(settings.min_child_weight * hUnits, 1);
    this.minGain = Math.max(settings.gamma, MIN_LOSS_REDUCTION) * ((gUnits * gUnits) / hUnits);
  }

  grow(rows: readonly number[]): PlainNode {
    const { kind, max_leaves, max_depth } = this.problem.settings;
    const isLeafwise = kind === 'leafwise_gbdt';
    const openAt = (at: readonly number[], depth: number): Open => ({
      rows: at,
      depth,
      split: depth < max_depth ? this.bestSplit(at) : undefined,
    });
    const root = openAt(rows, 0);
    let open = [root];
    for (let leaves = 1; leaves < (isLeafwise ? max_leaves : Number.POSITIVE_INFINITY); leaves++) {
      const splittable = open.filter(({ split }) => split);
      const [first] = splittable;
      if (!first) break;
      const next = splittable.reduce((a, b) => (b.split!.gain > a.split!.gain ? b : a), first);
      const [left, right] = this.divide(next.rows, next.split!);
      next.children = [openAt(left, next.depth + 1), openAt(right, next.depth + 1)];
      open = [...open.filter((leaf) => leaf !== next), ...next.children];
    }
    const finish = ({ rows: at, split, children }: Open): PlainNode => ({
      rows: at,
      value: this.valueOf(at),
      ...(split && children
        ? { split: { ...split, left: finish(children[0]), right: finish(children[1]) } }
        : {}),
    });
    return finish(root);
  }

  /** All nodes of a level share the split with the largest sum of gains. */
  growLevels(rows: readonly number[]): PlainNode {
    const levels: PlainSplit[] = [];
    let parts: (readonly number[])[] = [rows];
    while (levels.length < this.problem.settings.max_depth) {
      const split = this.bestLevelSplit(parts);
      if (!split) break;
      levels.push(split);
      parts = parts.flatMap((part) => this.divided(part, split) ?? [part]);
    }
    const build = (part: readonly number[], level: number): PlainNode => {
      const split = levels[level];
      const node = { rows: part, value: this.valueOf(part) };
      if (!split) return node;
      const [left, right] = this.divided(part, split) ?? [part, part];
      return { ...node, split: { ...split, left: build(left, level + 1), right: build(right, level + 1) } };
    };
    return build(rows, 0);
  }

  bestLevelSplit(parts: readonly (readonly number[])[]): PlainSplit | undefined {
    let best: PlainSplit | undefined;
    let bestGain = 0;
    for (const split of this.splits(() => true)) {
      let gain = 0;
      for (const part of parts) {
        const score = this.score(part, split);
        if (score) gain += score.above / score.below - (this.nodeScore(part) + this.minGain);
      }
      if (gain > bestGain) {
        bestGain = gain;
        best = split;
      }
    }
    return best;
  }

  bestSplit(rows: readonly number[]): Scored | undefined {
    const parent = this.nodeScore(rows);
    let best: Scored | undefined;
    const { binned } = this.problem;
    const hasRow = (feature: number, bin: number) => rows.some((row) => binned.bins[feature]![row] === bin);
    for (const split of this.splits(hasRow)) {
      const score = this.score(rows, split);
      if (!score) continue;
      const { above, below } = score;
      if (above * (best?.below ?? 1) > (best?.above ?? parent + this.minGain) * below) {
        best = { ...split, above, below, gain: above / below - parent };
      }
    }
    return best;
  }

  /** By feature: missing values to the right, then to the left; bins ascending. */
  splits(hasRow: (feature: number, bin: number) => boolean): PlainSplit[] {
    const { cuts, hasMissing } = this.problem.binned;
    return cuts.flatMap(({ length }, feature) =>
      [false, true].flatMap((missingLeft) => {
        if (missingLeft && !(hasMissing[feature] && hasRow(feature, length + 1))) return [];
        const bins = Array.from({ length: length + 1 }, (_, bin) => bin).filter((bin) =>
          hasRow(feature, bin),
        );
        return bins.map((bin) => ({ feature, bin, missingLeft }));
      }),
    );
  }

  /** Undefined when a child is too small. */
  score(rows: readonly number[], split: PlainSplit): { above: number; below: number } | undefined {
    const [left, right] = this.divide(rows, split).map((side) => this.sum(side)) as [Sums, Sums];
    if (left.h < this.minChild || right.h < this.minChild) return undefined;
    const weight = left.h + this.l2;
    const otherWeight = right.h + this.l2;
    return {
      above: left.g * left.g * otherWeight + right.g * right.g * weight,
      below: weight * otherWeight,
    };
  }

  nodeScore(rows: readonly number[]): number {
    const { g, h } = this.sum(rows);
    return h + this.l2 > 0 ? (g * g) / (h + this.l2) : 0;
  }

  sum(rows: readonly number[]): Sums {
    let g = 0;
    let h = 0;
    for (const row of rows) {
      g += this.rounded[row]!.g;
      h += this.rounded[row]!.h;
    }
    return { g, h };
  }

  divide(rows: readonly number[], { feature, bin, missingLeft }: PlainSplit): [number[], number[]] {
    const { bins, cuts } = this.problem.binned;
    const goesLeft = (row: number) => {
      const own = bins[feature]![row]!;
      return own <= bin || (missingLeft && own === cuts[feature]!.length + 1);
    };
    return [rows.filter(goesLeft), rows.filter((row) => !goesLeft(row))];
  }

  /** Undefined when a child is too small. */
  divided(rows: readonly number[], split: PlainSplit): [number[], number[]] | undefined {
    return this.score(rows, split) && this.divide(rows, split);
  }

  valueOf(rows: readonly number[]): number {
    let g = 0;
    let h = this.problem.settings.l2;
    for (const row of rows) {
      g += this.derivatives[row]!.g;
      h += this.derivatives[row]!.h;
    }
    return h > 0 ? (-this.problem.settings.learning_rate * g) / h : 0;
  }
}
