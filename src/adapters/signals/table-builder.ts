import { formatInteger } from '#contract/values/format-count.ts';
import { SIGNAL_FLAGS, SIGNALS_COLUMNS, SIGNALS_LIMITS } from '#contract/values/signals-limits.ts';
import type { SignalTable } from '#domain/signals/signal-table.ts';

/** A file that is no table of signals. The message is for its author, without a full stop. */
export class BadSignalsError extends Error {
  override readonly name = 'BadSignalsError';
}

/** A value of a file: text of CSV, or a typed value of Parquet. */
export type Cell = string | number | bigint | boolean | null | undefined;

type Column = (typeof SIGNALS_COLUMNS)[number];
const isColumn = (name: string): name is Column => (SIGNALS_COLUMNS as readonly string[]).includes(name);

const ENGINE_NAMES = {
  enter_long: 'enterLong',
  exit_long: 'exitLong',
  enter_short: 'enterShort',
  exit_short: 'exitShort',
} as const;

const TRUE = new Set(['1', 'true', 'True', 'TRUE', '1.0']);
const FALSE = new Set(['', '0', 'false', 'False', 'FALSE', '0.0', 'nan', 'NaN']);
/** Date, or date and time; UTC if it has no zone. pandas writes a space and +00:00. */
const ISO_TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;
/** Unix times below are seconds: in ms it is the year 1973. */
const MIN_MS = 1e11;
/** Unix times from here are no ms: in ms it is the year 5138. */
const MAX_MS = 1e14;
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** Text of a ratio that is absent. */
const NO_RATIO = new Set(['', 'nan', 'NaN']);
const INITIAL = 4_096;
/** What spreadsheets write between columns in some countries, and as text. */
const OTHER_SEPARATOR = /[;\t|]/;

/** Builds a table row by row from cells in the order of the file's columns. */
export class SignalTableBuilder {
  readonly #columns: readonly Column[];
  #capacity = INITIAL;
  #timestamp = new Float64Array(INITIAL);
  #pair = new Uint16Array(INITIAL);
  #stakeRatio = new Float64Array(INITIAL);
  readonly #bytes = new Map<string, Uint8Array>();
  readonly #pairs = new Map<string, number>();
  readonly #tags = new Map<string, number>();
  rows = 0;

  /** @throws BadSignalsError for columns that are missing, unknown or named twice */
  constructor(columns: readonly string[]) {
    const unknown = columns.filter((name) => !isColumn(name));
    if (unknown.length > 0) {
      const shown = unknown.slice(0, 5).map((name) => JSON.stringify(name.slice(0, 40)));
      const separator = columns.length === 1 ? OTHER_SEPARATOR.exec(columns[0]!) : null;
      const hint = separator
        ? `Separate its columns by commas, not by ${JSON.stringify(separator[0])}. `
        : '';
      throw new BadSignalsError(
        `has unknown columns: ${shown.join(', ')}. ${hint}It may have ${SIGNALS_COLUMNS.join(', ')}`,
      );
    }
    const twice = columns.find((name, at) => columns.indexOf(name) !== at);
    if (twice !== undefined) throw new BadSignalsError(`has two columns ${twice}`);
    for (const needed of ['timestamp', 'pair']) {
      if (!columns.includes(needed)) throw new BadSignalsError(`has no column ${needed}`);
    }
    if (!SIGNAL_FLAGS.some((name) => columns.includes(name))) {
      throw new BadSignalsError(`has no signals: it needs at least one of ${SIGNAL_FLAGS.join(', ')}`);
    }
    this.#columns = columns as readonly Column[];
    for (const name of this.#columns) {
      if (this.#isByte(name)) this.#bytes.set(name, new Uint8Array(INITIAL));
    }
  }

  /** @param row index from 0 */
  static badRow(row: number, what: string): BadSignalsError {
    return new BadSignalsError(`row ${row + 1} ${what}`);
  }

  /** @throws BadSignalsError */
  add(cells: readonly Cell[]): void {
    if (cells.length !== this.#columns.length) {
      throw this.#bad(`has ${cells.length} values for ${this.#columns.length} columns`);
    }
    if (this.rows === this.#capacity) this.#grow();
    for (let at = 0; at < cells.length; at++) this.#set(this.#columns[at]!, cells[at]);
    this.rows++;
  }

  finish(): SignalTable {
    const { rows } = this;
    const signals: Record<string, Uint8Array> = {};
    for (const name of SIGNAL_FLAGS) {
      const column = this.#bytes.get(name);
      if (column) signals[ENGINE_NAMES[name]] = column.subarray(0, rows);
    }
    const enterTag = this.#bytes.get('enter_tag');
    const exitTag = this.#bytes.get('exit_tag');
    return {
      rows,
      timestamp: this.#timestamp.subarray(0, rows),
      pair: this.#pair.subarray(0, rows),
      pairs: [...this.#pairs.keys()],
      signals: {
        ...signals,
        ...(enterTag && { enterTag: enterTag.subarray(0, rows) }),
        ...(exitTag && { exitTag: exitTag.subarray(0, rows) }),
        ...(this.#tags.size > 0 && { tags: ['', ...this.#tags.keys()] }),
      },
      ...(this.#columns.includes('stake_ratio') && { stakeRatio: this.#stakeRatio.subarray(0, rows) }),
    };
  }

  #isByte(name: Column): boolean {
    return name !== 'timestamp' && name !== 'pair' && name !== 'stake_ratio';
  }

  #set(name: Column, cell: Cell): void {
    const { rows } = this;
    if (name === 'timestamp') this.#timestamp[rows] = this.#timeOf(cell);
    else if (name === 'pair') this.#pair[rows] = this.#pairOf(cell);
    else if (name === 'stake_ratio') this.#stakeRatio[rows] = this.#ratioOf(cell);
    else if (name === 'enter_tag' || name === 'exit_tag')
      this.#bytes.get(name)![rows] = this.#tagOf(name, cell);
    else this.#bytes.get(name)![rows] = this.#flagOf(name, cell);
  }

  #timeOf(cell: Cell): number {
    const text = String(cell ?? '').trim();
    const time = typeof cell === 'string' && ISO_TIME.test(text) ? timeOfIso(text) : timeOfUnix(text);
    if (time !== undefined) return time;
    throw this.#bad(`has the timestamp ${shown(cell)}: expected ISO 8601, Unix ms or Unix s`);
  }

  #pairOf(cell: Cell): number {
    const pair = typeof cell === 'string' ? cell.trim() : '';
    if (pair === '') throw this.#bad(`has the pair ${shown(cell)}`);
    return this.#indexOf(this.#pairs, pair, 0, MAX_PAIRS, 'pairs');
  }

  #tagOf(column: string, cell: Cell): number {
    // A column without any tag is one of NaN in pandas.
    if (cell === null || cell === undefined || cell === '' || Number.isNaN(cell)) return 0;
    const tag = String(cell);
    if (tag.length > SIGNALS_LIMITS.tag_length) {
      throw this.#bad(`has an ${column} of ${tag.length} characters, more than ${SIGNALS_LIMITS.tag_length}`);
    }
    return this.#indexOf(this.#tags, tag, 1, SIGNALS_LIMITS.tags, 'tags');
  }

