import type { ReportPeriods } from '#contract/report.ts';
import type { PeriodRow } from '#contract/report-metrics.ts';
import { type DailyEquity, isoDay, monthOf, type PeriodKey, periodReturns } from '#engine/metrics/daily.ts';
import type { TradeColumns } from '#engine/metrics/trade-columns.ts';
import { ratio } from '#engine/stats/moments.ts';
import { DAY_MS } from '#engine/timeframe.ts';

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
export function buildPeriods(trades: TradeColumns, daily: DailyEquity, wallet: number): ReportPeriods {
  const days = profitsByDay(trades, daily.day);
  const rows = (keyOf: PeriodKey) => {
    const keys = Array.from(daily.day, keyOf);
    const growth = periodReturns(daily, wallet, (_, index) => keys[index]!);
    const tallies = new Map<string, Tally>([...growth.keys()].map((key) => [key, new Tally()]));
    for (const [index, profits] of days.entries()) tallies.get(keys[index]!)!.add(profits);
    return [...tallies].map(([key, tally]) => periodRow(key, growth.get(key)!, tally, wallet));
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

/** Profits of the trades that closed on each of consecutive days, in the order of closing. */
function profitsByDay({ closedAt, profit }: TradeColumns, days: Float64Array): number[][] {
  const byDay = Array.from(days, (): number[] => []);
  for (let row = 0, { length } = profit; row < length; row++) {
    byDay[Math.floor((closedAt[row]! - days[0]!) / DAY_MS)]!.push(profit[row]!);
  }
  return byDay;
}

/** Running totals of a period's trades. */
class Tally {
  trades = 0;
  wins = 0;
  losses = 0;
  profit = 0;
  won = 0;
  lost = 0;

  add(profits: readonly number[]): void {
    this.trades += profits.length;
    for (const profit of profits) {
      this.profit += profit;
      if (profit > 0) {
        this.wins++;
        this.won += profit;
      } else if (profit < 0) {
        this.losses++;
        this.lost -= profit;
      }
    }
  }
}

function periodRow(key: string, returnPct: number, tally: Tally, wallet: number): PeriodRow {
  const { trades, wins, losses, profit } = tally;
  return {
    key,
    return_pct: returnPct,
    total_profit: profit,
    total_profit_pct: (profit / wallet) * 100,
    total_trades: trades,
    winning_trades: wins,
    losing_trades: losses,
    draws: trades - wins - losses,
    win_rate: ratio(wins * 100, trades),
    profit_factor: ratio(tally.won, tally.lost),
  };
}
