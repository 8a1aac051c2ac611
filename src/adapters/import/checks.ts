import { formatInteger } from '#contract/values/format-count.ts';
import { BadFileError, type FileRows, isoTime } from './file-rows.ts';

interface TimeUnit {
  readonly name: string;
  /** Time in 1973. The range of the next unit begins 3000 years later, so the units are unambiguous. */
  readonly from: number;
  /** Times are multiplied by the factor and divided by the divisor to give milliseconds. */
  readonly factor: number;
  readonly divisor: number;
}

const MILLISECONDS: TimeUnit = { name: 'milliseconds', from: 1e11, factor: 1, divisor: 1 };
const UNITS: readonly TimeUnit[] = [
  { name: 'seconds', from: 1e8, factor: 1_000, divisor: 1 },
  MILLISECONDS,
  { name: 'microseconds', from: 1e14, factor: 1, divisor: 1_000 },
  { name: 'nanoseconds', from: 1e17, factor: 1, divisor: 1_000_000 },
];
/** Ratio between the beginnings of two consecutive units. */
const RANGE = 1_000;

/** Limits on the times of a file. */
export interface TimeRules {
  /** Unix milliseconds. */
  readonly now: number;
  /** Name of the unit of the file's first time, for messages. */
  readonly unit: string;
}

const unitOf = (time: number) => UNITS.find(({ from }) => time >= from && time < from * RANGE);
const inMilliseconds = (time: number, unit: TimeUnit) => (time * unit.factor) / unit.divisor;

/** Milliseconds of a time in any unit, by its size. */
export function millisecondsOf(time: number): number {
  return inMilliseconds(time, unitOf(time) ?? MILLISECONDS);
}

/**
 * Converts times to milliseconds. The size of each time determines its unit: joined files change it, as Binance's did at 2025-01-01.
 */
export class TimeUnits {
  #first: { readonly unit: TimeUnit; readonly time: number } | undefined;
  #unit = MILLISECONDS;
  /** First time of each further unit. */
  readonly #others = new Map<TimeUnit, number>();
  #changes = 0;

