import type { BinnedMatrix } from '../features.ts';
import {
  FEATURES_IN_WORD,
  TABLE_AT,
  TABLE_LENGTH,
  TABLE_MISSING,
  TABLE_PRESENT,
  TABLE_STEP,
} from '../wasm/histogram.ts';
import type { Kernel } from '../wasm/kernel.ts';

/** Features that a tree may split on, in the layout for building histograms. */
export interface TreeColumns {
  /** Indices of features of the matrix, ascending. */
  readonly features: Int32Array;
  /** Start of each feature's bins in a histogram. */
  readonly offsets: Int32Array;
  /** Number of bins of present values of each feature; one bin for missing values follows them. */
  readonly binCounts: Int32Array;
  readonly hasMissing: readonly boolean[];
  /** Length of a histogram, in bins. */
  readonly size: number;
  /** Address of the table of the features. */
  readonly table: number;
  /** Addresses of the words of eight features: a byte for each, a word for each row. */
  readonly words: readonly number[];
}

/** Vectors of bins may reach beyond the last one. */
const PADDING_BINS = 4;

/**
 * Returns a function that lays out the bins of `count` features for the first `rows` rows. All layouts use the same memory.
 */
export function columnLayout(kernel: Kernel, binned: BinnedMatrix, count: number, rows: number) {
  const table = kernel.take(count * TABLE_STEP);
  const words = Array.from({ length: Math.ceil(count / FEATURES_IN_WORD) }, () =>
    kernel.take(rows * FEATURES_IN_WORD),
  );
  return (features: Int32Array): TreeColumns => {
    const binCounts = Int32Array.from(features, (feature) => binned.cuts[feature]!.length + 1);
    const hasMissing = Array.from(features, (feature) => binned.hasMissing[feature]!);
    const offsets = new Int32Array(count);
    const entries = kernel.i32(table, (count * TABLE_STEP) / 4);
    let size = 0;
    binCounts.forEach((present, j) => {
      offsets[j] = size;
      // With the bin of missing values, an even number: sums move in pairs.
      const bins = present + 1 + ((present + 1) % 2);
      const entry = (j * TABLE_STEP) / 4;
      entries[entry + TABLE_AT / 4] = 8 * size;
      entries[entry + TABLE_LENGTH / 4] = 8 * bins;
      entries[entry + TABLE_PRESENT / 4] = 8 * present;
      entries[entry + TABLE_MISSING / 4] = Number(hasMissing[j]!);
      size += bins;
    });
    words.forEach((address, group) => {
      const inWord = features.subarray(group * FEATURES_IN_WORD, (group + 1) * FEATURES_IN_WORD);
      const bytes = kernel.u8(address, rows * FEATURES_IN_WORD);
      inWord.forEach((feature, k) => {
        const column = binned.bins[feature]!;
        for (let i = 0, at = k; i < rows; i++, at += FEATURES_IN_WORD) bytes[at] = column[i]!;
      });
    });
    return { features, offsets, binCounts, hasMissing, size: size + PADDING_BINS, table, words };
  };
}

/** Largest size of a histogram of `count` features. */
export const histogramSize = (count: number, maxBins: number): number => count * (maxBins + 2) + PADDING_BINS;

/** Rows whose packed gradients are added up, as addresses and positions. */
interface HistogramRows {
  /** Packed gradients by row. */
  readonly packed: number;
  /** Rows by position; null when position equals row. */
  readonly order: number | null;
  /** Range of positions; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
}

/**
 * Fills the histogram at `into` with the sum of the packed gradients for each feature and bin, and subtracts it from that
 * at `parent`.
 */
export function buildHistogram(
  { run }: Kernel,
  { features, table, words }: TreeColumns,
  { packed, order, from, to }: HistogramRows,
  into: number,
  parent: number,
): void {
  words.forEach((address, group) => {
    const first = group * FEATURES_IN_WORD;
    const count = Math.min(features.length - first, FEATURES_IN_WORD) as 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;
    if (order === null) run[`addRange${count}`](address, packed, 0, from, to);
    else run[`addRows${count}`](address, packed, order, from, to);
    run.takeSums(table + first * TABLE_STEP, count, into, parent);
  });
}

/** Reuses histograms. Otherwise thousands of nodes would each take new memory. */
export interface HistogramPool {
  /** Address of a histogram with arbitrary content. */
  take(): number;
  give(histogram: number): void;
}

/** A pool of histograms of one size, in bins. */
export function createHistogramPool(kernel: Kernel, size: number): HistogramPool {
  const free: number[] = [];
  return {
    take: () => free.pop() ?? kernel.take(8 * size),
    give: (histogram) => {
      free.push(histogram);
    },
  };
}
