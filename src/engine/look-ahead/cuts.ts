import type { Random } from '../random.ts';
import type { Signals } from '../strategy.ts';

/** Number of cuts just before the end of each pair: they show a look-ahead of few candles. */
export const LAST_ROWS = 3;

/**
 * Lengths of the truncated histories, ascending: all of them if enough are wanted. Otherwise the ends are signal rows, random
 * rows, the last rows and `also`. A random end may show a signal that is withdrawn later.
 */
export function chooseCuts(
  signals: readonly number[],
  minLength: number,
  length: number,
  wanted: number,
  random: Random,
  also: readonly number[] = [],
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
