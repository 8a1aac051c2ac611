import { DAY_MS } from '#contract/values/durations.ts';
import type { Candles } from '../candles.ts';

/** Traded value of one pair by UTC day, and the age that ranks with it. */
export interface DailyVolumes {
  readonly pair: string;
  /** Open time of the first stored candle, ms, or the later time from which it is old enough for every choice. */
  readonly first: number;
  /** Start of the first day, ms. */
  readonly start: number;
  /** Sum of close * volume over the candles that open on each day, quote currency. */
  readonly value: Float64Array;
  /** Candles of each day; 0 marks a day without trading. */
  readonly candles: Uint32Array;
  /** Close time of the last candle that was read, ms; null without any. */
  readonly end: number | null;
}

/** Close of the last candle of a pair that ends a day or more before the end of a run, ms; null for the others. */
export function endsBefore({ end }: Pick<DailyVolumes, 'end'>, runEnd: number): number | null {
  return end === null || end > runEnd - DAY_MS ? null : end;
}

/**
 * Traded value of the days [start, end), ms at 00:00 UTC. Candles outside are ignored.
 *
 * @param stepMs length of a candle, at most a day, so that each belongs to one day
 */
export function dailyVolumes(
  candles: Candles,
  {
    pair,
    first,
    start,
    end,
    stepMs,
  }: Pick<DailyVolumes, 'pair' | 'first' | 'start'> & {
    readonly end: number;
    readonly stepMs: number;
  },
): DailyVolumes {
  const days = Math.max(0, Math.ceil((end - start) / DAY_MS));
  const value = new Float64Array(days);
  const count = new Uint32Array(days);
  const { timestamp, close, volume } = candles;
  for (let row = 0; row < timestamp.length; row++) {
    const day = Math.floor((timestamp[row]! - start) / DAY_MS);
    if (day < 0 || day >= days) continue;
    value[day]! += close[row]! * volume[row]!;
    count[day]!++;
  }
  const last = timestamp.at(-1);
  return { pair, first, start, value, candles: count, end: last === undefined ? null : last + stepMs };
}
