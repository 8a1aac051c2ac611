/** Rows as columns of equal length; the first column holds ascending, distinct times in ms. */
export type Rows = readonly Float64Array[];

export function rowsBetween(rows: Rows, from: number, to: number): Rows {
  return rows.map((column) => column.subarray(from, to));
}

/** Both sets of rows by time, `added` winning where both have a row of the same time. Undefined: nothing changes. */
export function mergeRows(existing: Rows, added: Rows): Rows | undefined {
  const [old, fresh] = [existing[0]!, added[0]!];
  const length = countDistinct(old, fresh);
  const merged = existing.map(() => new Float64Array(length));
  let changed = false;
  for (let row = 0, i = 0, j = 0; row < length; row++) {
    const fromAdded = i === old.length || (j < fresh.length && fresh[j]! <= old[i]!);
    const both = fromAdded && i < old.length && old[i] === fresh[j];
    for (let column = 0, { length } = merged; column < length; column++) {
      const value = fromAdded ? added[column]![j]! : existing[column]![i]!;
      merged[column]![row] = value;
      if (fromAdded && !(both && existing[column]![i] === value)) changed = true;
    }
    if (fromAdded) j++;
    if (!fromAdded || both) i++;
  }
  return changed ? merged : undefined;
}

function countDistinct(a: Float64Array, b: Float64Array): number {
  let count = a.length + b.length;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) count--;
    if (a[i]! <= b[j]!) i++;
    else j++;
  }
  return count;
}
