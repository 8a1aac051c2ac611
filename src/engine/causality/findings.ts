import type { Candles } from '../candles.ts';
import type { Analysis } from '../strategies/analyze.ts';
import type { Columns } from '../strategy.ts';
import type { LearnedAnalysis } from '../walk-forward/fit-window.ts';

/**
 * What is wrong with a column:
 * - `look_ahead`: a row changed when later candles became known;
 * - `not_repeatable`: two runs over the same candles differed, so nothing can be said about the future;
 * - `input_changed`: the strategy wrote into its candles.
 */
type LookAheadKind = 'look_ahead' | 'not_repeatable' | 'input_changed';

/** One column of one pair that cannot be trusted, with the first proof of it. */
export interface LookAheadFinding {
  readonly pair: string;
  readonly kind: LookAheadKind;
  /** `enterLong`, `columns.rsi`, `informative.1h.trend`, `features.return_1`, `label`, `candles.close`. */
  readonly column: string;
  /** Row and open time (ms) of the candle whose value changed. */
  readonly row: number;
  readonly time: number;
  /** How many candles were known when the row had the value `before`. */
  readonly known: number;
  /** The value then, and with all candles; tags as texts. */
  readonly before: number | string;
  readonly after: number | string;
  /** In how many of the truncated histories the column differed. */
  readonly histories: number;
}

/** Columns may differ by this much, relative: a sum over a longer array may be added up in another order. */
const COLUMN_TOLERANCE = 1e-9;

/** Reads one row of a column. Signals that a run left out read as 0, other columns as NaN. */
type Reader = (row: number) => number | string;
type Readers = ReadonlyMap<string, Reader>;

export function columnsOf(analysis: Analysis | LearnedAnalysis): Readers {
  const { columns, informative, signals } = analysis;
  const readers = new Map<string, Reader>();
  addColumns(readers, 'columns', columns);
  if ('learning' in analysis) {
    const { names, columns: features } = analysis.learning.features;
    addColumns(readers, 'features', Object.fromEntries(names.map((name, i) => [name, features[i]!])));
  }
  for (const [timeframe, aligned] of Object.entries(informative)) {
    addColumns(readers, `informative.${timeframe}`, aligned);
  }
  for (const name of ['enterLong', 'exitLong', 'enterShort', 'exitShort'] as const) {
    const column = signals[name];
    readers.set(name, (row) => column?.[row] ?? 0);
  }
  for (const name of ['enterTag', 'exitTag'] as const) {
    const column = signals[name];
    readers.set(name, (row) => signals.tags?.[column?.[row] ?? 0] ?? '');
  }
  return readers;
}

function addColumns(readers: Map<string, Reader>, path: string, columns: Columns): void {
  for (const [name, column] of Object.entries(columns)) {
    readers.set(`${path}.${name}`, (row) => column[row]!);
  }
}

/** The label of a run with models, as the strategy gave it. */
export function labelOf(analysis: Analysis | LearnedAnalysis): Readers {
  if (!('learning' in analysis)) return new Map();
  const { labels } = analysis.learning;
  return new Map([['label', (row: number) => labels[row]!]]);
}

export function inputColumns(candles: Candles): Readers {
  const readers = new Map<string, Reader>();
  addColumns(readers, 'candles', { ...candles });
  return readers;
}

/** Collects one finding per kind and column: the first proof, and how many histories gave one. */
export class Findings {
  readonly #pair: string;
  readonly #candles: Candles;
  readonly #byColumn = new Map<string, LookAheadFinding>();

  constructor(pair: string, candles: Candles) {
    this.#pair = pair;
    this.#candles = candles;
  }

  /** Compares the first `known` rows of two sets of columns. */
  compare(kind: LookAheadKind, known: number, before: Readers, after: Readers): void {
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

  all(): LookAheadFinding[] {
    return [...this.#byColumn.values()];
  }
}

const undefinedColumn: Reader = () => Number.NaN;

function firstDifference(
  rows: number,
  before: Reader = undefinedColumn,
  after: Reader = undefinedColumn,
): { row: number; before: number | string; after: number | string } | undefined {
  for (let row = 0; row < rows; row++) {
    const [a, b] = [before(row), after(row)];
    if (!isSame(a, b)) return { row, before: a, after: b };
  }
  return undefined;
}

/** Equal but for the order in which numbers were added up. */
export function isSame(a: number | string, b: number | string): boolean {
  if (a === b) return true;
  if (typeof a === 'string' || typeof b === 'string') return false;
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b);
  return Math.abs(a - b) <= COLUMN_TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}
