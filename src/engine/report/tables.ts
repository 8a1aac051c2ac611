import type {
  CostRow,
  ReportCosts,
  ReportDrawdowns,
  ReportPeriods,
  ReportTables,
} from '#contract/backtests/report.ts';
import type { PeriodRow, TableRow } from '#contract/backtests/report-metrics.ts';
import { NO_TAG } from '#contract/values/backtest-limits.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import {
  type DailyEquity,
  type DrawdownPeriod,
  drawdownPeriods,
  isoDay,
  monthOf,
  type PeriodKey,
  periodReturns,
  withoutRounding,
} from '../metrics/equity-curve.ts';
import type { ComputedMetrics } from '../metrics/metrics.ts';
import {
  pickOutcomes,
  type TradeColumns,
  type TradeMetrics,
  tradeMetrics,
} from '../metrics/trade-metrics.ts';
import { type TextColumn, textAt } from '../simulator/trade-table.ts';
import type { EquityCurve } from '../simulator/types.ts';
import { ratio, sum } from '../stats/moments.ts';
import { groupOf } from './positions.ts';

/** Key of the last row of every table. */
export const TOTAL = 'TOTAL';

/** Maximum rows of a table without TOTAL: every trade may have its own tag or reason. */
const MAX_ROWS = 200;

/** Key of the row that holds the groups beyond {@link MAX_ROWS}. */
const OTHERS = 'OTHERS';

/**
 * @param pairs every pair of the run
 * @param wallet starting balance, quote currency
 */
export function buildTables(
  pairs: readonly string[],
  wallet: number,
  computed: Pick<ComputedMetrics, 'trades' | 'total' | 'length'>,
): ReportTables {
  const { trades, length, total } = computed;
  const known = new Map<readonly number[], TradeMetrics>();
  const metricsOf = (rows: readonly number[]) => {
    if (rows.length === trades.length) return total;
    const metrics = known.get(rows) ?? tradeMetrics(pickOutcomes(trades, rows), wallet, length);
    known.set(rows, metrics);
    return metrics;
  };
  const table = (groups: ReadonlyMap<string, readonly number[]>) => [
    ...tableRows(groups, metricsOf),
    { key: TOTAL, ...total },
  ];
  const { pair, side, exitReason } = trades;
  const enterTag = { ...trades.enterTag, texts: trades.enterTag.texts.map((tag) => tag ?? NO_TAG) };
  const all = [...trades.profit.keys()];
  const leftOpen = all.filter((row) => trades.leftOpen[row] === 1);
  const perTag = groupRows(all, enterTag);
  const perReason = groupRows(all, exitReason);
  const groups = trades.enterTag.texts.map(groupOf);
  const group = { ...trades.enterTag, texts: groups.map((each) => each ?? NO_TAG) };
  return {
    per_pair: table(groupRows(all, pair, pairs)),
    per_enter_tag: table(perTag),
    per_exit_reason: table(perReason),
    per_enter_tag_and_exit_reason: table(
      perTag.size === 1
        ? prefixed([...perTag.keys()][0]!, perReason)
        : groupRows(all, combined(enterTag, exitReason)),
    ),
    per_side: table(groupRows(all, side, ['long', 'short'])),
    ...(groups.some((each) => each !== null) && { per_group: table(groupRows(all, group)) }),
    left_open: [...tableRows(groupRows(leftOpen, pair), metricsOf), { key: TOTAL, ...metricsOf(leftOpen) }],
  };
}

/** Groups by tag and reason when all trades have the same tag, as in most runs: their metrics are known already. */
function prefixed(tag: string, perReason: ReadonlyMap<string, number[]>): Map<string, number[]> {
  return new Map([...perReason].map(([reason, rows]) => [both(tag, reason), rows]));
}

const both = (tag: string, reason: string) => `${tag} / ${reason}`;

/** Both strings of each row. */
function combined(left: TextColumn, right: TextColumn): TextColumn {
  const positions = new Map<number, number>();
  const texts: string[] = [];
  const index = new Uint32Array(left.index.length);
  for (let row = 0, { length } = index; row < length; row++) {
    const code = left.index[row]! * right.texts.length + right.index[row]!;
    let position = positions.get(code);
    if (position === undefined) {
      position = texts.push(both(textAt(left, row), textAt(right, row))) - 1;
      positions.set(code, position);
    }
    index[row] = position;
  }
  return { texts, index };
}

/** One row per group, by descending total profit, then by key. */
function tableRows(
  groups: ReadonlyMap<string, readonly number[]>,
  metricsOf: (rows: readonly number[]) => TradeMetrics,
): TableRow[] {
  const rows = [...groups].map(([key, group]) => ({ key, ...metricsOf(group) }));
  return rows.sort((a, b) => b.total_profit - a.total_profit || (a.key < b.key ? -1 : 1));
}

/**
 * Groups rows by their string.
 *
 * @param keys groups that exist even without rows; they come first, in their order
 */
