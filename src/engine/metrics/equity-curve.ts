import { DAY_MS } from '#contract/values/durations.ts';
import { indexAtOrAfter } from '../candles.ts';
import type { EquityCurve } from '../simulator/types.ts';

/** The account at the end of each UTC day of a run: equal-length columns, consecutive days. */
export interface DailyEquity {
  /** Start of the day, ms. */
  readonly day: Float64Array;
  /** Equity at the last candle that opens on that day, open positions included; quote currency. */
  readonly equity: Float64Array;
}

/**
 * Size below which a return or a drawdown, as a ratio, counts as 0. Rounding makes drawdowns of 1e-12, and with them ratios of 1e12.
 */
const NEGLIGIBLE = 1e-9;

/** The ratio, or 0 when it is negligible. */
export function withoutRounding(ratio: number): number {
  return Math.abs(ratio) < NEGLIGIBLE ? 0 : ratio;
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
 * Last equity of each UTC day, from the day of the run's first candle to the day of the curve's last. Before the curve begins
 * it is the wallet. A day without candles keeps the equity of the day before.
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
 * Return of each day as a ratio. The first day is measured against the wallet, so n days give n returns. It is 0 if it is
 * negligible, and if the equity of the day before was 0 or less.
 */
export function dailyReturns(wallet: number, equity: Float64Array): Float64Array {
  const returns = new Float64Array(equity.length);
  let previous = wallet;
  for (let i = 0; i < equity.length; i++) {
    returns[i] = previous > 0 ? withoutRounding(equity[i]! / previous - 1) : 0;
    previous = equity[i]!;
  }
  return returns;
}

/** Key of a day's period, such as `2026-11` for its month. `index`: index of the day in the run. */
export type PeriodKey = (day: number, index: number) => string;

export const monthOf: PeriodKey = (day) => isoDay(day).slice(0, 7);

/**
 * Return of each period in percent: the equity at its end over the equity before it, less 1. Before the first period the
 * equity is the wallet. A period of separate days, such as all Mondays, compounds the returns of its intervals. An interval
 * that begins at an equity of 0 or less has a return of 0.
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

/** Percent below the running maximum at each row, zero or negative; negligible drawdowns are 0. */
export function drawdownSeries(start: number, balances: Float64Array): Float64Array {
  const series = new Float64Array(balances.length);
  let peak = start;
  for (let row = 0, { length } = balances; row < length; row++) {
    const balance = balances[row]!;
    if (balance > peak) peak = balance;
    series[row] = balance < peak ? 0 - withoutRounding((peak - balance) / peak) * 100 : 0;
  }
  return series;
}

/** Rows below a peak, up to the row that reached the peak again. */
export interface DrawdownPeriod {
  /** Row of the peak; -1 for the starting balance. */
  readonly peakRow: number;
  readonly lowRow: number;
  /** First row back at the peak or above; null when the series ended below it. */
  readonly recoveryRow: number | null;
  /** Largest drawdown within the period, quote currency. */
  readonly amount: number;
  /** That drawdown as a share of the peak. */
  readonly ratio: number;
}

/** All intervals below the running maximum with a drawdown that is not negligible, in time order. */
export function drawdownPeriods(start: number, balances: ArrayLike<number>): DrawdownPeriod[] {
  const periods: DrawdownPeriod[] = [];
  let peak = start;
  let peakRow = -1;
  let lowRow = -1;
  const close = (recoveryRow: number | null) => {
    const amount = peak - balances[lowRow]!;
    const ratio = withoutRounding(amount / peak);
    if (ratio !== 0) periods.push({ peakRow, lowRow, recoveryRow, amount, ratio });
    lowRow = -1;
  };
  for (let row = 0, { length } = balances; row < length; row++) {
    const balance = balances[row]!;
    if (balance < peak) {
      if (lowRow < 0 || balance < balances[lowRow]!) lowRow = row;
      continue;
    }
    if (lowRow >= 0) close(row);
    peak = balance;
    peakRow = row;
  }
  if (lowRow >= 0) close(null);
  return periods;
}
