import { CodedError } from '#contract/values/errors.ts';
import { monthBounds } from '#domain/data/calendar-months.ts';
import type { TimeInterval } from '#domain/data/missing-ranges.ts';
import type { ObjectStore, OnCorrupt, StoredObject } from '#domain/ports.ts';
import { CorruptFileError } from '#domain/shared/corrupt-file.ts';
import { indexAtOrAfter } from '#engine/candles.ts';
import { floorToGrid, isOnGrid } from '#engine/timeframe.ts';
import { appendChecksum, hasValidChecksum } from './checksum.ts';
import { monthKey, monthOf, monthOfKey } from './keys.ts';
import { SeriesFiles } from './series-file.ts';

/** Rows as columns of equal length; the first column holds ascending, distinct times in ms. */
export type Rows = readonly Float64Array[];

const PARQUET = 'application/vnd.apache.parquet';
/** Files fetched ahead of the one being decoded: decoding takes longer than fetching, except for S3's first byte. */
const FETCH_AHEAD = 8;
/** An attempt fails when another process wrote the month in the meantime. */
const MERGE_ATTEMPTS = 50;

/** What a reader of files knows and wants to know of them. */
interface FileChecks {
  /** Called with the key of each corrupt or missing file, whose rows are left out. Absent: the read fails. */
  readonly onCorrupt?: OnCorrupt | undefined;
  /** Months that must have a file. */
  readonly recorded?: readonly string[];
}

/** Content of a month's file after a merge. */
export interface MergedMonth {
  readonly month: string;
  readonly times: Float64Array;
  /** Rows that the merge changed as they were before: NaN in all columns but the time for those that were not stored. */
  readonly lost: Rows;
}

/** Called before a stored month is replaced, with {@link MergedMonth.lost}. */
export type BeforeReplace = (month: string, lost: Rows) => Promise<void>;

/** Rows of numbers by time, kept as one Parquet file a month, with its checksum, under a prefix of the object store. */
export class MonthFiles {
  readonly #objects: ObjectStore;
  readonly #names: readonly string[];
  readonly #files: SeriesFiles;
  /** Times of the last read by their distance, for as long as its reader keeps them. */
  readonly #times = new Map<number, WeakRef<Float64Array>>();

  /** @param names columns of the files; the first holds the times */
  constructor(objects: ObjectStore, names: readonly string[]) {
    this.#objects = objects;
    this.#names = names;
    this.#files = new SeriesFiles(names);
  }

  /**
   * Rows with a time in `[start, end)`, ascending. Series with the same times as the one read before share that column.
   * @param rowMs shortest usual distance of rows, ms: determines the initial allocation
   * @throws CorruptFileError unless `onCorrupt` is given
   */
  async read(
    prefix: string,
    { start, end }: TimeInterval,
    rowMs: number,
    { onCorrupt, recorded = [] }: FileChecks = {},
  ): Promise<Rows> {
    // An empty range may be inside a month.
    if (end <= start) return new RowBuffer(this.#names.length, 0).rows();
    const months = await this.#months(prefix, start, end);
    for (const month of recorded.filter((each) => !months.includes(each))) {
      if (!onCorrupt) throw new CorruptFileError(monthKey(prefix, month), month, 'missing');
      onCorrupt(monthKey(prefix, month));
    }
    const output = new RowBuffer(this.#names.length, capacityFor(months, start, end, rowMs));
    const fetch = (month: string | undefined) =>
      month === undefined ? undefined : this.#objects.get(monthKey(prefix, month));
    const ahead = months.slice(0, FETCH_AHEAD).map(fetch);
    // A failed fetch is reported in its turn, not earlier as an unhandled rejection.
    const handleLater = (fetched: Promise<unknown> | undefined) => fetched?.catch(() => undefined);
    ahead.forEach(handleLater);
    for (const [index, month] of months.entries()) {
      const object = await ahead.shift();
      const following = fetch(months[index + FETCH_AHEAD]);
      handleLater(following);
      if (following) ahead.push(following);
      if (!object) continue;
      const damage = await this.#decode(prefix, month, object, (rows) =>
        output.append(rowsInRange(rows, start, end)),
      );
      release(object.body);
      if (!damage) continue;
      if (!onCorrupt) throw damage;
      onCorrupt(monthKey(prefix, month));
    }
    return this.#sharingTimes(output.rows(), rowMs);
  }

  /** The pairs of a run have the same times: one column of them takes a sixth less memory, and is digested once. */
  #sharingTimes(rows: Rows, rowMs: number): Rows {
    const [times, ...columns] = rows;
    const known = this.#times.get(rowMs)?.deref();
    if (known && bytesOf(known).equals(bytesOf(times!))) {
      free(times!.buffer);
      return [known, ...columns];
    }
    this.#times.set(rowMs, new WeakRef(times!));
    return rows;
  }