  #indexOf(known: Map<string, number>, text: string, first: number, max: number, what: string): number {
    const found = known.get(text);
    if (found !== undefined) return found;
    if (known.size === max) throw this.#bad(`is the first with more than ${max} different ${what}`);
    const index = known.size + first;
    known.set(text, index);
    return index;
  }

  #ratioOf(cell: Cell): number {
    const text = String(cell ?? '').trim();
    if (NO_RATIO.has(text)) return 1;
    const ratio = DECIMAL.test(text) ? Number(text) : Number.NaN;
    const { min, max } = SIGNALS_LIMITS.stake_ratio;
    if (ratio > min && ratio <= max) return ratio;
    throw this.#bad(`has the stake_ratio ${shown(cell)}: expected a number above ${min} and at most ${max}`);
  }

  #flagOf(column: string, cell: Cell): number {
    if (cell === null || cell === undefined) return 0;
    const text = String(cell).trim();
    if (TRUE.has(text)) return 1;
    if (FALSE.has(text)) return 0;
    throw this.#bad(`has ${shown(cell)} in ${column}: expected 0, 1, true, false or nothing`);
  }

  #grow(): void {
    if (this.rows >= SIGNALS_LIMITS.rows) {
      throw new BadSignalsError(`has more than ${formatInteger(SIGNALS_LIMITS.rows)} rows`);
    }
    this.#capacity = Math.min(this.#capacity * 2, SIGNALS_LIMITS.rows);
    const grown = <T extends Float64Array | Uint16Array | Uint8Array>(column: T): T => {
      const larger = new (column.constructor as new (length: number) => T)(this.#capacity);
      larger.set(column);
      return larger;
    };
    this.#timestamp = grown(this.#timestamp);
    this.#pair = grown(this.#pair);
    this.#stakeRatio = grown(this.#stakeRatio);
    for (const [name, column] of this.#bytes) this.#bytes.set(name, grown(column));
  }

  #bad(what: string): BadSignalsError {
    return SignalTableBuilder.badRow(this.rows, what);
  }
}

/** Pairs of a file; a run has at most 200. */
const MAX_PAIRS = 1_000;

/** Unix ms; undefined for a day that its month lacks. */
function timeOfIso(text: string): number | undefined {
  const dated = text.replace(' ', 'T').replace(/([+-]\d\d):?(\d\d)$/, text.length > 10 ? '$1:$2' : '$&');
  const time = Date.parse(/T/.test(dated) && !/(Z|[+-]\d\d:\d\d)$/.test(dated) ? `${dated}Z` : dated);
  if (Number.isNaN(time)) return undefined;
  // Date.parse reads February 30 as March 2.
  const day = dated.slice(0, 10);
  const isDay = Number(day.slice(8)) <= 28 || new Date(day).toISOString().startsWith(day);
  return isDay ? time : undefined;
}

/** Unix ms of a decimal number of ms or seconds. */
function timeOfUnix(text: string): number | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const number = Number(text);
  const time = Math.abs(number) < MIN_MS ? number * 1_000 : number;
  // Larger numbers are microseconds or nanoseconds.
  return Number.isInteger(time) && Math.abs(time) < MAX_MS ? time : undefined;
}

function shown(cell: Cell): string {
  return JSON.stringify(String(cell ?? '').slice(0, 40));
}
