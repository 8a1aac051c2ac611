import { describe, expect, it } from 'vitest';
import { DAY_MS } from '#contract/values/durations.ts';
import { accountMetrics, cagrPct, runLength } from '#engine/metrics/trade-metrics.ts';

describe('account metrics', () => {
  it('runLength counts from the first open to the last close, and whole days as freqtrade', () => {
    const hour = DAY_MS / 24;
    expect(runLength(0, 10 * DAY_MS, DAY_MS)).toEqual({ days: 11, wholeDays: 10 });
    expect(runLength(0, 10 * DAY_MS - hour, hour)).toEqual({ days: 10, wholeDays: 9 });
    expect(runLength(5 * hour, 5 * hour, hour)).toEqual({ days: 1 / 24, wholeDays: 1 });
  });

  it('cagrPct compounds over a year of 365 days and is null when undefined', () => {
    // 1.03 to the power of 365 / 36.5 is 1.343916.
    expect(cagrPct(1000, 1030, 36.5)).toBeCloseTo(34.3916, 4);
    expect(cagrPct(1000, 2000, 365)).toBe(100);
    expect(cagrPct(1000, 1030, 30)).not.toBeNull();
    expect(cagrPct(1000, 1030, 29.99)).toBeNull();
    expect(cagrPct(1000, 0, 100)).toBeNull();
    expect(cagrPct(1000, -1, 100)).toBeNull();
  });

  it('accountMetrics returns profits as percentages of the wallet', () => {
    expect(accountMetrics(1000, 1030, 30, 10, null)).toMatchObject({
      total_profit_pct: 3,
      avg_daily_profit_pct: 0.3,
      market_change_pct: null,
    });
  });
});
