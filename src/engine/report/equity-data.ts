import type { EquityData } from '#contract/backtest-api.ts';
import { type DailyEquity, isoDay, monthOf, periodReturns } from '#engine/metrics/daily.ts';
import { drawdownSeries } from '#engine/metrics/drawdown.ts';
import { roundNumbers } from './round.ts';

/** @param wallet starting balance, quote currency */
export function buildEquityData(wallet: number, daily: DailyEquity): EquityData {
  return roundNumbers({
    dates: Array.from(daily.day, isoDay),
    equity: Array.from(daily.equity),
    drawdown: Array.from(drawdownSeries(wallet, daily.equity)),
    monthly_returns: Object.fromEntries(periodReturns(daily, wallet, monthOf)),
  });
}
