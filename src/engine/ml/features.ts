import { SORT_COUNTS } from './wasm/binning.ts';
import { type Kernel, withKernel } from './wasm/kernel.ts';

/** Feature columns, row-aligned. `NaN` is a missing value; infinities are values like others. */
export interface FeatureMatrix {
  readonly names: readonly string[];
  /** One per name, each of at least `rows` values. */
  readonly columns: readonly Float64Array[];
  readonly rows: number;
}

/**
 * @throws RangeError when the matrix has no columns, a different number of names, repeated names, or columns that are too
 *   short
 */
export function checkFeatures({ names, columns, rows }: FeatureMatrix): void {
  if (columns.length === 0)
    throw new RangeError('The training data has no features. Pass at least one feature.');
  if (names.length !== columns.length) {
    throw new RangeError(
      `${columns.length} feature columns have ${names.length} names. Pass one name per column.`,
    );
  }
  if (new Set(names).size !== names.length) {
    const repeated = names.find((name, j) => names.indexOf(name) !== j);
    throw new RangeError(`Two features have the same name: ${repeated}. Give each feature its own name.`);
  }
  columns.forEach((column, j) => {
    if (column.length < rows) {
      throw new RangeError(
        `Feature ${names[j]} has ${column.length} values for ${rows} rows. Pass one value per row.`,
      );
    }
  });
}

/** @throws RangeError when a matrix does not have exactly these features in this order */
export function checkSameFeatures(expected: readonly string[], matrix: FeatureMatrix): void {
  checkFeatures(matrix);
  const isSame =
    expected.length === matrix.names.length && expected.every((name, j) => name === matrix.names[j]);
  if (!isSame) {
    throw new RangeError(
      `The model was trained on the features ${expected.join(', ')}; it was given ${matrix.names.join(', ')}.`,
    );
  }
}

/** Features as small integers, the training input of trees. Depends only on the rows and `maxBins`, so trials share it. */
export interface BinnedMatrix {
  /** Values before binning. */
  readonly features: FeatureMatrix;
  readonly maxBins: number;
  /** Ascending upper ends of each feature's bins except the last: bin b holds cuts[b-1] < value <= cuts[b]. */
  readonly cuts: readonly Float64Array[];
  /** Bin of each value, one column per feature. A missing value is in bin `cuts.length + 1`, after all others. */
  readonly bins: readonly Uint8Array[];
  /** By feature: true if one of these rows has no value. */
  readonly hasMissing: readonly boolean[];
}

/**
 * Sorts each feature's values into at most `maxBins` bins with about the same number of rows. A feature with at most
 * `maxBins` distinct values has one bin for each. Equal values share a bin. Ends are halfway between neighboring values.
 *
 * @param maxBins 2 to 255
 * @throws RangeError when the matrix is malformed or `maxBins` is out of range
 */
export function binFeatures(features: FeatureMatrix, maxBins: number): BinnedMatrix {
  checkFeatures(features);
  if (!(Number.isInteger(maxBins) && maxBins >= 2 && maxBins <= 255)) {
    throw new RangeError(`max_bins: must be an integer from 2 to 255, not ${maxBins}`);
  }
  const { columns, rows } = features;
  const cuts: Float64Array[] = [];
  const bins: Uint8Array[] = [];
  const hasMissing: boolean[] = [];
  withKernel((kernel) => {
    const binColumn = columnBinner(kernel, rows, maxBins);
    for (const column of columns) {
      const binned = binColumn(column);
      cuts.push(binned.cuts);
      bins.push(binned.bins);
      hasMissing.push(binned.hasMissing);
    }
  });
  return { features, maxBins, cuts, bins, hasMissing };
}

/** Returns a function that bins one column. All columns use the same memory. */
function columnBinner(kernel: Kernel, rows: number, maxBins: number) {
  const valuesAt = kernel.take(8 * (rows + 4));
  const presentAt = kernel.take(8 * rows);
  const spareAt = kernel.take(8 * rows);
  const countsAt = kernel.take(SORT_COUNTS);
  const cutsAt = kernel.take(8 * maxBins * 2);
  const binsAt = kernel.take(rows + 4);
  return (column: Float64Array) => {
    const values = column.subarray(0, rows);
    kernel.f64(valuesAt, rows).set(values);
    const present = copyPresent(values, kernel.f64(presentAt, rows));
    const sortedAt = kernel.run.sortValues(presentAt, spareAt, present, countsAt);
    const cuts = cutsOf(kernel.f64(sortedAt, present), maxBins);
    const padded = paddedCuts(cuts);
    kernel.f64(cutsAt, padded.length).set(padded);
    const half = 8 * ((padded.length + 1) >> 1);
    kernel.run.binValues(valuesAt, rows, cutsAt, half, 0, cuts.length + 1, binsAt);
    return { cuts, bins: kernel.u8(binsAt, rows).slice(), hasMissing: present < rows };
  };
}

/** Copies the values that are not NaN. Returns their number. */
function copyPresent(values: Float64Array, into: Float64Array): number {
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    into[count] = value;
    count += Number(!Number.isNaN(value));
  }
  return count;
}

/** Cuts of ascending values. */
function cutsOf(sorted: Float64Array, maxBins: number): Float64Array {
  const cuts: number[] = [];
  const rows = sorted.length;
  const each = countDistinct(sorted, maxBins) <= maxBins;
  // The remaining rows are spread over the remaining bins, so one frequent value does not enlarge the other bins.
  let start = 0;
  let least = rows / maxBins;
  for (let i = 1; i < rows && cuts.length < maxBins - 1; i++) {
    if (!each && i - start < least) continue;
    const value = sorted[i]!;
    const before = sorted[i - 1]!;
    if (value === before) continue;
    cuts.push(between(before, value));
    start = i;
    least = (rows - start) / (maxBins - cuts.length);
  }
  return Float64Array.from(cuts);
}

/** Number of distinct values; stops counting at `max` + 1. */
function countDistinct(sorted: Float64Array, max: number): number {
  let count = Math.min(sorted.length, 1);
  for (let i = 1; i < sorted.length && count <= max; i++) if (sorted[i] !== sorted[i - 1]) count++;
  return count;
}

/** A number that is at least `low` and below `high`: the middle, or `low` when rounding makes the middle equal `high`. */
function between(low: number, high: number): number {
  const middle = low + (high - low) / 2;
  return middle >= low && middle < high ? middle : low;
}

/** Cuts padded with infinities to a length of 2^n - 1, so that a binary search takes n steps for every value. */
export function paddedCuts(cuts: Float64Array): Float64Array {
  const padded = new Float64Array(2 ** Math.ceil(Math.log2(cuts.length + 1)) - 1).fill(
    Number.POSITIVE_INFINITY,
  );
  padded.set(cuts);
  return padded;
}
