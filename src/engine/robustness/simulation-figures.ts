import { dailyEquity, dailyReturns } from '../metrics/equity-curve.ts';
import type { PairInput, Simulation } from '../simulator/types.ts';
import { deviation, mean, ratio } from '../stats/moments.ts';

/** Profit, trades and Sharpe ratio (of daily returns, a year of 365 days) of a further simulation, which has its curve. */
export function figuresOf(
  { curve, finalBalance, outcomes }: Simulation,
  pairs: readonly PairInput[],
  startingBalance: number,
) {
  const first = Math.min(...pairs.map(({ candles }) => candles.timestamp[0]!));
  const returns = dailyReturns(startingBalance, dailyEquity(curve!, startingBalance, first).equity);
  return {
    total_profit_pct: (finalBalance / startingBalance - 1) * 100,
    total_trades: outcomes.length,
    sharpe_ratio: ratio(mean(returns) * Math.sqrt(365), deviation(returns, 'population')),
  };
}
