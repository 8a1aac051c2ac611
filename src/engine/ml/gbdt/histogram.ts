import type { BinnedMatrix } from '../features.ts';

/** Columns of a byte each in one word: one load serves four histograms. */
const COLUMNS_IN_WORD = 4;

/** The features that a tree may split on, ready to be added up. */
export interface TreeColumns {
  /** Indices of the matrix' features, ascending. */
  readonly features: Int32Array;
  /** Four features' bins a word, the first in the lowest byte; one array for each four features, one word for each row. */
  readonly words: readonly Uint32Array[];
  /** Where each feature's bins begin in a histogram; places beyond the features take what the last words have too much. */
  readonly offsets: Int32Array;
  /** Bins of present values of each feature; a bin for missing ones follows them. */
  readonly binCounts: Int32Array;
  readonly hasMissing: readonly boolean[];
  /** Places of a histogram. */
  readonly size: number;
}

/** Lays out the bins of some features for the first `rows` rows. */
export function layOutColumns(binned: BinnedMatrix, features: Int32Array, rows: number): TreeColumns {
  const binCounts = Int32Array.from(features, (feature) => binned.cuts[feature]!.length + 1);
  const groups = Math.ceil(features.length / COLUMNS_IN_WORD);
  const offsets = new Int32Array(groups * COLUMNS_IN_WORD);
  let size = 0;
  for (let j = 0; j < offsets.length; j++) {
    offsets[j] = size;
    size += (binCounts[j] ?? 0) + 1;
  }
  const words = Array.from({ length: groups }, (_, group) => {
    const inWord = features.subarray(group * COLUMNS_IN_WORD, (group + 1) * COLUMNS_IN_WORD);
    return packWords(
      [...inWord].map((feature) => binned.bins[feature]!),
      rows,
    );
  });
  const hasMissing = [...features].map((feature) => binned.hasMissing[feature]!);
  return { features, words, offsets, binCounts, hasMissing, size };
}

function packWords(columns: readonly Uint8Array[], rows: number): Uint32Array {
  const words = new Uint32Array(rows);
  columns.forEach((column, place) => {
    const shift = 8 * place;
    for (let i = 0; i < rows; i++) words[i] = words[i]! | (column[i]! << shift);
  });
  return words;
}

/** What is to be added up: the packed gradients of some rows, by the bins of those rows. */
interface HistogramTask {
  readonly columns: TreeColumns;
  /** Row numbers; null where position and row are the same. */
  readonly rows: Int32Array | null;
  /** By position, like `rows`. */
  readonly packed: Float64Array;
  /** Positions: the first, and the one after the last. */
  readonly from: number;
  readonly to: number;
}

/**
 * Fills a histogram: for each feature and bin the sum of the packed gradients. Any way to split the rows gives the same bits,
 * see {@link mergeHistograms}.
 */
export type HistogramBuilder = (task: HistogramTask, into: Float64Array) => void;

export const buildHistogram: HistogramBuilder = (task, into) => {
  const { columns, rows, packed, from, to } = task;
  const { words, offsets } = columns;
  into.fill(0);
  for (let group = 0; group < words.length; group++) {
    const at = group * COLUMNS_IN_WORD;
    const places = [offsets[at]!, offsets[at + 1]!, offsets[at + 2]!, offsets[at + 3]!] as const;
    if (rows) addRows(words[group]!, rows, packed, from, to, into, ...places);
    else addRange(words[group]!, packed, from, to, into, ...places);
  }
};

function addRows(
  words: Uint32Array,
  rows: Int32Array,
  packed: Float64Array,
  from: number,
  to: number,
  into: Float64Array,
  a: number,
  b: number,
  c: number,
  d: number,
): void {
  for (let i = from; i < to; i++) {
    const word = words[rows[i]!]!;
    const value = packed[i]!;
    into[a + (word & 255)]! += value;
    into[b + ((word >>> 8) & 255)]! += value;
    into[c + ((word >>> 16) & 255)]! += value;
    into[d + (word >>> 24)]! += value;
  }
}

/** Without row numbers to look up, a tenth faster; the first histogram of a tree is the largest. */
function addRange(
  words: Uint32Array,
  packed: Float64Array,
  from: number,
  to: number,
  into: Float64Array,
  a: number,
  b: number,
  c: number,
  d: number,
): void {
  for (let i = from; i < to; i++) {
    const word = words[i]!;
    const value = packed[i]!;
    into[a + (word & 255)]! += value;
    into[b + ((word >>> 8) & 255)]! += value;
    into[c + ((word >>> 16) & 255)]! += value;
    into[d + (word >>> 24)]! += value;
  }
}

/** Adds histograms of disjoint rows: exactly the histogram of all of them, in whatever order. */
export function mergeHistograms(parts: readonly Float64Array[], into: Float64Array): void {
  into.fill(0);
  for (const part of parts) {
    for (let k = 0; k < into.length; k++) into[k] = into[k]! + part[k]!;
  }
}

/** Turns a parent's histogram into that of the child whose sibling's is given. */
export function subtractHistogram(parent: Float64Array, sibling: Float64Array): void {
  for (let k = 0; k < parent.length; k++) parent[k] = parent[k]! - sibling[k]!;
}

/**
 * A builder that splits the rows into parts of about equal size and merges their histograms: what several workers do, in turn.
 *
 * @param parts how many, 1 or more
 */
export function partitionedHistograms(parts: number): HistogramBuilder {
  return (task, into) => {
    const { from, to } = task;
    const ends = Array.from({ length: parts + 1 }, (_, k) => from + Math.floor(((to - from) * k) / parts));
    const built = ends.slice(1).map((end, k) => {
      const part = new Float64Array(into.length);
      buildHistogram({ ...task, from: ends[k]!, to: end }, part);
      return part;
    });
    mergeHistograms(built, into);
  };
}

/** Histograms that are used again: thousands of nodes would otherwise leave theirs to the garbage collector. */
export interface HistogramPool {
  /** One with any content. */
  take(): Float64Array;
  give(histogram: Float64Array): void;
}

/** A pool of histograms of one size. */
export function createHistogramPool(size: number): HistogramPool {
  const free: Float64Array[] = [];
  return {
    take: () => free.pop() ?? new Float64Array(size),
    give: (histogram) => {
      free.push(histogram);
    },
  };
}
