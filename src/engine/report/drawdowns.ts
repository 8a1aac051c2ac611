import type { ReportDrawdowns } from '#contract/report.ts';
import { type DailyEquity, isoDay } from '#engine/metrics/daily.ts';
import { type Drawdown, type DrawdownPeriod, drawdownOf, drawdownPeriods } from '#engine/metrics/drawdown.ts';
import type { EquityCurve } from '#engine/simulator/types.ts';
import { DAY_MS } from '#engine/timeframe.ts';

/** How many drawdown periods a report lists. */
const LISTED = 10;

/** A fall of the daily equity from a peak until it was reached again. Dates are `YYYY-MM-DD`. */
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

/** The deepest fall of the equity at the close of every candle. Times are open times of candles, ISO 8601. */
interface CandleDrawdown {
  /** Null when the peak is the wallet at the start. */
  readonly peak_at: string | null;
  readonly low_at: string;
  readonly peak_equity: number;
  readonly low_equity: number;
  readonly depth_pct: number;
}

/**
 * @param wallet starting balance, quote currency
 * @param worst of the curve's equity, when it is known already
 */
export function buildDrawdowns(
  wallet: number,
  daily: DailyEquity,
  curve: EquityCurve,
  worst: Drawdown = drawdownOf(wallet, curve.equity),
): ReportDrawdowns {
  const deepest = drawdownPeriods(wallet, daily.equity)
    .sort((a, b) => b.ratio - a.ratio || a.lowRow - b.lowRow)
    .slice(0, LISTED);
  return {
    daily: deepest.map((period) => dailyRow(period, daily.day)),
    candle: candleDrawdown(wallet, curve, worst),
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

function candleDrawdown(
  wallet: number,
  curve: EquityCurve,
  { peakRow, lowRow, ratio }: Drawdown,
): CandleDrawdown | null {
  if (lowRow < 0) return null;
  const timeAt = (row: number) => new Date(curve.timestamp[row]!).toISOString();
  return {
    peak_at: peakRow < 0 ? null : timeAt(peakRow),
    low_at: timeAt(lowRow),
    peak_equity: peakRow < 0 ? wallet : curve.equity[peakRow]!,
    low_equity: curve.equity[lowRow]!,
    depth_pct: ratio * 100,
  };
}
