import { describe, expect, it } from 'vitest';
import { accountMetrics, cagrPct, fullDays } from '#engine/metrics/trade-metrics.ts';
import { DAY_MS } from '#engine/timeframe.ts';

describe('account metrics', () => {
  it('fullDays counts full days between the first and last candle, at least one', () => {
    expect(fullDays(0, 10 * DAY_MS)).toBe(10);
    expect(fullDays(0, 10 * DAY_MS - 1)).toBe(9);
    expect(fullDays(5, 5)).toBe(1);
  });

  it('cagrPct compounds over a year of 365 days and is null when undefined', () => {
    expect(cagrPct(1000, 1030, 10)).toBeCloseTo(194.14, 2);
    expect(cagrPct(1000, 2000, 365)).toBe(100);
    expect(cagrPct(1000, 0, 10)).toBe(-100);
    expect(cagrPct(1000, -1, 10)).toBeNull();
    expect(cagrPct(1, 1e9, 1)).toBeNull();
  });

  it('accountMetrics returns profits as percentages of the wallet', () => {
    expect(accountMetrics(1000, 1030, 30, 10, null)).toMatchObject({
      total_profit_pct: 3,
      avg_daily_profit_pct: 0.3,
      market_change_pct: null,
    });
  });
});
