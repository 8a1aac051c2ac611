import { type Random, shuffledIndices } from '../random.ts';
import type { PairHistory } from '../run/history.ts';
import type { Signals } from '../strategy.ts';

/** Cuts of each kind that every run gets, as far as it has signals. */
export const MIN_CUTS = 8;
/** Candles from the start of a run in which every cut is short. */
const NEAR_ROWS = 200;

/** Signals near the start of a pair's traded rows. */
export interface NearSignals {
  /** Number of rows that contain them. */
  readonly rows: number;
  /** Rows by kind of signal, ascending. A rare kind may be the one that looks ahead. */
  readonly byKind: readonly (readonly number[])[];
}

const SIDES = [
  ['enterLong', 'enterTag'],
  ['exitLong', 'exitTag'],
  ['enterShort', 'enterTag'],
  ['exitShort', 'exitTag'],
] as const;

/**
 * The first rows with signals, of each column and tag. Rows on which a signal begins come first: on the others it could follow from
 * the row before. The last row has nothing after it.
 */
export function nearSignals(signals: Signals, { from, candles }: PairHistory): NearSignals {
  const end = candles.timestamp.length - 1;
  const begun = firstRows(signals, from, end, true);
  const rows = begun.length < MIN_CUTS ? [...begun, ...firstRows(signals, from, end, false)] : begun;
  const near = Math.max(from + NEAR_ROWS, ...rows.slice(0, MIN_CUTS));
  const byKind = new Map<string, number[]>();
  for (const row of rows.filter((each) => each <= near)) {
    for (const [column, tags] of SIDES) {
      if (signals[column]?.[row] !== 1) continue;
      const kind = `${column} ${signals[tags]?.[row] ?? 0}`;
      const own = byKind.get(kind) ?? [];
      byKind.set(kind, own);
      if (!own.includes(row)) own.push(row);
    }
  }
  return { rows: Math.min(near + 2, candles.timestamp.length), byKind: [...byKind.values()] };
}

/** Rows of [from, end) with a signal, or on which one begins, ascending: those near the start, and as many as there are cuts. */
function firstRows(signals: Signals, from: number, end: number, begins: boolean): number[] {
  const columns = SIDES.flatMap(([name]) => signals[name] ?? []);
  const rows: number[] = [];
  for (let row = from; row < end; row++) {
    if (rows.length >= MIN_CUTS && row > from + NEAR_ROWS) break;
    for (const column of columns) {
      if (column[row] !== 1 || (begins && row > from && column[row - 1] === 1)) continue;
      rows.push(row);
      break;
    }
  }
  return rows;
}

/** A pair with its signals. */
export interface PairSignals {
  readonly history: PairHistory;
  readonly near: NearSignals;
}

/**
 * Open times (ms, ascending) of the candles that are forming at cuts just after a signal. The pairs, and of each pair the kinds of
 * signals, take turns. None is later than needed for {@link MIN_CUTS} of them, or than the candles near the start.
 */
export function signalTimes(pairs: readonly PairSignals[]): number[] {
  const queues = pairs.map(({ history, near }) => {
    const times = inTurn(near.byKind).map((row) => history.candles.timestamp[row]! + history.stepMs);
    return [...new Set(times)];
  });
  const all = [...new Set(queues.flat())].sort((a, b) => a - b);
  const last = Math.max(all[MIN_CUTS - 1] ?? Number.POSITIVE_INFINITY, nearEnd(pairs));
  const near = queues
    .map((queue) => queue.filter((time) => time <= last))
    .sort(([a = Number.POSITIVE_INFINITY], [b = Number.POSITIVE_INFINITY]) => a - b);
  return [...new Set(inTurn(near))].slice(0, MIN_CUTS).sort((a, b) => a - b);
}

/** End of the candles near the start of a run, ms. */
export function nearEnd(pairs: readonly Pick<PairSignals, 'history'>[]): number {
  const starts = pairs.map(
    ({ history: { candles, from, stepMs } }) => candles.timestamp[from]! + NEAR_ROWS * stepMs,
  );
  return Math.min(...starts);
}

/** The first element of each list, then the second of each, and so on. */
export function inTurn<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

