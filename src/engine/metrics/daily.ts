import { indexAtOrAfter } from '#engine/candles.ts';
import type { EquityCurve } from '#engine/simulator/types.ts';
import { DAY_MS } from '#engine/timeframe.ts';

/** The account at the end of each UTC day of a run: equal-length columns, consecutive days. */
export interface DailyEquity {
  /** Start of the day, ms. */
  readonly day: Float64Array;
  /** Equity at the last candle that opens on that day, open positions valued; quote currency. */
  readonly equity: Float64Array;
}

/** Start of the UTC day of `time`, ms. */
export function dayOf(time: number): number {
  return Math.floor(time / DAY_MS) * DAY_MS;
}

/** `YYYY-MM-DD` of a time in ms, UTC. */
export function isoDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/**
 * Last equity of each UTC day, from the day of the run's first candle to the day of the curve's last. The wallet stands
 * until the curve begins; a day without candles keeps the equity of the day before.
 *
 * @param wallet starting balance, quote currency
 * @param firstCandle open time of the run's first candle, ms: the curve begins one candle later
 */
export function dailyEquity(curve: EquityCurve, wallet: number, firstCandle: number): DailyEquity {
  const { timestamp, equity } = curve;
  const rows = timestamp.length;
  const first = dayOf(firstCandle);
  const count = rows === 0 ? 1 : (dayOf(timestamp[rows - 1]!) - first) / DAY_MS + 1;
  const day = new Float64Array(count);
  const last = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    day[i] = first + i * DAY_MS;
    const row = indexAtOrAfter(timestamp, day[i]! + DAY_MS);
    last[i] = row === 0 ? wallet : equity[row - 1]!;
  }
  return { day, equity: last };
}

/**
 * Return of each day as a ratio. The first day is measured against the wallet, so that it counts too: n days give n
 * returns. 0 where nothing was left the day before.
 */
export function dailyReturns(wallet: number, equity: Float64Array): Float64Array {
  const returns = new Float64Array(equity.length);
  let previous = wallet;
  for (let i = 0; i < equity.length; i++) {
    returns[i] = previous > 0 ? equity[i]! / previous - 1 : 0;
    previous = equity[i]!;
  }
  return returns;
}

/** Groups days into periods: `2026-11` for months, and so on. `index`: place of the day in the run. */
export type PeriodKey = (day: number, index: number) => string;

export const monthOf: PeriodKey = (day) => isoDay(day).slice(0, 7);

/**
 * Return of each period in percent: the equity at its end over that at the end of the day before it (the first: the
 * wallet), less 1, whatever the equity was in between. A period of days that are not consecutive, such as all Mondays,
 * compounds the returns of its stretches. A stretch that begins with nothing left counts as 0.
 *
 * @param wallet starting balance, quote currency
 */
export function periodReturns(
  { day, equity }: DailyEquity,
  wallet: number,
  keyOf: PeriodKey,
): Map<string, number> {
  const growth = new Map<string, number>();
  let before = wallet;
  let key = keyOf(day[0]!, 0);
  for (let i = 0; i < day.length; i++) {
    const next = i + 1 < day.length ? keyOf(day[i + 1]!, i + 1) : null;
    if (next === key) continue;
    growth.set(key, (growth.get(key) ?? 1) * (before > 0 ? equity[i]! / before : 1));
    before = equity[i]!;
    if (next !== null) key = next;
  }
  return new Map([...growth].map(([period, factor]) => [period, (factor - 1) * 100]));
}