  /** Converts the next times in place. */
  convert(times: Float64Array): void {
    if (times.length === 0) return;
    if (this.#first === undefined) {
      this.#unit = unitOf(times[0]!) ?? MILLISECONDS;
      this.#first = { unit: this.#unit, time: inMilliseconds(times[0]!, this.#unit) };
    }
    let unit = this.#unit;
    for (let row = 0, { length } = times; row < length; row++) {
      const time = times[row]!;
      if (!(time >= unit.from && time < unit.from * RANGE)) {
        const found = unitOf(time);
        if (found === undefined) continue;
        unit = found;
        this.#changes++;
      }
      if (unit !== this.#first.unit && !this.#others.has(unit))
        this.#others.set(unit, inMilliseconds(time, unit));
      if (unit !== MILLISECONDS) times[row] = inMilliseconds(time, unit);
    }
    this.#unit = unit;
  }

  /** Name of the unit of the first time. */
  get name(): string {
    return (this.#first?.unit ?? MILLISECONDS).name;
  }

  /** Sentences for the user. */
  notes(): string[] {
    const { unit = MILLISECONDS, time = Number.NaN } = this.#first ?? {};
    return unitNotes({ first: unit, firstTime: time }, this.#others, this.#changes);
  }
}

/**
 * Converts all times of a file in place.
 * @returns the limits that the times must keep, and notes for the user
 */
export function takeTimes(
  times: Float64Array,
  now: number,
): { readonly rules: TimeRules; readonly notes: readonly string[] } {
  const units = new TimeUnits();
  units.convert(times);
  return { rules: { now, unit: units.name }, notes: units.notes() };
}

/** A sentence for the user on volumes that are missing. */
export function volumesNote(missing: number): string[] {
  return missing > 0 ? [`volume missing in ${formatInteger(missing)} rows: set to 0`] : [];
}

/** True for milliseconds since 1973-03-04. */
export const isPossibleTime = (time: number) => time >= MILLISECONDS.from && time < MILLISECONDS.from * RANGE;

function unitNotes(
  { first, firstTime }: { readonly first: TimeUnit; readonly firstTime: number },
  others: ReadonlyMap<TimeUnit, number>,
  changes: number,
): string[] {
  const [[second, from] = [], ...more] = others;
  if (second === undefined) return first === MILLISECONDS ? [] : [`times are in ${first.name}`];
  if (more.length === 0 && changes === 1 && from! > firstTime) {
    return [`times are in ${first.name}, from ${isoTime(from!)} in ${second.name}`];
  }
  const all = UNITS.filter((each) => each === first || others.has(each));
  return [`times are in ${all.map(({ name }) => name).join(' and ')}`];
}

/** Name of a row in messages, such as `line 42`. */
function nameOfRow({ first, numbers }: FileRows, row: number): string {
  return `${first.word} ${numbers?.[row] ?? first.number + row}`;
}

/** Rows without those that are not kept; the arrays are reused. */
export function keptRows(rows: FileRows, isKept: (row: number) => boolean): FileRows {
  const { length } = rows.columns[0]!;
  let kept = 0;
  while (kept < length && isKept(kept)) kept++;
  if (kept === length) return rows;
  const numbers = rows.numbers ?? Float64Array.from({ length }, (_, row) => rows.first.number + row);
  const columns = [...rows.columns, numbers];
  for (let row = kept + 1; row < length; row++) {
    if (!isKept(row)) continue;
    for (const column of columns) column[kept] = column[row]!;
    kept++;
  }
  return {
    columns: rows.columns.map((column) => column.subarray(0, kept)),
    first: rows.first,
    numbers: numbers.subarray(0, kept),
  };
}

/** Rows that are listed individually when they are left out. */
const ROWS_LISTED = 5;

/** Leaves out wrong rows. Returns a note with their number and the first of them. */
export function withoutWrongRows(
  rows: FileRows,
  problemOf: (row: number) => string | undefined,
): { readonly rows: FileRows; readonly notes: readonly string[] } {
  let wrong = 0;
  const listed: string[] = [];
  const kept = keptRows(rows, (row) => {
    const problem = problemOf(row);
    if (problem === undefined) return true;
    if (++wrong <= ROWS_LISTED) listed.push(`${nameOfRow(rows, row)} (${problem})`);
    return false;
  });
  if (wrong === 0) return { rows, notes: [] };
  if (kept.columns[0]!.length === 0) throw new BadFileError('holds no valid rows');
  const more = wrong > ROWS_LISTED ? `, and ${formatInteger(wrong - ROWS_LISTED)} more` : '';
  const counted = `${formatInteger(wrong)} invalid row${wrong === 1 ? '' : 's'}`;
  return { rows: kept, notes: [`${counted}, ${listed.join(', ')}${more}, left out`] };
}

/** Throws BadFileError that says what is wrong with the first wrong row, and how many more there are. */
export function rejectWrongRows(
  rows: FileRows,
  problemOf: (row: number) => string | undefined,
  hint = '',
): void {
  const length = rows.columns[0]!.length;
  if (length === 0) throw new BadFileError('holds no rows');
  let first: string | undefined;
  let wrong = 0;
  for (let row = 0; row < length; row++) {
    const problem = problemOf(row);
    if (problem === undefined) continue;
    first ??= `${nameOfRow(rows, row)}: ${problem}`;
    wrong++;
  }
  if (first === undefined) return;
  throw new BadFileError(
    `${first}${wrong === 1 ? '' : ` (${formatInteger(wrong)} wrong rows in all)`}${hint}`,
  );
}

/** Problem of a time in milliseconds; undefined if it is valid. */
export function timeProblem(time: number, { now, unit }: TimeRules): string | undefined {
  if (Number.isNaN(time)) return 'the time is missing';
  if (!isPossibleTime(time)) return `the time is not in ${unit}`;
  if (time > now) return `${isoTime(time)} is in the future`;
  return undefined;
}

/** Columns sorted by the first column, ascending time. The sort is stable. */
export function inOrder(columns: readonly Float64Array[]): {
  readonly columns: readonly Float64Array[];
  readonly sorted: boolean;
} {
  const times = columns[0]!;
  if (isAscending(times)) return { columns, sorted: false };
  const order = Uint32Array.from(times, (_, row) => row).sort((a, b) => times[a]! - times[b]!);
  return { columns: columns.map((column) => Float64Array.from(order, (row) => column[row]!)), sorted: true };
}

function isAscending(times: Float64Array): boolean {
  for (let row = 1; row < times.length; row++) if (times[row]! < times[row - 1]!) return false;
  return true;
}
