import { describe, expect, it } from 'vitest';
import { DAY_MS } from '#contract/values/durations.ts';
import { type DailyEquity, dailyEquity } from '#engine/metrics/equity-curve.ts';
import { equityMetrics } from '#engine/metrics/metrics.ts';
import { createRandom } from '#engine/random.ts';
import { drawdownOf } from '#engine/stats/drawdown.ts';
import { curve, EXAMPLE_EQUITY, START } from './samples.ts';

const HOUR = 3_600_000;

function measure(values: readonly number[], wallet = 1000, stepMs = DAY_MS) {
  const equity = { ...curve(values, stepMs), drawdown: drawdownOf(wallet, values) };
  const totalProfitPct = (values.at(-1)! / wallet - 1) * 100;
  return equityMetrics(equity, dailyEquity(equity, wallet, START), {
    wallet,
    wholeDays: 10,
    totalProfitPct,
    cagrPct: 50,
  });
}

describe('equity metrics of the worked example 2.4', () => {
  const metrics = measure(EXAMPLE_EQUITY);

  it.each([
    ['sharpe_ratio', 4.0276, 4],
    ['freqtrade_sortino_ratio', 8.4599, 4],
    ['max_drawdown_pct', 3.5171, 4],
    ['max_drawdown_abs', 37, 9],
    ['best_day_pct', 2.9703, 4],
    ['worst_day_pct', -1.9962, 4],
  ] as const)('equity metric %s of the worked example is %d', (name, value, digits) => {
    expect(metrics[name]).toBeCloseTo(value, digits);
  });

  it('equity metrics of the worked example accept the flat first day of B0', () => {
    // Eleven end-of-day values, the first equal to the wallet: its return of 0 is the eleventh return.
    expect(measure([1000, ...EXAMPLE_EQUITY]).max_drawdown_abs).toBe(37);
  });

  it('volatility is the annualized population deviation', () => {
    expect(metrics.volatility_pct).toBeCloseTo(1.454141 * Math.sqrt(365), 4);
  });

  it('calmar_ratio is growth over drawdown; freqtrade_calmar_ratio follows 2.3', () => {
    expect(metrics.calmar_ratio).toBeCloseTo(50 / 3.5171103, 5);
    expect(metrics.freqtrade_calmar_ratio).toBeCloseTo(((3 / 10) * Math.sqrt(365)) / 0.035171103, 5);
  });

  it('time under water is 60 % for six of ten days', () => {
    // Below a peak: 1012, 1010 and 1031, 1015, 1030, 1030.
    expect(metrics.time_under_water_pct).toBe(60);
    expect(metrics.longest_drawdown_days).toBe(4);
  });
});

describe('markets that close', () => {
  it.each([
    ['stocks', 252, (day: number) => day % 7 < 5 && day % 29 !== 0],
    ['Monday to Friday', 261, (day: number) => day % 7 < 5],
  ] as const)(
    'annualized figures of %s are those of their %d trading days a year, within 0.5 %%',
    (_, days, isOpen) => {
      const random = createRandom(7);
      const values: number[] = [];
      const returns: number[] = [];
      for (let day = 0, equity = 1000; day < 365 * 4; day++) {
        if (isOpen(day)) {
          const change = 0.0006 + 0.01 * (random() + random() + random() - 1.5);
          returns.push(change);
          equity *= 1 + change;
        }
        values.push(equity);
      }
      const mean = returns.reduce((sum, each) => sum + each, 0) / returns.length;
      const variance = returns.reduce((sum, each) => sum + (each - mean) ** 2, 0) / returns.length;
      const perYear = returns.length / 4;
      expect(Math.abs(perYear / days - 1)).toBeLessThan(0.01);
      const { sharpe_ratio, volatility_pct } = measure(values);
      expect(Math.abs(sharpe_ratio! / ((mean / Math.sqrt(variance)) * Math.sqrt(perYear)) - 1)).toBeLessThan(
        0.005,
      );
      expect(Math.abs(volatility_pct! / (100 * Math.sqrt(variance * perYear)) - 1)).toBeLessThan(0.005);
    },
  );
});

