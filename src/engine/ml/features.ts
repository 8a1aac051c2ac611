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
  const sorted = columns.map((column) => column.slice(0, rows).sort());
  const present = sorted.map(countPresent);
  const cuts = sorted.map((values, j) => cutsOf(values.subarray(0, present[j]), maxBins));
  const bins = columns.map((column, j) => binColumn(column, rows, cuts[j]!));
  return { features, maxBins, cuts, bins, hasMissing: present.map((count) => count < rows) };
}

/** Values before the NaNs, which sort last. */
function countPresent(sorted: Float64Array): number {
  let count = sorted.length;
  while (count > 0 && Number.isNaN(sorted[count - 1]!)) count--;
  return count;
}

/** Cuts of ascending values. */
function cutsOf(sorted: Float64Array, maxBins: number): Float64Array {
  const cuts: number[] = [];
  const rows = sorted.length;
  const each = countDistinct(sorted, maxBins) <= maxBins;
  // The remaining rows are spread over the remaining bins, so one frequent value does not enlarge the other bins.
  let start = 0;
  for (let i = 1; i < rows && cuts.length < maxBins - 1; i++) {
    const value = sorted[i]!;
    const before = sorted[i - 1]!;
    if (value === before) continue;
    if (!each && i - start < (rows - start) / (maxBins - cuts.length)) continue;
    cuts.push(between(before, value));
    start = i;
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

function binColumn(column: Float64Array, rows: number, cuts: Float64Array): Uint8Array {
  const bins = new Uint8Array(rows);
  binValues(column, 0, rows, paddedCuts(cuts), 0, cuts.length + 1, bins, 0);
  return bins;
}

/** Cuts padded with infinities to a length of 2^n - 1, so that a binary search takes n steps for every value. */
export function paddedCuts(cuts: Float64Array): Float64Array {
  const padded = new Float64Array(2 ** Math.ceil(Math.log2(cuts.length + 1)) - 1).fill(
    Number.POSITIVE_INFINITY,
  );
  padded.set(cuts);
  return padded;
}

/**
 * Writes the bin of `count` values: the number of cuts below the value, plus `shift`; `missing` for `NaN`.
 *
 * @param cuts the cuts padded by {@link paddedCuts}
 */
export function binValues(
  values: Float64Array,
  from: number,
  count: number,
  cuts: Float64Array,
  shift: number,
  missing: number,
  into: Uint8Array,
  at: number,
): void {
  const half = (cuts.length + 1) >> 1;
  for (let i = 0; i < count; i++) {
    const value = values[from + i]!;
    // Branch-free, because the comparison is unpredictable: `& -1` keeps the step, `& -0` drops it.
    let bin = 0;
    for (let step = half; step > 0; step >>= 1) bin += step & -Number(cuts[bin + step - 1]! < value);
    into[at + i] = Number.isNaN(value) ? missing : bin + shift;
  }
}
