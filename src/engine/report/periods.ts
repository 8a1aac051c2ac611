import {
  type DailyEquity,
  dailyReturns,
  dayOf,
  isoDay,
  monthOf,
  type PeriodKey,
  periodReturns,
} from '#engine/metrics/daily.ts';
import { ratio, sum } from '#engine/metrics/moments.ts';
import type { Trade } from '#engine/simulator/types.ts';
import { DAY_MS } from '#engine/timeframe.ts';
import { groupTrades } from './tables.ts';

/** One calendar period: trades by the UTC day of closing, and the return of the equity, open positions valued. */
export interface PeriodRow {
  readonly key: string;
  /** Compounded daily returns of the equity over the period's days, percent. */
  readonly return_pct: number;
  readonly total_profit: number;
  readonly total_profit_pct: number;
  readonly total_trades: number;
  readonly winning_trades: number;
  readonly losing_trades: number;
  readonly draws: number;
  readonly win_rate: number | null;
  readonly profit_factor: number | null;
}

/** Every period that the run touches, traded or not, in time order (weekdays from Monday). */
export interface ReportPeriods {
  /** `YYYY-MM-DD`. */
  readonly day: readonly PeriodRow[];
  /** The Monday on which the week begins, `YYYY-MM-DD`. */
  readonly week: readonly PeriodRow[];
  /** `YYYY-MM`. */
  readonly month: readonly PeriodRow[];
  /** `YYYY`. */
  readonly year: readonly PeriodRow[];
  /** `Monday` to `Sunday`. */
  readonly weekday: readonly PeriodRow[];
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

/** Days since the Monday of the week; 1970-01-01 was a Thursday. */
const daysSinceMonday = (day: number) => (day / DAY_MS + 3) % 7;

const KEYS = {
  day: isoDay,
  week: (day) => isoDay(day - daysSinceMonday(day) * DAY_MS),
  month: monthOf,
  year: (day) => isoDay(day).slice(0, 4),
  weekday: (day) => WEEKDAYS[daysSinceMonday(day)]!,
} satisfies Record<keyof ReportPeriods, PeriodKey>;

/** @param wallet starting balance, quote currency */
export function buildPeriods(trades: readonly Trade[], daily: DailyEquity, wallet: number): ReportPeriods {
  const returns = dailyReturns(wallet, daily.equity);
  const rows = (keyOf: PeriodKey) => {
    const growth = periodReturns(daily.day, returns, keyOf);
    const keys = Array.from(daily.day, keyOf);
    const dayIndex = (trade: Trade) => (dayOf(trade.closedAt) - daily.day[0]!) / DAY_MS;
    const groups = groupTrades(trades, (trade) => keys[dayIndex(trade)]!, [...growth.keys()]);
    return [...groups].map(([key, group]) => periodRow(key, growth.get(key)!, group, wallet));
  };
  const weekday = rows(KEYS.weekday).sort((a, b) => WEEKDAYS.indexOf(a.key) - WEEKDAYS.indexOf(b.key));
  return {
    day: rows(KEYS.day),
    week: rows(KEYS.week),
    month: rows(KEYS.month),
    year: rows(KEYS.year),
    weekday,
  };
}

function periodRow(key: string, returnPct: number, trades: readonly Trade[], wallet: number): PeriodRow {
  const profits = trades.map((trade) => trade.profit);
  const wins = profits.filter((profit) => profit > 0);
  const losses = profits.filter((profit) => profit < 0);
  const profit = sum(profits);
  return {
    key,
    return_pct: returnPct,
    total_profit: profit,
    total_profit_pct: (profit / wallet) * 100,
    total_trades: profits.length,
    winning_trades: wins.length,
    losing_trades: losses.length,
    draws: profits.length - wins.length - losses.length,
    win_rate: ratio(wins.length * 100, profits.length),
    profit_factor: ratio(sum(wins), Math.abs(sum(losses))),
  };
}
