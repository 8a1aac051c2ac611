import { deviation, drawdowns, isFlat, longestRun, mean, median, studentP } from './statistics.ts';

/** Fields of a trade that the closed-trade metrics read. Ordered by close. */
export interface ClosedTrade {
  profit: number;
  ratio: number;
  openTime: number;
  closeTime: number;
}

const YEAR = Math.sqrt(365);
const total = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** null represents "undefined" everywhere: never -100, never infinite. */
function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}

function sqn(returns: readonly number[]): number | null {
  if (returns.length < 2 || isFlat(returns)) return null;
  return (Math.sqrt(returns.length) * mean(returns)) / deviation(returns, 1);
}

function expectancy(profits: readonly number[]) {
  const wins = profits.filter((profit) => profit > 0);
  const losses = profits.filter((profit) => profit < 0);
  const winRate = wins.length / profits.length;
  const lossRate = losses.length / profits.length;
  const averageWin = wins.length > 0 ? mean(wins) : 0;
  const averageLoss = losses.length > 0 ? -mean(losses) : 0;
  return {
    winRate: finite(winRate),
    profitFactor: losses.length > 0 ? total(wins) / -total(losses) : null,
    expectancy: finite(winRate * averageWin - lossRate * averageLoss),
    expectancyRatio: losses.length > 0 ? finite((1 + averageWin / averageLoss) * winRate - 1) : null,
  };
}

/** Sums of profit per UTC day of the close, from the first to the last day with a close. */
function profitByDay(trades: readonly ClosedTrade[]): Map<number, number> {
  const days = new Map<number, number>();
  if (trades.length === 0) return days;
  const dayOf = (trade: ClosedTrade) => Math.floor(trade.closeTime / 86_400_000);
  const from = Math.min(...trades.map(dayOf));
  const to = Math.max(...trades.map(dayOf));
  for (let day = from; day <= to; day += 1) days.set(day, 0);
  for (const trade of trades) {
    days.set(dayOf(trade), (days.get(dayOf(trade)) as number) + trade.profit);
  }
  return days;
}

/**
 * The classic numbers from closed trades by the formulas of src/engine/metrics/catalogue.ts. `days` is D: whole days of the run, at least 1; `elapsed`: the days as they are, for
 * those that are headline figures.
 */
export function tradeFamily(trades: readonly ClosedTrade[], wallet: number, days: number, elapsed = days) {
  const profits = trades.map(({ profit }) => profit);
  const returns = profits.map((profit) => profit / wallet);
  const ratios = trades.map(({ ratio }) => ratio);
  const losses = returns.filter((value) => value < 0);
  const balances = profits.map((_, i) => wallet + total(profits.slice(0, i + 1)));
  const daily = total(returns) / days;
  const fall = drawdowns(wallet, balances);
  const final = wallet + total(profits);
  const quality = sqn(returns);
  const dayProfits = [...profitByDay(trades).values()];
  return {
    ...expectancy(profits),
    profitTotal: total(profits),
    profitTotalRatio: total(profits) / wallet,
    profitMean: ratios.length > 0 ? mean(ratios) : null,
    profitMedian: ratios.length > 0 ? median(ratios) : null,
    cagr: final > 0 && elapsed >= 30 ? (final / wallet) ** (365 / elapsed) - 1 : null,
    sharpe: returns.length < 2 || isFlat(returns) ? null : (daily / deviation(returns, 0)) * YEAR,
    sortino: losses.length < 2 || isFlat(losses) ? null : (daily / deviation(losses, 0)) * YEAR,
    calmar: fall.amount > 0 ? ((daily * 100) / fall.shareAtAmount) * YEAR : null,
    sqn: quality,
    pValue: quality === null ? null : studentP(quality, returns.length - 1),
    drawdownAbs: fall.amount,
    drawdownAccount: fall.shareAtAmount,
    drawdownRelative: fall.share,
    balanceMin: Math.min(...balances),
    balanceMax: Math.max(...balances),
    tradesPerDay: trades.length / elapsed,
    averageDailyProfit: total(returns) / elapsed,
    bestDay: Math.max(...dayProfits),
    worstDay: Math.min(...dayProfits),
    winDays: dayProfits.filter((profit) => profit > 0).length,
    lossDays: dayProfits.filter((profit) => profit < 0).length,
    winStreak: longestRun(profits, (profit) => profit > 0),
    lossStreak: longestRun(profits, (profit) => profit <= 0),
  };
}
