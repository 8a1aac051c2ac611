import type { Analysis, Computed } from '../analysis/analyze.ts';
import type { Candles } from '../candles.ts';
import type { MlAnalysis } from '../ml/fit-window.ts';
import type { TrainingInputs } from '../ml/training-inputs.ts';
import type { Columns, Signals } from '../strategy.ts';

/**
 * Defect of a column:
 * - `look_ahead`: a row changed when later candles became known;
 * - `not_repeatable`: two runs over the same candles differed, so look-ahead cannot be tested;
 * - `input_changed`: the strategy wrote into its candles.
 */
type ColumnDefect = 'look_ahead' | 'not_repeatable' | 'input_changed';

/** Invalid column of a pair, with the first proof. */
export interface ColumnFinding {
  readonly pair: string;
  readonly kind: ColumnDefect;
  /** `enterLong`, `columns.rsi`, `informative.1h.trend`, `features.return_1`, `label`, `candles.close`. */
  readonly column: string;
  /** Row and open time (ms) of the candle whose value changed. */
  readonly row: number;
  readonly time: number;
  /** Number of known candles when the row had the value `before`. */
  readonly known: number;
  /** The value then, and with all candles; tags as strings. */
  readonly before: number | string;
  readonly after: number | string;
  /** Number of truncated histories in which the column differed. */
  readonly histories: number;
}

/** Relative tolerance of columns: a sum over a longer array may be added in another order. */
const COLUMN_TOLERANCE = 1e-9;
/**
 * Differences up to this share of a column's largest value are rounding too, such as those of a Fourier transform near 0. What the
 * strategy decides by such a column must be the same all the same.
 */
const ROUNDING = 1e-12;

/** Reads one row of a column. */
type Reader = (row: number) => number | string;
/** Values of a column, or the reader of one that has none of its own. */
type Column = Float64Array | Uint8Array | Reader;
type Compared = ReadonlyMap<string, Column>;

const noSignals: Reader = () => 0;
const noTags: Reader = () => '';

export function columnsOf(analysis: Analysis | MlAnalysis): Compared {
  const features = 'trainingInputs' in analysis ? featureColumns(analysis.trainingInputs) : [];
  return new Map([...computedColumns(analysis), ...features, ...signalColumns(analysis.signals)]);
}

/** Columns of the pair and of its informative series. */
export function computedColumns({
  columns,
  informative,
}: Pick<Computed, 'columns' | 'informative'>): Compared {
  const compared = new Map<string, Column>();
  addColumns(compared, 'columns', columns);
  for (const [key, aligned] of Object.entries(informative))
    addColumns(compared, `informative.${key}`, aligned);
  return compared;
}

export function featureColumns({ features: { names, columns } }: TrainingInputs): Compared {
  const compared = new Map<string, Column>();
  addColumns(compared, 'features', Object.fromEntries(names.map((name, i) => [name, columns[i]!])));
  return compared;
}

export function signalColumns(signals: Signals): Compared {
  const compared = new Map<string, Column>();
  for (const name of ['enterLong', 'exitLong', 'enterShort', 'exitShort'] as const) {
    compared.set(name, signals[name] ?? noSignals);
  }
  const { tags } = signals;
  for (const name of ['enterTag', 'exitTag'] as const) {
    const column = signals[name];
    compared.set(name, tags ? (row) => tags[column?.[row] ?? 0] ?? '' : noTags);
  }
  return compared;
}

function addColumns(compared: Map<string, Column>, path: string, columns: Columns): void {
  for (const [name, column] of Object.entries(columns)) compared.set(`${path}.${name}`, column);
}

/** The labels of a run with models; empty without models. */
export function labelOf(analysis: Analysis | MlAnalysis): Compared {
  return 'trainingInputs' in analysis ? labelColumn(analysis.trainingInputs) : new Map();
}

export function labelColumn({ labels }: TrainingInputs): Compared {
  return new Map([['label', labels]]);
}