/**
 * Endless draws of signals over a pair's whole run: open times (ms) of the candles after them. The kinds of signals, column and tag,
 * take turns in random order. A rare one may be the one that looks ahead.
 */
export function* drawSignals(
  signals: Signals,
  { from, candles: { timestamp } }: PairHistory,
  random: Random,
): Generator<number> {
  const end = timestamp.length - 1;
  let kinds = shuffled(kindsOf(signals), random);
  while (kinds.length > 0) {
    const absent = new Set<SignalKind>();
    for (const kind of kinds) {
      const start = from + Math.floor(random() * (end - from));
      const row = firstOfKind(kind, start, end) ?? firstOfKind(kind, from, start);
      if (row === undefined) absent.add(kind);
      else yield timestamp[row + 1]!;
    }
    kinds = kinds.filter((kind) => !absent.has(kind));
  }
}

interface SignalKind {
  readonly column: Uint8Array;
  readonly tags: Uint8Array | undefined;
  readonly tag: number;
}

function kindsOf(signals: Signals): SignalKind[] {
  return SIDES.flatMap(([name, tagged]) => {
    const [column, tags] = [signals[name], signals[tagged]];
    if (!column) return [];
    const count = tags ? Math.max(1, signals.tags?.length ?? 0) : 1;
    return Array.from({ length: count }, (_, tag) => ({ column, tags, tag }));
  });
}

function firstOfKind({ column, tags, tag }: SignalKind, from: number, to: number): number | undefined {
  let row = column.indexOf(1, from);
  while (row >= 0 && row < to && tags && tags[row] !== tag) row = column.indexOf(1, row + 1);
  return row >= 0 && row < to ? row : undefined;
}

/** The values in random order. */
export function shuffled<T>(values: readonly T[], random: Random): T[] {
  return Array.from(shuffledIndices(values.length, random), (index) => values[index]!);
}

/** Number of cuts just before the end of each pair: they show a look-ahead of few candles. */
const LAST_ROWS = 3;

/** A pair's history, as its ends are chosen. */
interface TruncatedHistory {
  /** Length of the shortest truncated history. */
  readonly minLength: number;
  readonly length: number;
  /** Rows on which a signal begins. */
  readonly signals: readonly number[];
  /** Lengths that are chosen in any case. */
  readonly also: readonly number[];
}

/**
 * Lengths of truncated histories of one pair, ascending: all of them if enough are wanted. Otherwise the ends are signal rows, random
 * rows, the last rows and `also`. A random end may show a signal that is withdrawn later.
 */
export function chooseLengths(
  { minLength, length, signals, also }: TruncatedHistory,
  wanted: number,
  random: Random,
): number[] {
  if (wanted >= length - minLength)
    return Array.from({ length: length - minLength }, (_, i) => minLength + i);
  const cuts = new Set<number>(also.filter((known) => known >= minLength));
  for (let last = 1; last <= LAST_ROWS; last++) cuts.add(length - last);
  for (let i = 0; i < wanted; i++) {
    const onSignal = i % 2 === 0 && signals.length > 0;
    // One draw per equal part covers the whole range.
    const share = (i + random()) / wanted;
    if (onSignal) cuts.add(signals[Math.floor(share * signals.length)]! + 1);
    else cuts.add(minLength + Math.floor(share * (length - minLength)));
  }
  return [...cuts].filter((known) => known < length).sort((a, b) => a - b);
}

/** Rows on which a signal begins, from the shortest history on. */
export function signalRows(signals: Signals, minLength: number, length: number): number[] {
  const columns = [signals.enterLong, signals.exitLong, signals.enterShort, signals.exitShort];
  const rows: number[] = [];
  for (let row = minLength - 1; row < length; row++) {
    if (columns.some((column) => column?.[row] === 1 && column[row - 1] !== 1)) rows.push(row);
  }
  return rows;
}

export function countEntries({ enterLong, enterShort }: Signals): number {
  let count = 0;
  const length = enterLong?.length ?? enterShort?.length ?? 0;
  for (let row = 0; row < length; row++) if (enterLong?.[row] === 1 || enterShort?.[row] === 1) count++;
  return count;
}
