import type { RegimeCell } from '#contract/backtests/report-robustness.ts';
import { drawdownOf } from '../stats/drawdown.ts';
import { deviation } from '../stats/moments.ts';
import { sharpeError, sharpeSample } from '../stats/sharpe-ratio.ts';

const TREND_DAYS = 90;
const VOLATILITY_DAYS = 30;
const YEAR_ROOT = Math.sqrt(365);

const TRENDS = ['up', 'down'] as const;
const VOLATILITIES = ['low', 'middle', 'high'] as const;
const CELLS = TRENDS.flatMap((trend) => VOLATILITIES.map((volatility) => ({ trend, volatility })));

/** Days of a run as equal-length columns. */
export interface RunDays {
  /** Equity at the end of each day, quote currency. */
  readonly equity: Float64Array;
  /** Return of each day as a ratio; the first against the wallet. */
  readonly returns: Float64Array;
  /** Number of trades that closed on each day. */
  readonly trades: Float64Array;
}

/** Number of the cell of each day in {@link CELLS}; -1 for a day without enough days before it. */
export function regimesOf(prices: Float64Array): Int8Array {
  const cells = new Int8Array(prices.length).fill(-1);
  const returns = prices.map((price, day) => (day === 0 ? 0 : price / prices[day - 1]! - 1));
  const history: number[] = [];
  // A day is named by what was known when it began: prices up to the day before.
  for (let day = VOLATILITY_DAYS + 1; day < prices.length; day++) {
    const volatility = deviation(returns.subarray(day - VOLATILITY_DAYS, day), 'population');
    const rank = insertSorted(history, volatility);
    if (day <= TREND_DAYS) continue;
    const tercile = Math.min(2, Math.floor((3 * rank) / history.length));
    const rises = prices[day - 1]! > prices[day - 1 - TREND_DAYS]!;
    cells[day] = (rises ? 0 : VOLATILITIES.length) + tercile;
  }
  return cells;
}

/** Inserts a value; returns the number of values below it. */
function insertSorted(sorted: number[], value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  sorted.splice(low, 0, value);
  return low;
}

/**
 * Figures of every cell.
 *
 * @param wallet starting balance, quote currency
 */
export function regimeCells(cells: Int8Array, run: RunDays, wallet: number): RegimeCell[] {
  const profits = run.equity.map((equity, day) => equity - (day === 0 ? wallet : run.equity[day - 1]!));
  const inCell = (cell: number) => (_: number, day: number) => cells[day] === cell;
  const total = profits.filter((_, day) => cells[day]! >= 0).reduce((sum, each) => sum + each, 0);
  return CELLS.map(({ trend, volatility }, cell) => {
    const returns = run.returns.filter(inCell(cell));
    const profit = profits.filter(inCell(cell)).reduce((sum, each) => sum + each, 0);
    const growth = compounded(returns);
    const sample = sharpeSample(returns);
    const error = sample && sharpeError(sample);
    return {
      trend,
      volatility,
      days: returns.length,
      trades: run.trades.filter(inCell(cell)).reduce((sum, each) => sum + each, 0),
      return_pct: returns.length === 0 ? null : (growth.at(-1)! - 1) * 100,
      profit,
      profit_share_pct: total > 0 ? (profit / total) * 100 : null,
      sharpe_ratio: sample ? sample.sharpe * YEAR_ROOT : null,
      sharpe_ratio_error: error == null ? null : error * YEAR_ROOT,
      max_drawdown_pct: returns.length === 0 ? null : drawdownOf(1, growth).ratio * 100,
    };
  });
}

/** Equity from 1 after each of the returns. */
export function compounded(returns: Float64Array): Float64Array {
  let growth = 1;
  return returns.map((each) => {
    growth *= 1 + each;
    return growth;
  });
}
