import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DAY_MS } from '#contract/values/durations.ts';
import { UNDEFINED_REASONS } from '#contract/values/undefined-metrics.ts';
import { computeMetrics } from '#engine/metrics/metrics.ts';
import { undefinedMetrics } from '#engine/metrics/undefined.ts';
import { buildEquityData, buildResult } from '#engine/report/result.ts';
import type { EquityCurve } from '#engine/simulator/types.ts';
import { drawdownOf } from '#engine/stats/drawdown.ts';
import { tableOf, trade } from './samples.ts';

/** Equity at day ends with figures computed by numpy. */
interface Vector {
  readonly id: string;
  readonly wallet: number;
  readonly first_open: string;
  readonly last_close: string;
  readonly equity_at_day_ends: readonly number[];
  readonly expected: {
    readonly days: number;
    readonly elapsed_days: number;
    readonly sharpe_population: number | null;
    readonly sortino: number | null;
    readonly volatility_pct_population: number;
    readonly max_drawdown_pct: number;
    readonly cagr_pct: number | null;
    readonly calmar: number | null;
  };
}

const VECTORS: readonly Vector[] = JSON.parse(
  readFileSync(new URL('headline-vectors.json', import.meta.url), 'utf8'),
);
const HOUR = 3_600_000;

/** A run of hourly candles with this equity at the end of each UTC day. */
function measure({ wallet, first_open, last_close, equity_at_day_ends: equity }: Vector) {
  const firstCandle = Date.parse(first_open);
  const lastCandle = Date.parse(last_close) - HOUR;
  const midnight = Math.floor(firstCandle / DAY_MS) * DAY_MS;
  const values = Float64Array.from(equity);
  const curve: EquityCurve = {
    // The last candle of each day.
    timestamp: values.map((_, day) => Math.min(midnight + (day + 1) * DAY_MS - HOUR, lastCandle)),
    equity: values,
    drawdown: drawdownOf(wallet, values),
    balance: values,
    openTrades: new Uint16Array(values.length),
  };
  const finalBalance = equity.at(-1)!;
  return computeMetrics({
    trades: tableOf([trade(finalBalance - wallet, 0, { closedAt: firstCandle })]),
    curve,
    finalBalance,
    wallet,
    firstCandle,
    lastCandle,
    timeframeMs: HOUR,
    marketChangePct: 0,
  });
}

describe('headline figures', () => {
  it.each(VECTORS)('figures of $id equal the independent ones', (vector) => {
    const { expected } = vector;
    const { metrics, daily } = measure(vector);
    const { account, equity, closed_trades, activity } = metrics;
    const close = (value: number | null, wanted: number | null) =>
      expect(value).toEqual(wanted === null ? null : expect.closeTo(wanted, 9));
    expect(account.backtest_days).toBe(expected.elapsed_days);
    close(equity.sharpe_ratio, expected.sharpe_population);
    close(equity.sortino_ratio, expected.sortino);
    close(equity.volatility_pct, expected.volatility_pct_population);
    close(equity.max_drawdown_pct, expected.max_drawdown_pct);
    close(account.cagr_pct, expected.cagr_pct);
    close(equity.calmar_ratio, expected.calmar);
    expect(activity.trades_per_day).toBe(1 / expected.elapsed_days);
    close(account.avg_daily_profit_pct, account.total_profit_pct / expected.elapsed_days);
    const { winning_days, losing_days, draw_days } = closed_trades;
    expect(winning_days + losing_days + draw_days).toBe(expected.days);
    expect(buildEquityData(vector.wallet, daily).dates).toHaveLength(expected.days);
  });

  it('a result says why each figure without a value has none, and whether the run is short', () => {
    const resultOf = (id: string) => {
      const { metrics, trades } = measure(VECTORS.find((vector) => vector.id === id)!);
      return { result: buildResult(metrics, trades), reasons: undefinedMetrics(metrics) };
    };
    const days = resultOf('two-days');
    expect(days.result).toMatchObject({
      cagr_pct: null,
      calmar_ratio: null,
      sortino_ratio: null,
      profit_factor: 999,
      short_run: true,
      backtest_days: 2,
      undefined_metrics: {
        cagr_pct: 'under_30_days',
        calmar_ratio: 'under_30_days',
        sortino_ratio: 'no_losing_day',
        profit_factor: 'no_losses',
      },
    });
    expect(resultOf('no-losing-day').result.undefined_metrics).toMatchObject({ calmar_ratio: 'no_drawdown' });
    const year = resultOf('a-year');
    expect(year.result.short_run).toBe(false);
    expect(year.result.undefined_metrics).not.toHaveProperty('cagr_pct');
    expect(resultOf('equal-stops').result.short_run).toBe(true);
    for (const reason of Object.values({ ...days.reasons, ...year.reasons }))
      expect(UNDEFINED_REASONS).toHaveProperty(reason);
  });
});
