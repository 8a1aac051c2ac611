import type { ClassifierSettings } from '#engine/ml/settings.ts';

/** Tree computed from the definitions, with the rows that reach each node. */
export interface ExactNode {
  readonly rows: readonly number[];
  value: number;
  split?: ExactSplit & { readonly left: ExactNode; readonly right: ExactNode };
}

interface ExactSplit {
  readonly feature: number;
  readonly threshold: number;
  readonly missingLeft: boolean;
  readonly gain: number;
}

export interface ExactProblem {
  readonly columns: readonly Float64Array[];
  readonly labels: Uint8Array;
  readonly weights: Float64Array;
  readonly settings: ClassifierSettings;
}

/**
 * Boosting with exact gradients. Every distinct value of every feature is tried in every node, and every sum is computed
 * again from its rows. Slow; follows the definitions only.
 */
export function boostExactly(problem: ExactProblem): ExactNode[] {
  const { labels, weights, settings } = problem;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const positive = weights.reduce((sum, weight, i) => sum + weight * labels[i]!, 0);
  const scores = new Float64Array(labels.length).fill(Math.log(positive / (total - positive)));
  return Array.from({ length: settings.n_estimators }, () => {
    const p = scores.map((score) => 1 / (1 + Math.exp(-score)));
    const g = p.map((value, i) => weights[i]! * (value - labels[i]!));
    const h = p.map((value, i) => weights[i]! * value * (1 - value));
    const tree = new ExactTree(problem, g, h);
    const root = tree.grow();
    // Leaves of rows that were not separated hold the same rows and the same value.
    const values = new Map(leavesOf(root).flatMap(({ rows, value }) => rows.map((row) => [row, value])));
    for (const [row, value] of values) scores[row]! += value;
    return root;
  });
}

function leavesOf(node: ExactNode): ExactNode[] {
  return node.split ? [...leavesOf(node.split.left), ...leavesOf(node.split.right)] : [node];
}

class ExactTree {
  readonly problem: ExactProblem;
  readonly g: Float64Array;
  readonly h: Float64Array;
  readonly least: number;

  constructor(problem: ExactProblem, g: Float64Array, h: Float64Array) {
    this.problem = problem;
    this.g = g;
    this.h = h;
    this.least = Math.max(problem.settings.gamma, 1e-6);
  }

  grow(): ExactNode {
    const root = this.node([...this.g.keys()]);
    const { kind, max_depth, max_leaves } = this.problem.settings;
    if (kind === 'symmetric_gbdt') this.growLevels(root, max_depth);
    else if (kind === 'leafwise_gbdt') this.growLargest(root, max_depth, max_leaves);
    else this.growAll(root, max_depth);
    return root;
  }

  growAll(node: ExactNode, depth: number): void {
    const split = depth > 0 ? this.bestSplit(node.rows) : undefined;
    if (!split) return;
    this.apply(node, split);
    this.growAll(node.split!.left, depth - 1);
    this.growAll(node.split!.right, depth - 1);
  }

  growLargest(root: ExactNode, maxDepth: number, maxLeaves: number): void {
    const open: { node: ExactNode; depth: number; split: ExactSplit | undefined }[] = [];
    const add = (node: ExactNode, depth: number) => {
      open.push({ node, depth, split: depth < maxDepth ? this.bestSplit(node.rows) : undefined });
    };
    add(root, 0);
    for (let leaves = 1; leaves < maxLeaves; leaves++) {
      const best = open
        .filter(({ split }) => split)
        .reduce<(typeof open)[number] | undefined>(
          (a, b) => (a === undefined || b.split!.gain > a.split!.gain ? b : a),
          undefined,
        );
      if (!best) return;
      open.splice(open.indexOf(best), 1);
      this.apply(best.node, best.split!);
      add(best.node.split!.left, best.depth + 1);
      add(best.node.split!.right, best.depth + 1);
    }
  }

  /** Groups nodes of a level that hold the same rows: those too small to split on an earlier level. */
  growLevels(root: ExactNode, maxDepth: number): void {
    let groups: ExactNode[][] = [[root]];
    for (let depth = 0; depth < maxDepth; depth++) {
      let best: ExactSplit | undefined;
      for (const split of this.candidates([...this.g.keys()])) {
        let gain = 0;
        for (const [node] of groups) {
          const own = this.gainOf(node!.rows, split);
          if (own !== undefined) gain += own - this.least;
        }
        if (gain > (best?.gain ?? 0)) best = { ...split, gain };
      }
      if (!best) return;
      const chosen = best;
      groups = groups.flatMap((group) => {
        const isSplit = this.gainOf(group[0]!.rows, chosen) !== undefined;
        for (const node of group) {
          if (isSplit) this.apply(node, chosen);
          else node.split = { ...chosen, left: this.node(node.rows), right: this.node(node.rows) };
        }
        const lefts = group.map((node) => node.split!.left);
        const rights = group.map((node) => node.split!.right);
        return isSplit ? [lefts, rights] : [[...lefts, ...rights]];
      });
    }
  }

  bestSplit(rows: readonly number[]): ExactSplit | undefined {
    let best: ExactSplit | undefined;
    for (const split of this.candidates(rows)) {
      const gain = this.gainOf(rows, split);
      if (gain !== undefined && gain > (best?.gain ?? this.least)) best = { ...split, gain };
    }
    return best;
  }

  /** Every feature, missing values to the right and then to the left, every value ascending. */
  candidates(rows: readonly number[]): Omit<ExactSplit, 'gain'>[] {
    return this.problem.columns.flatMap((column, feature) => {
      const present = rows.map((row) => column[row]!).filter((value) => !Number.isNaN(value));
      const values = [...new Set(present)].sort((a, b) => a - b);
      return [false, true].flatMap((missingLeft) =>
        values.map((threshold) => ({ feature, threshold, missingLeft })),
      );
    });
  }

  goesLeft(row: number, { feature, threshold, missingLeft }: Omit<ExactSplit, 'gain'>): boolean {
    const value = this.problem.columns[feature]![row]!;
    return Number.isNaN(value) ? missingLeft : value <= threshold;
  }

  sums(rows: readonly number[]): { g: number; h: number } {
    let g = 0;
    let h = 0;
    for (const row of rows) {
      g += this.g[row]!;
      h += this.h[row]!;
    }
    return { g, h };
  }

  score(rows: readonly number[]): number {
    const { g, h } = this.sums(rows);
    return (g * g) / (h + this.problem.settings.l2);
  }

  /** Undefined when a child would be too small. */
  gainOf(rows: readonly number[], split: Omit<ExactSplit, 'gain'>): number | undefined {
    const left = rows.filter((row) => this.goesLeft(row, split));
    const right = rows.filter((row) => !this.goesLeft(row, split));
    if (left.length === 0 || right.length === 0) return undefined;
    const { min_child_weight } = this.problem.settings;
    if (this.sums(left).h < min_child_weight || this.sums(right).h < min_child_weight) return undefined;
    return this.score(left) + this.score(right) - this.score(rows);
  }

  apply(node: ExactNode, split: ExactSplit): void {
    const left = this.node(node.rows.filter((row) => this.goesLeft(row, split)));
    const right = this.node(node.rows.filter((row) => !this.goesLeft(row, split)));
    node.split = { ...split, left, right };
  }

  node(rows: readonly number[]): ExactNode {
    const { g, h } = this.sums(rows);
    const { learning_rate, l2 } = this.problem.settings;
    return { rows, value: (-learning_rate * g) / (h + l2) };
  }
}
