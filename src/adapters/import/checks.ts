import { BadFileError, type FileRows, isoTime } from './rows.ts';

/** 1973 in milliseconds, and far from now in seconds. */
const EARLIEST_MS = 1e11;

/** Throws BadFileError that says what is wrong with the first wrong row, and how many more there are. */
export function rejectWrongRows(rows: FileRows, problemOf: (row: number) => string | undefined): void {
  const length = rows.columns[0]!.length;
  if (length === 0) throw new BadFileError('holds no rows');
  let first: string | undefined;
  let wrong = 0;
  for (let row = 0; row < length; row++) {
    const problem = problemOf(row);
    if (problem === undefined) continue;
    first ??= `${rows.first.word} ${rows.first.number + row}: ${problem}`;
    wrong++;
  }
  if (first === undefined) return;
  throw new BadFileError(
    wrong === 1 ? first : `${first} (${wrong.toLocaleString('en-US')} wrong rows in all)`,
  );
}

/** What is wrong with a time, if anything. `now`: Unix milliseconds. */
export function timeProblem(time: number, now: number): string | undefined {
  if (Number.isNaN(time)) return 'the time is missing';
  if (time < EARLIEST_MS) return `timestamp ${time} is not in milliseconds`;
  if (time > now) return `${isoTime(time)} lies in the future`;
  return undefined;
}

/** Columns by ascending time, the first column; rows of one time stay in their order. */
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
