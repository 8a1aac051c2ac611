/** Feature columns, row-aligned. `NaN` is a missing value; infinities are values like others. */
export interface FeatureMatrix {
  readonly names: readonly string[];
  /** One per name, each of at least `rows` values. */
  readonly columns: readonly Float64Array[];
  readonly rows: number;
}

/**
 * Throws a RangeError that says what is wrong with a matrix: no columns, as many names as columns missing, names that repeat,
 * columns that are too short.
 */
export function checkFeatures({ names, columns, rows }: FeatureMatrix): void {
  if (columns.length === 0) throw new RangeError('A model needs at least one feature.');
  if (names.length !== columns.length) {
    throw new RangeError(`${columns.length} feature columns have ${names.length} names.`);
  }
  if (new Set(names).size !== names.length) throw new RangeError('Two features have the same name.');
  columns.forEach((column, j) => {
    if (column.length < rows) {
      throw new RangeError(`Feature ${names[j]} has ${column.length} values for ${rows} rows.`);
    }
  });
}

/** Throws a RangeError when a matrix does not have exactly these features in this order. */
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

/** Features as small integers: what trees are trained on. It depends on the rows and `maxBins` alone, so trials share it. */
export interface BinnedMatrix {
  /** What was binned. */
  readonly features: FeatureMatrix;
  readonly maxBins: number;
  /** Ascending upper ends of each feature's bins but the last: bin b holds cuts[b-1] < value <= cuts[b]. */
  readonly cuts: readonly Float64Array[];
  /** Bin of each value, one column per feature; a missing value is in bin `cuts.length + 1`, after all others. */
  readonly bins: readonly Uint8Array[];
  /** Whether a feature has missing values among these rows. */
  readonly hasMissing: readonly boolean[];
}

/**
 * Sorts each feature's values into at most `maxBins` bins of about equally many rows; a feature with no more distinct values
 * than bins gets one bin for each. Equal values share a bin. Ends lie half-way between neighboring values.
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
  // Rows that are left are spread over the bins that are left: a value that fills a bin of its own takes none from others.
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

/** Distinct values, counted up to one more than `most`. */
function countDistinct(sorted: Float64Array, most: number): number {
  let count = Math.min(sorted.length, 1);
  for (let i = 1; i < sorted.length && count <= most; i++) if (sorted[i] !== sorted[i - 1]) count++;
  return count;
}

/** A number that is at least `low` and below `high`: the middle where it can be told apart from `high`. */
function between(low: number, high: number): number {
  const middle = low + (high - low) / 2;
  return middle >= low && middle < high ? middle : low;
}

function binColumn(column: Float64Array, rows: number, cuts: Float64Array): Uint8Array {
  const bins = new Uint8Array(rows);
  binValues(column, 0, rows, searchLadder(cuts), 0, cuts.length + 1, bins, 0);
  return bins;
}

/** Cuts followed by infinities up to one less than a power of two: a search in it takes the same steps for every value. */
export function searchLadder(cuts: Float64Array): Float64Array {
  const ladder = new Float64Array(2 ** Math.ceil(Math.log2(cuts.length + 1)) - 1).fill(
    Number.POSITIVE_INFINITY,
  );
  ladder.set(cuts);
  return ladder;
}

/**
 * Writes the bin of `count` values, how many cuts are below it plus `shift`, or `missing` for `NaN`.
 *
 * @param ladder the cuts by {@link searchLadder}
 */
export function binValues(
  values: Float64Array,
  from: number,
  count: number,
  ladder: Float64Array,
  shift: number,
  missing: number,
  into: Uint8Array,
  at: number,
): void {
  const half = (ladder.length + 1) >> 1;
  for (let i = 0; i < count; i++) {
    const value = values[from + i]!;
    // No branch on a comparison, which could not be foreseen: -1 keeps the step, -0 drops it.
    let bin = 0;
    for (let step = half; step > 0; step >>= 1) bin += step & -Number(ladder[bin + step - 1]! < value);
    into[at + i] = Number.isNaN(value) ? missing : bin + shift;
  }
}
