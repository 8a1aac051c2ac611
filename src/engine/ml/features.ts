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
