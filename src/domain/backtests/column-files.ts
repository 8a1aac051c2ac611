import type { ColumnsPair } from '#contract/backtests/backtest-columns.ts';
import { CANDLE_NAMES, INDICATOR_PREFIX, SIGNAL_NAMES } from '#contract/values/columns-limits.ts';
import { type Analysis, SIGNAL_COLUMNS } from '#engine/analysis/analyze.ts';
import { ownColumn } from '#engine/own-columns.ts';
import type { PairHistory } from '#engine/run/history.ts';

/**
 * Stored form of the columns of a run: `columns.json` describes them, and each pair has files of some thousand rows, so that a page
 * reads one or two. A file has the values of all columns of its rows as doubles, column by column, least byte first. Flags and
 * indices of tags are doubles too: compression leaves little of them.
 */

/** Columns of a pair by name, the candles first. */
export interface PairColumns {
  readonly names: readonly string[];
  /** In the order of the names, as long as the rows. */
  readonly values: readonly ArrayLike<number>[];
  /** Strings of the tags; index 0 is no tag. */
  readonly tags: readonly string[];
}

/** Values of a file: 2 MB before compression. */
const FILE_VALUES = 262_144;
const MAX_FILE_ROWS = 16_384;
const VALUE_BYTES = 8;

export const COLUMNS_MANIFEST = 'columns.json';

/** Name of a file of rows. @param pair index in the manifest */
export const columnsFile = (pair: number, file: number) => `columns/${pair}/${file}.doubles`;

/** Rows of a file for that many columns. */
function fileRows(columns: number): number {
  return Math.max(1, Math.min(MAX_FILE_ROWS, Math.floor(FILE_VALUES / columns)));
}

/**
 * Columns of the candles that a run traded: startup candles are left out. Signals are those that the strategy returned.
 * No name is that of an object's prototype: clients lose it.
 */
export function columnsOfPair({ candles, from }: PairHistory, analysis: Analysis): PairColumns {
  const traded = (column: Float64Array) => ownColumn(column).subarray(from);
  const columns = new Map<string, ArrayLike<number>>();
  for (const name of CANDLE_NAMES) columns.set(name, traded(candles[name]));
  const { signals: acting, returned: signals = acting } = analysis;
  const rows = candles.timestamp.length;
  for (const name of SIGNAL_COLUMNS)
    columns.set(SIGNAL_NAMES[name], (signals[name] ?? new Uint8Array(rows)).subarray(from));
  for (const [key, informative] of Object.entries(analysis.informative))
    for (const [name, column] of Object.entries(informative)) columns.set(`${key}:${name}`, traded(column));
  for (const [name, column] of Object.entries(analysis.columns)) {
    let unique = name;
    while (columns.has(unique) || unique === '__proto__') unique = `${INDICATOR_PREFIX}${unique}`;
    columns.set(unique, traded(column));
  }
  return { names: [...columns.keys()], values: [...columns.values()], tags: signals.tags ?? [] };
}

/** Description of the columns of a pair, and its files in order. */
export function encodePairColumns(
  { data: { pair }, candles, from, stepMs }: PairHistory,
  timeframe: ColumnsPair['timeframe'],
  { names, values, tags }: PairColumns,
): { readonly described: ColumnsPair; readonly files: readonly Uint8Array[] } {
  const rows = candles.timestamp.length - from;
  const file_rows = fileRows(names.length);
  const files = Array.from({ length: Math.ceil(rows / file_rows) }, (_, file) =>
    encodeRows(values, file * file_rows, Math.min(rows, (file + 1) * file_rows)),
  );
  const described = {
    pair,
    timeframe,
    first: candles.timestamp[from]!,
    step: stepMs,
    rows,
    file_rows,
    names: [...names],
    tags: [...tags],
  };
  return { described, files };
}

function encodeRows(columns: readonly ArrayLike<number>[], from: number, to: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(columns.length * (to - from) * VALUE_BYTES));
  let at = 0;
  for (const column of columns) {
    for (let row = from; row < to; row++) {
      view.setFloat64(at, column[row]!, true);
      at += VALUE_BYTES;
    }
  }
  return new Uint8Array(view.buffer);
}

/** Rows [from, to) of some columns, by reading the files that have them. @param indices of the columns among the names */
export async function readColumns(
  read: (file: number) => Promise<Uint8Array>,
  { names, rows, file_rows }: ColumnsPair,
  indices: readonly number[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Float64Array[]> {
  const columns = indices.map(() => new Float64Array(to - from));
  for (let file = Math.floor(from / file_rows); file * file_rows < to; file++) {
    const stored = await read(file);
    const first = file * file_rows;
    const length = Math.min(rows - first, file_rows);
    if (stored.length !== names.length * length * VALUE_BYTES)
      throw new Error('A file of columns is truncated');
    const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
    const begin = Math.max(from, first);
    const end = Math.min(to, first + length);
    for (const [at, index] of indices.entries())
      for (let row = begin; row < end; row++)
        columns[at]![row - from] = view.getFloat64((index * length + row - first) * VALUE_BYTES, true);
  }
  return columns;
}
