import type { Analysis } from '../analysis/analyze.ts';
import type { Candles } from '../candles.ts';
import type { MlAnalysis } from '../ml/fit-window.ts';
import type { Columns } from '../strategy.ts';

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

/** Reads one row of a column. */
type Reader = (row: number) => number | string;
/** Values of a column, or the reader of one that has none of its own. */
type Column = Float64Array | Uint8Array | Reader;
type Compared = ReadonlyMap<string, Column>;

const noSignals: Reader = () => 0;
const noTags: Reader = () => '';

export function columnsOf(analysis: Analysis | MlAnalysis): Compared {
  const { columns, informative, signals } = analysis;
  const compared = new Map<string, Column>();
  addColumns(compared, 'columns', columns);
  if ('trainingInputs' in analysis) {
    const { names, columns: features } = analysis.trainingInputs.features;
    addColumns(compared, 'features', Object.fromEntries(names.map((name, i) => [name, features[i]!])));
  }
  for (const [timeframe, aligned] of Object.entries(informative)) {
    addColumns(compared, `informative.${timeframe}`, aligned);
  }
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
  if (!('trainingInputs' in analysis)) return new Map();
  return new Map([['label', analysis.trainingInputs.labels]]);
}

export function inputColumns(candles: Candles): Compared {
  const compared = new Map<string, Column>();
  addColumns(compared, 'candles', { ...candles });
  return compared;
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
  for (let row = 0; row < rows; row++) {
    if (areValues) row = firstUnequal(before, after, row, rows);
    if (row === rows) break;
    const a = readBefore(row);
    const b = readAfter(row);
    if (!isSame(a, b)) return { row, before: a, after: b };
  }
  return undefined;
}

const readerOf = (column: Column): Reader => (typeof column === 'function' ? column : (row) => column[row]!);

/** First row from `from` on with other bits or NaN; `rows` without one. Nearly all rows are equal. */
function firstUnequal(
  a: Float64Array | Uint8Array,
  b: Float64Array | Uint8Array,
  from: number,
  rows: number,
): number {
  let row = from;
  while (row < rows && a[row] === b[row]) row++;
  return row;
}

/** Equal but for the order in which numbers were added up. */
export function isSame(a: number | string, b: number | string): boolean {
  if (a === b) return true;
  if (typeof a === 'string' || typeof b === 'string') return false;
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b);
  return Math.abs(a - b) <= COLUMN_TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}