function groupRows(
  rows: readonly number[],
  { texts, index }: TextColumn,
  keys: readonly string[] = [],
): Map<string, number[]> {
  const groups = new Map<string, number[]>(keys.map((key) => [key, []]));
  // Two indexes may have the same string: a tag may equal NO_TAG.
  const byIndex: (number[] | undefined)[] = texts.map((text) => groups.get(text));
  for (const row of rows) {
    const position = index[row]!;
    const group = byIndex[position];
    if (group) {
      group.push(row);
      continue;
    }
    const known = groups.get(texts[position]!) ?? [];
    known.push(row);
    groups.set(texts[position]!, known);
    byIndex[position] = known;
  }
  return groups.size > MAX_ROWS ? mergeSmallest(groups) : groups;
}

/** Keeps the groups with the most trades and merges the others, and any group named {@link OTHERS}, into one. */
function mergeSmallest(groups: ReadonlyMap<string, number[]>): Map<string, number[]> {
  const others = groups.get(OTHERS) ?? [];
  const largest = [...groups].filter(([key]) => key !== OTHERS).sort(([, a], [, b]) => b.length - a.length);
  const rest = largest.splice(MAX_ROWS - 1).flatMap(([, rows]) => rows);
  return new Map([...largest, [OTHERS, [...others, ...rest].sort((a, b) => a - b)]]);
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

/** Profits of the trades that closed on each day, in the order of closing. */
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
    // `for of` would make an object for each trade of each table.
    for (let index = 0, { length } = profits; index < length; index++) {
      const profit = profits[index]!;
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

/** Number of drawdown periods in a report. */
const MAX_DRAWDOWNS = 10;

/** Drawdown of the daily equity, from a peak to its recovery. Dates are `YYYY-MM-DD`. */
interface DrawdownRow {
  /** Day of the peak; the run's first day when the peak is the wallet. */
  readonly start: string;
  readonly low: string;
  /** First day back at the peak; null when the run ended below it. */
  readonly recovery: string | null;
  /** Zero or positive. */
  readonly depth_pct: number;
  readonly depth_abs: number;
  /** From the peak to the recovery, or to the end of the run. */
  readonly duration_days: number;
  readonly days_to_low: number;
}

/** Deepest drawdown of the equity at the close of every candle. Times are open times of candles, ISO 8601. */
interface CandleDrawdown {
  /** Null when the peak is the wallet at the start. */
  readonly peak_at: string | null;
  readonly low_at: string;
  readonly peak_equity: number;
  readonly low_equity: number;
  readonly depth_pct: number;
}

/** @param wallet starting balance, quote currency */
export function buildDrawdowns(wallet: number, daily: DailyEquity, curve: EquityCurve): ReportDrawdowns {
  const deepest = drawdownPeriods(wallet, daily.equity)
    .sort((a, b) => b.ratio - a.ratio || a.lowRow - b.lowRow)
    .slice(0, MAX_DRAWDOWNS);
  return {
    daily: deepest.map((period) => dailyRow(period, daily.day)),
    candle: candleDrawdown(wallet, curve),
  };
}

function dailyRow(period: DrawdownPeriod, days: Float64Array): DrawdownRow {
  const dayAt = (row: number) => days[0]! + row * DAY_MS;
  const lastRow = period.recoveryRow ?? days.length - 1;
  return {
    start: isoDay(dayAt(Math.max(0, period.peakRow))),
    low: isoDay(dayAt(period.lowRow)),
    recovery: period.recoveryRow === null ? null : isoDay(dayAt(period.recoveryRow)),
    depth_pct: period.ratio * 100,
    depth_abs: period.amount,
    duration_days: lastRow - period.peakRow,
    days_to_low: period.lowRow - period.peakRow,
  };
}

function candleDrawdown(wallet: number, curve: EquityCurve): CandleDrawdown | null {
  const { peakRow, lowRow, ratio } = curve.drawdown;
  if (lowRow < 0 || withoutRounding(ratio) === 0) return null;
  const timeAt = (row: number) => new Date(curve.timestamp[row]!).toISOString();
  return {
    peak_at: peakRow < 0 ? null : timeAt(peakRow),
    low_at: timeAt(lowRow),
    peak_equity: peakRow < 0 ? wallet : curve.equity[peakRow]!,
    low_equity: curve.equity[lowRow]!,
    depth_pct: ratio * 100,
  };
}

export function buildCosts(trades: TradeColumns): ReportCosts {
  const fees = sum(trades.fees);
  const slippage = sum(trades.slippageCost);
  const funding = 0 - sum(trades.funding);
  const total = fees + slippage + funding;
  const turnover = sum(trades.volume);
  const gross = sum(trades.profit) + total;
  const row = (amount: number): CostRow => ({
    amount,
    pct_of_gross_profit: gross > 0 ? (amount / gross) * 100 : null,
    pct_of_turnover: ratio(amount * 100, turnover),
  });
  return {
    gross_profit: gross,
    turnover,
    fees: row(fees),
    slippage: row(slippage),
    funding: row(funding),
    total: row(total),
  };
}
