import { type DailyEquity, isoDay, monthOf, periodReturns } from '#engine/metrics/daily.ts';
import { drawdownSeries } from '#engine/metrics/drawdown.ts';
import { roundNumbers } from './round.ts';

/** The equity resource: the account at the end of each UTC day of the run. */
export interface EquityData {
  readonly dates: readonly string[];
  /** Open positions valued; quote currency. */
  readonly equity: readonly number[];
  /** Percent below the running maximum, which starts at the wallet; zero or negative. */
  readonly drawdown: readonly number[];
  /** Month -> end-of-month equity over the previous one (the wallet for the first), less 1, in percent. */
  readonly monthly_returns: Readonly<Record<string, number>>;
}

/** @param wallet starting balance, quote currency */
export function buildEquityData(wallet: number, daily: DailyEquity): EquityData {
  return roundNumbers({
    dates: Array.from(daily.day, isoDay),
    equity: Array.from(daily.equity),
    drawdown: Array.from(drawdownSeries(wallet, daily.equity)),
    monthly_returns: Object.fromEntries(periodReturns(daily, wallet, monthOf)),
  });
}