/** Collects one finding per kind and column: the first proof and the number of histories that gave one. */
export class Findings {
  readonly #pair: string;
  readonly #candles: Candles;
  readonly #byColumn = new Map<string, ColumnFinding>();

  constructor(pair: string, candles: Candles) {
    this.#pair = pair;
    this.#candles = candles;
  }

  /** Compares the first `known` rows of two sets of columns. */
  compare(kind: ColumnDefect, known: number, before: Compared, after: Compared): void {
    for (const column of new Set([...before.keys(), ...after.keys()])) {
      const difference = firstDifference(known, before.get(column), after.get(column));
      if (!difference) continue;
      const key = `${kind} ${column}`;
      const found = this.#byColumn.get(key);
      this.#byColumn.set(key, {
        ...(found ?? {
          pair: this.#pair,
          kind,
          column,
          ...difference,
          time: this.#candles.timestamp[difference.row]!,
          known,
        }),
        histories: (found?.histories ?? 0) + 1,
      });
    }
  }

  all(): ColumnFinding[] {
    return [...this.#byColumn.values()];
  }

  get isEmpty(): boolean {
    return this.#byColumn.size === 0;
  }
}

/**
 * Columns of which the first `known` rows are those of `own`, if they are the same but for rounding. The strategy must have none of
 * these arrays: a method of its own would get the memory of `own`, with later rows.
 */
export function withOwnRows(columns: Columns, own: Columns, known: number): Columns {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, withOwn(column, own[name]!, known)]),
  );
}

export function withOwn(column: Float64Array, own: Float64Array, known: number): Float64Array {
  const rows = Math.min(known, own.length);
  let row = firstUnequal(column, own, 0, rows);
  if (row === rows) return column;
  // Only what is the same but for its last digits is replaced.
  for (; row < rows; row++) if (!isSame(column[row]!, own[row]!)) return column;
  const settled = column.slice();
  settled.set(own.subarray(0, rows));
  return settled;
}

const undefinedColumn: Reader = () => Number.NaN;

function firstDifference(
  rows: number,
  before: Column = undefinedColumn,
  after: Column = undefinedColumn,
): { row: number; before: number | string; after: number | string } | undefined {
  if (before === after) return undefined;
  const areValues = typeof before !== 'function' && typeof after !== 'function';
  const [readBefore, readAfter] = [readerOf(before), readerOf(after)];
  let rounding = Number.NaN;
  for (let row = 0; row < rows; row++) {
    if (areValues) row = firstUnequal(before, after, row, rows);
    if (row === rows) break;
    const a = readBefore(row);
    const b = readAfter(row);
    if (isSame(a, b)) continue;
    if (after instanceof Float64Array) {
      if (Number.isNaN(rounding)) rounding = ROUNDING * largestIn(after, rows);
      if (Math.abs(Number(a) - Number(b)) <= rounding) continue;
    }
    return { row, before: a, after: b };
  }
  return undefined;
}

function largestIn(column: Float64Array, rows: number): number {
  let largest = 0;
  for (let row = 0; row < rows; row++) largest = Math.max(largest, Math.abs(column[row]!) || 0);
  return Number.isFinite(largest) ? largest : 0;
}

const readerOf = (column: Column): Reader => (typeof column === 'function' ? column : (row) => column[row]!);

/** First row from `from` on with other values; `rows` without one. Nearly all rows are equal. */
function firstUnequal(
  a: Float64Array | Uint8Array,
  b: Float64Array | Uint8Array,
  from: number,
  rows: number,
): number {
  for (let row = from; row < rows; row++) {
    // The first comparison decides nearly all rows: these loops run before they are optimized.
    if (a[row] !== b[row] && !(Number.isNaN(a[row]) && Number.isNaN(b[row]))) return row;
  }
  return rows;
}

/** Equal but for the order in which numbers were added up. */
export function isSame(a: number | string, b: number | string): boolean {
  if (a === b) return true;
  if (typeof a === 'string' || typeof b === 'string') return false;
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b);
  return Math.abs(a - b) <= COLUMN_TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}