  /**
   * Merges rows into their months; rows of a later write win. Returns the resulting months.
   *
   * @param stepMs rows within one step are the same
   */
  async merge(prefix: string, rows: Rows, beforeReplace?: BeforeReplace, stepMs = 1): Promise<MergedMonth[]> {
    const merged: MergedMonth[] = [];
    const times = rows[0]!;
    for (let from = 0; from < times.length; ) {
      const month = monthOf(times[from]!);
      const to = indexAtOrAfter(times, monthBounds(month).end);
      const part = rowsBetween(rows, from, to);
      merged.push(await this.#mergeMonth(prefix, month, part, { beforeReplace, stepMs }));
      from = to;
    }
    return merged;
  }

  /** Replaces the month's file only if it is unchanged since it was read. A writer in another process loses nothing. */
  async #mergeMonth(
    prefix: string,
    month: string,
    rows: Rows,
    { beforeReplace, stepMs }: { readonly beforeReplace: BeforeReplace | undefined; readonly stepMs: number },
  ): Promise<MergedMonth> {
    const key = monthKey(prefix, month);
    for (let attempt = 0; attempt < MERGE_ATTEMPTS; attempt++) {
      const stored = await this.#objects.get(key);
      const existing = stored && (await this.#readAll(prefix, month, stored));
      const merged = existing ? mergeRows(existing, rows, stepMs) : rows;
      const lost = merged ? lostRows(existing, rows, stepMs) : rowsBetween(rows, 0, 0);
      if (!merged) return { month, times: existing![0]!, lost };
      if (stored) await beforeReplace?.(month, lost);
      if (await this.#put(key, merged, stored?.etag ?? null)) return { month, times: merged[0]!, lost };
    }
    throw writeConflict(key);
  }

  /**
   * Replaces a month by the result of `edit`, which gets no rows of a corrupt or absent file. Without resulting rows the file is
   * deleted. Returns the times of the result.
   */
  async rewrite(prefix: string, month: string, edit: (rows: Rows) => Rows): Promise<Float64Array> {
    const key = monthKey(prefix, month);
    for (let attempt = 0; attempt < MERGE_ATTEMPTS; attempt++) {
      const stored = await this.#objects.get(key);
      const existing = stored && (await this.#readAll(prefix, month, stored));
      const edited = edit(existing ?? this.#names.map(() => new Float64Array()));
      const times = edited[0]!;
      if (times.length === 0) {
        if (stored) await this.#objects.delete(key);
        return times;
      }
      if (await this.#put(key, edited, stored?.etag ?? null)) return times;
    }
    throw writeConflict(key);
  }

  /** All rows of a month; undefined without a file. @throws CorruptFileError */
  async readMonth(prefix: string, month: string): Promise<Rows | undefined> {
    const stored = await this.#objects.get(monthKey(prefix, month));
    if (!stored) return undefined;
    const rows = await this.#readAll(prefix, month, stored);
    if (!rows) throw new CorruptFileError(monthKey(prefix, month), month);
    return rows;
  }

  /** Months with a file, ascending. */
  months(prefix: string): Promise<string[]> {
    return this.#months(prefix, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
  }

  /** Copies a month's file unchanged. Returns false, and copies nothing, where the target has one. */
  async copy(from: string, to: string, month: string): Promise<boolean> {
    const stored = await this.#objects.get(monthKey(from, month));
    if (!stored) return true;
    return (await this.#objects.putIf(monthKey(to, month), stored.body, PARQUET, null)) !== undefined;
  }

  async #put(key: string, rows: Rows, expected: string | null): Promise<boolean> {
    const file = this.#files.encode(rows);
    const body = appendChecksum(file);
    release(file);
    return (await this.#objects.putIf(key, body, PARQUET, expected)) !== undefined;
  }

  async #months(prefix: string, start: number, end: number): Promise<string[]> {
    const months: string[] = [];
    for await (const key of this.#objects.list(`${prefix}/`)) {
      const month = monthOfKey(key);
      if (month === undefined) continue;
      const bounds = monthBounds(month);
      if (bounds.start < end && bounds.end > start) months.push(month);
    }
    return months;
  }

  /** Undefined for a corrupt file, which counts as missing. */
  async #readAll(prefix: string, month: string, object: StoredObject): Promise<Rows | undefined> {
    const output = new RowBuffer(this.#names.length, 0);
    const damage = await this.#decode(prefix, month, object, (rows) => output.append(rows));
    return damage ? undefined : output.rows();
  }

  /** Passes the rows of a valid file to `onRows`, or returns the error of a corrupt one. */
  async #decode(
    prefix: string,
    month: string,
    { body }: StoredObject,
    onRows: (rows: Rows) => void,
  ): Promise<CorruptFileError | undefined> {
    if (!hasValidChecksum(body)) return new CorruptFileError(monthKey(prefix, month), month);
    try {
      const rows = this.#files.decode(body);
      if (rows) onRows(rows);
      else await readOther(body, this.#names, onRows);
      return undefined;
    } catch (cause) {
      // A valid checksum with other content: another program wrote the file.
      return new CorruptFileError(monthKey(prefix, month), month, 'corrupt', cause);
    }
  }
}

function writeConflict(key: string): CodedError {
  return new CodedError('DATA005', {
    message: `Write conflict: ${key} changed during ${MERGE_ATTEMPTS} attempts. Retry the request.`,
  });
}

/**
 * Reads a file that another program or an earlier version wrote. Loaded on demand: 5 MB of WebAssembly take 25 ms of
 * processor time.
 */
async function readOther(...args: Parameters<typeof import('./other-file.ts').readColumns>): Promise<void> {
  const { readColumns } = await import('./other-file.ts');
  readColumns(...args);
}

/** Columns that rows are appended to. A sufficient `capacity` saves reallocations. */
class RowBuffer {
  #columns: Float64Array[];
  #length = 0;

  constructor(columns: number, capacity: number) {
    this.#columns = Array.from({ length: columns }, () => allocate(capacity));
  }

  append(rows: Rows): void {
    const needed = this.#length + rows[0]!.length;
    if (needed > this.#columns[0]!.length) this.#grow(needed);
    for (const [index, column] of this.#columns.entries()) column.set(rows[index]!, this.#length);
    this.#length = needed;
  }

  rows(): Rows {
    return rowsBetween(this.#columns, 0, this.#length);
  }

  #grow(needed: number): void {
    const capacity = Math.max(needed, this.#length * 2);
    this.#columns = this.#columns.map((column) => {
      const larger = allocate(capacity);
      larger.set(column.subarray(0, this.#length));
      return larger;
    });
  }
}

/** Not zeroed: only rows that were appended are returned. Zeroing would take a tenth of the time of a read. */
function allocate(rows: number): Float64Array {
  return new Float64Array(Buffer.allocUnsafeSlow(rows * Float64Array.BYTES_PER_ELEMENT).buffer);
}

/**
 * Frees the memory of a file that has been read or copied. Otherwise the garbage collector would mark the whole heap several times
 * while a year of files is read: it starts a cycle after enough memory outside the heap was allocated.
 */
function release({ buffer, byteLength }: Uint8Array): void {
  // A small file may be in a buffer that Node shares with others.
  if (buffer.byteLength === byteLength) free(buffer);
}

function free(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function rowsInRange(rows: Rows, start: number, end: number): Rows {
  const times = rows[0]!;
  return rowsBetween(rows, indexAtOrAfter(times, start), indexAtOrAfter(times, end));
}

function capacityFor(months: readonly string[], start: number, end: number, rowMs: number): number {
  return months.reduce((rows, month) => {
    const bounds = monthBounds(month);
    return rows + Math.ceil((Math.min(end, bounds.end) - Math.max(start, bounds.start)) / rowMs);
  }, 0);
}

function rowsBetween(rows: Rows, from: number, to: number): Rows {
  return rows.map((column) => column.subarray(from, to));
}

/** Rows of `existing` at the times at which `added` differs; NaN in all columns but the time where there is none. */
function lostRows(existing: Rows | undefined, added: Rows, stepMs: number): Rows {
  if (existing === undefined) {
    const absent = new Float64Array(added[0]!.length).fill(Number.NaN);
    return added.map((column, index) => (index === 0 ? column : absent));
  }
  const stored = existing[0]!;
  const [old, fresh] = [placesOf(stored, stepMs), placesOf(added[0]!, stepMs)];
  const times: number[] = [];
  const places: number[] = [];
  for (let i = 0, j = 0, { length } = fresh; j < length; j++) {
    while (i < old.length && old[i]! < fresh[j]!) i++;
    const both = i < old.length && old[i] === fresh[j];
    if (both && added.every((column, index) => column[j] === existing[index]![i])) continue;
    const [before, after] = [stored[i]!, added[0]![j]!];
    // A row of the same place with another time goes, and the one that it replaced comes back.
    if (both && before < after) {
      times.push(before);
      places.push(i);
    }
    times.push(after);
    places.push(both && before === after ? i : -1);
    if (both && before > after) {
      times.push(before);
      places.push(i);
    }
  }
  return added.map((_, index) => {
    if (index === 0) return Float64Array.from(times);
    return Float64Array.from(places, (row) => (row === -1 ? Number.NaN : existing[index]![row]!));
  });
}

/** Undoes a merge of these {@link MergedMonth.lost} rows. Rows that were merged since at other times stay. */
export function restoreRows(rows: Rows, lost: Rows): Rows {
  const merged = mergeRows(rows, lost) ?? rows;
  return keepRows(merged, (row) => !Number.isNaN(merged[1]![row]));
}

/** The rows for which `keeps` is true. */
export function keepRows(rows: Rows, keeps: (row: number) => boolean): Rows {
  const kept = [...rows[0]!.keys()].filter(keeps);
  return rows.map((column) => Float64Array.from(kept, (row) => column[row]!));
}

/**
 * Both sets of rows by time; `added` wins at equal times. Undefined if the merge equals `existing`.
 *
 * @param stepMs times within one step are equal
 */
export function mergeRows(existing: Rows, added: Rows, stepMs = 1): Rows | undefined {
  const [old, fresh] = [placesOf(existing[0]!, stepMs), placesOf(added[0]!, stepMs)];
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

/** Places on the grid of a step: the times themselves when they are on it. */
function placesOf(times: Float64Array, stepMs: number): Float64Array {
  return times.every((time) => isOnGrid(time, stepMs))
    ? times
    : times.map((time) => floorToGrid(time, stepMs));
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
