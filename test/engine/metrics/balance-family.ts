import { deviation, drawdowns, isFlat, mean } from './statistics.ts';

export interface EquityPoint {
  time: number;
  value: number;
}

const YEAR = Math.sqrt(365);

/** Last value of each UTC day (or month), keyed by the first characters of its ISO date. */
function lastPer(points: readonly EquityPoint[], characters: 7 | 10): Map<string, number> {
  const last = new Map<string, number>();
  for (const { time, value } of points) {
    last.set(new Date(time).toISOString().slice(0, characters), value);
  }
  return last;
}

/**
 * `EquityData` of a backtest: daily equity, drawdown in percent (zero or negative) and months. The points start with the wallet
 * at the run's first candle.
 */
export function equityResource(points: readonly EquityPoint[], wallet: number) {
  const days = lastPer(points, 10);
  const equity = [...days.values()];
  const drawdown = equity.map((value, i) => {
    const peak = Math.max(wallet, ...equity.slice(0, i + 1));
    return (value / peak - 1) * 100;
  });
  const monthly: Record<string, number> = {};
  let before = wallet;
  for (const [month, value] of lastPer(points, 7)) {
    monthly[month] = (value / before - 1) * 100;
    before = value;
  }
  return { dates: [...days.keys()], equity, drawdown, monthly };
}

/**
 * Ratios of the daily balance with open positions valued, by the formulas of src/engine/metrics/catalogue.ts. Two of them differ from
 * freqtrade's: the first day's return counts, relative to the wallet; and Calmar uses the largest relative drawdown, not the one at
 * the largest amount.
 */
export function balanceFamily(points: readonly EquityPoint[], wallet: number, days: number) {
  const equity = [wallet, ...lastPer(points, 10).values()];
  const returns = equity
    .slice(1)
    .map((value, i) => value / (equity[i] as number) - 1)
    .map((ratio) => (Math.abs(ratio) < 1e-9 ? 0 : ratio));
  const losses = returns.filter((value) => value < 0);
  const squares = returns.map((value) => Math.min(value, 0) ** 2);
  const daily = drawdowns(wallet, equity);
  const candles = points.map(({ value }) => value);
  const growth = ((equity.at(-1) as number) / wallet - 1) / days;
  const flat = isFlat(returns);
  return {
    sharpe: flat ? null : (mean(returns) / deviation(returns, 0)) * YEAR,
    sortino: losses.length < 2 || isFlat(losses) ? null : (mean(returns) / deviation(losses, 0)) * YEAR,
    sortinoDownside: losses.length === 0 ? null : (mean(returns) / Math.sqrt(mean(squares))) * YEAR,
    calmar: daily.share > 0 ? ((growth * 100) / daily.share) * YEAR : null,
    volatility: flat ? 0 : deviation(returns, 0) * YEAR,
    daily,
    candle: drawdowns(wallet, candles),
    bestDay: Math.max(...returns),
    worstDay: Math.min(...returns),
    lowest: Math.min(wallet, ...candles),
    highest: Math.max(wallet, ...candles),
    underWater: equity.slice(1).filter((value, i) => value < Math.max(...equity.slice(0, i + 2))).length,
  };
}