describe('equity metric definitions', () => {
  it('first daily return is relative to the wallet', () => {
    // Returns +10 % and -10 %: mean 0.
    expect(measure([1100, 990]).sharpe_ratio).toBeCloseTo(0, 12);
    expect(measure([1100, 990]).best_day_pct).toBeCloseTo(10, 12);
  });

  it('downside deviation of Sortino divides by all days', () => {
    const metrics = measure([1100, 990, 990, 990]);
    const downside = Math.sqrt(0.1 ** 2 / 4);
    expect(metrics.sortino_ratio).toBeCloseTo((0 / downside) * Math.sqrt(365), 9);
    expect(measure([900, 990]).sortino_ratio).toBeCloseTo(0, 9);
    expect(measure([900, 1080]).sortino_ratio).toBeCloseTo(
      (0.05 / Math.sqrt(0.1 ** 2 / 2)) * Math.sqrt(365),
      9,
    );
  });

  it('candle drawdown includes falls within a day', () => {
    const day = Array<number>(24).fill(1000);
    day[10] = 800;
    const metrics = measure(day, 1000, HOUR);
    expect(metrics.max_drawdown_pct).toBe(0);
    expect(metrics.max_drawdown_candle_pct).toBeCloseTo(20, 12);
    expect(metrics.max_drawdown_candle_abs).toBe(200);
    expect(metrics).toMatchObject({ lowest_equity: 800, highest_equity: 1000 });
  });

  it('loss on the first day counts as a drawdown from the wallet', () => {
    const metrics = measure([900, 950]);
    expect(metrics.max_drawdown_pct).toBeCloseTo(10, 12);
    expect(metrics).toMatchObject({ time_under_water_pct: 100, longest_drawdown_days: 2 });
  });
});

describe('undefined equity metrics', () => {
  it('ratios are null for an account that never changes', () => {
    expect(measure([1000, 1000, 1000])).toMatchObject({
      sharpe_ratio: null,
      sortino_ratio: null,
      freqtrade_sortino_ratio: null,
      calmar_ratio: null,
      freqtrade_calmar_ratio: null,
      volatility_pct: 0,
      max_drawdown_pct: 0,
      time_under_water_pct: 0,
      longest_drawdown_days: 0,
    });
  });

  it('returns and drawdowns below 1e-9 count as 0', () => {
    // A fall of 1e-12 of the account, as rounding makes it, and back.
    const equity = [1000, 1000 - 1e-9, 1000, 1010];
    expect(measure(equity)).toMatchObject({
      max_drawdown_pct: 0,
      max_drawdown_abs: 0,
      max_drawdown_candle_pct: 0,
      max_drawdown_candle_abs: 0,
      time_under_water_pct: 0,
      longest_drawdown_days: 0,
      sortino_ratio: null,
      calmar_ratio: null,
      worst_day_pct: 0,
    });
    // 1.1e-9 is not rounding.
    const fell = measure([1000, 1000 - 1.1e-6, 1000, 1010]);
    expect(fell.max_drawdown_pct).toBeCloseTo(1.1e-7, 12);
    expect(fell.sortino_ratio).toBeGreaterThan(0);
  });

  it('Sharpe ratio is null for one day', () => {
    expect(measure([1010]).sharpe_ratio).toBeNull();
  });

  it('Sharpe ratio is null for returns equal up to rounding', () => {
    expect(measure([1100, 1210, 1331, 1464.1]).sharpe_ratio).toBeNull();
  });

  it('metrics are finite after a total loss', () => {
    const metrics = measure([500, 0, 0]);
    expect(metrics.max_drawdown_pct).toBe(100);
    expect(metrics.sharpe_ratio).toBeLessThan(0);
  });
});

it('dailyEquity assigns a candle to the UTC day in which it opens', () => {
  const from = START + 22 * HOUR;
  const daily: DailyEquity = dailyEquity(curve([1, 2, 3, 4], HOUR, from), 9, from);
  expect([...daily.day]).toEqual([START, START + DAY_MS]);
  expect([...daily.equity]).toEqual([2, 4]);
});
