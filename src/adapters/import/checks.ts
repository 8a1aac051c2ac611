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
  /** Name of the unit of the file's times, for messages. */
  readonly unit: string;
}

/**
 * Converts times to milliseconds in place. The size of the first time determines the unit.
 * @returns the limits that the times must keep, and notes for the user
 */
export function takeTimes(
  times: Float64Array,
  now: number,
): { readonly rules: TimeRules; readonly notes: readonly string[] } {
  const first = times[0]!;
  const unit = UNITS.find(({ from }) => first >= from && first < from * RANGE) ?? MILLISECONDS;
  const rules = { now, unit: unit.name };
  if (unit === MILLISECONDS) return { rules, notes: [] };
  for (let row = 0; row < times.length; row++) times[row] = (times[row]! * unit.factor) / unit.divisor;
  return { rules, notes: [`times are in ${unit.name}`] };
}

/** Throws BadFileError that says what is wrong with the first wrong row, and how many more there are. */
export function rejectWrongRows(rows: FileRows, problemOf: (row: number) => string | undefined): void {
  const length = rows.columns[0]!.length;
  if (length === 0) throw new BadFileError('holds no rows');
  let first: string | undefined;
  let wrong = 0;
  for (let row = 0; row < length; row++) {
    const problem = problemOf(row);
    if (problem === undefined) continue;
    first ??= `${rows.first.word} ${rows.numbers?.[row] ?? rows.first.number + row}: ${problem}`;
    wrong++;
  }
  if (first === undefined) return;
  throw new BadFileError(wrong === 1 ? first : `${first} (${formatInteger(wrong)} wrong rows in all)`);
}

/** Problem of a time in milliseconds; undefined if it is valid. */
export function timeProblem(time: number, { now, unit }: TimeRules): string | undefined {
  if (Number.isNaN(time)) return 'the time is missing';
  if (!(time >= MILLISECONDS.from && time < MILLISECONDS.from * RANGE)) return `the time is not in ${unit}`;
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
