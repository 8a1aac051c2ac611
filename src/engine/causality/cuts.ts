import type { Random } from '../random.ts';
import type { Signals } from '../strategy.ts';

/** Every pair is cut this many times just before its end, where a look of few candles ahead shows at once. */
export const LAST_ROWS = 3;

/**
 * Lengths of the truncated histories, ascending: all there are when that many are wanted, else ends on signal rows,
 * random ends (on which a signal may show that is withdrawn later), the last rows, and those that are asked for.
 */
export function chooseCuts(
  signals: readonly number[],
  least: number,
  length: number,
  wanted: number,
  random: Random,
  also: readonly number[] = [],
): number[] {
  if (wanted >= length - least) return Array.from({ length: length - least }, (_, i) => least + i);
  const cuts = new Set<number>(also.filter((known) => known >= least));
  for (let last = 1; last <= LAST_ROWS; last++) cuts.add(length - last);
  for (let i = 0; i < wanted; i++) {
    const onSignal = i % 2 === 0 && signals.length > 0;
    // One draw from each of equal parts, so that the whole range is covered.
    const share = (i + random()) / wanted;
    if (onSignal) cuts.add(signals[Math.floor(share * signals.length)]! + 1);
    else cuts.add(least + Math.floor(share * (length - least)));
  }
  return [...cuts].filter((known) => known < length).sort((a, b) => a - b);
}

/** Rows on which any signal begins, from the first that a history may end on. */
export function signalRows(signals: Signals, least: number, length: number): number[] {
  const columns = [signals.enterLong, signals.exitLong, signals.enterShort, signals.exitShort];
  const rows: number[] = [];
  for (let row = least - 1; row < length; row++) {
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
