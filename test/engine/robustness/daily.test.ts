import { describe, expect, it } from 'vitest';
import { DAY_MS } from '#contract/values/durations.ts';
import { createRandom } from '#engine/random.ts';
import { attribute } from '#engine/robustness/attribution.ts';
import { holdEquity } from '#engine/robustness/benchmark.ts';
import { bootstrap } from '#engine/robustness/bootstrap.ts';
import { regimeCells, regimesOf } from '#engine/robustness/regimes.ts';
import { stressResults } from '#engine/robustness/stress.ts';
import { STRESS_WINDOWS } from '#engine/robustness/stress-windows.ts';
import { normalSource } from './noise.ts';

function noise(days: number, seed: number, drift = 0, size = 0.02): Float64Array {
  const normal = normalSource(createRandom(seed));
  return Float64Array.from({ length: days }, () => drift + size * normal());
}

function pricesOf(returns: Float64Array): Float64Array {
  let price = 100;
  return returns.map((each) => {
    price *= 1 + each;
    return price;
  });
}

describe('regimes', () => {
  const prices = pricesOf(noise(400, 1));

  it('a regime never depends on the prices of its own or a later day', () => {
    const whole = regimesOf(prices);
    for (const day of [91, 120, 250, 399]) {
      const later = prices.map((price, at) => (at < day ? price : price * (3 + Math.sin(at))));
      expect(regimesOf(later).subarray(0, day + 1)).toEqual(whole.subarray(0, day + 1));
    }
  });

  it('the first 91 days have none; then every day has one', () => {
    const cells = regimesOf(prices);
    expect(cells.findIndex((cell) => cell >= 0)).toBe(91);
    expect(cells.subarray(91).every((cell) => cell >= 0 && cell < 6)).toBe(true);
    expect(regimesOf(prices.subarray(0, 91)).every((cell) => cell === -1)).toBe(true);
  });

  it('trend and volatility are those of the days before', () => {
    const calm = noise(200, 2, 0.002, 0.001);
    const wild = noise(100, 3, -0.02, 0.04);
    const cells = regimesOf(pricesOf(Float64Array.from([...calm, ...wild])));
    expect(cells[199]! < 3).toBe(true);
    expect([...cells.subarray(235, 245)].every((cell) => cell % 3 === 2)).toBe(true);
    expect(cells[299]).toBe(5);
  });

  it('profits of all cells add up to the change of the equity, and days and trades to theirs', () => {
    const returns = noise(400, 4, 0.001);
    const equity = pricesOf(returns);
    const cells = regimeCells(
      regimesOf(prices),
      { equity, returns, trades: new Float64Array(400).fill(2) },
      100,
    );
    const total = (field: 'profit' | 'days' | 'trades' | 'profit_share_pct') =>
      cells.reduce((sum, cell) => sum + cell[field]!, 0);
    expect(total('profit')).toBeCloseTo(equity.at(-1)! - equity[90]!, 8);
    expect(total('days')).toBe(309);
    expect(total('trades')).toBe(618);
    expect(total('profit_share_pct')).toBeCloseTo(100, 8);
  });
});

describe('attribution', () => {
  it('finds a planted alpha and beta', () => {
    const market = noise(1_000, 5, 0.0005);
    const own = noise(1_000, 6, 0.001, 0.005).map((each, day) => each + 0.6 * market[day]!);
    const figures = attribute(own, market)!;
    expect(figures.beta_low).toBeLessThan(0.6);
    expect(figures.beta_high).toBeGreaterThan(0.6);
    expect(figures.alpha_low_pct).toBeGreaterThan(0);
    expect(figures.alpha_high_pct).toBeGreaterThan(36.5);
    expect(figures.alpha_p_value).toBeLessThan(0.001);
    expect(figures.down_capture_pct).toBeLessThan(figures.up_capture_pct!);
  });

  it('the benchmark against itself has beta 1, alpha 0 and captures of 100 %', () => {
    const market = noise(300, 7);
    const figures = attribute(market, market)!;
    expect(figures.beta).toBeCloseTo(1, 12);
    expect(figures.alpha_pct).toBeCloseTo(0, 8);
    expect(figures.up_capture_pct).toBeCloseTo(100, 8);
    expect(figures.down_capture_pct).toBeCloseTo(100, 8);
    expect(figures.information_ratio).toBeNull();
  });
});

describe('holding as the benchmark', () => {
  const day = Float64Array.from({ length: 4 }, (_, i) => i * DAY_MS);
  const candles = (start: number, closes: readonly number[]) => {
    const column = Float64Array.from(closes);
    const timestamp = column.map((_, i) => (start + i) * DAY_MS);
    return { timestamp, open: column, high: column, low: column, close: column, volume: column };
  };
  const daily = { day, equity: new Float64Array(4) };
  const free = { fee: 0, slippage: 0 };

  it('splits the wallet, and waits in cash for a pair that begins later', () => {
    const pairs = [{ candles: candles(0, [10, 20, 20, 40]) }, { candles: candles(2, [5, 10]) }];
    expect([...holdEquity(pairs, 100, daily, free)]).toEqual([100, 150, 150, 300]);
  });

  it('pays fee and slippage at both ends and funding between', () => {
    const costs = { fee: 0.01, slippage: 0.02 };
    const amount = 100 / (10 * 1.02 * 1.01);
    const funding = {
      timestamp: Float64Array.of(0, DAY_MS, 9 * DAY_MS),
      rate: Float64Array.of(1, 0.001, 1),
      markPrice: Float64Array.of(10, 11, 10),
    };
    const equity = holdEquity([{ candles: candles(0, [10, 12, 14]), funding }], 100, daily, costs);
    const paid = amount * 0.001 * 11;
    expect(equity[0]).toBeCloseTo(amount * 10, 10);
    expect(equity[1]).toBeCloseTo(amount * 12 - paid, 10);
    expect(equity[3]).toBeCloseTo(amount * 14 * 0.98 * 0.99 - paid, 10);
  });

  it('pays half the spread and the impact of its own amount at both ends', () => {
    const [spread, impact] = [Float64Array.of(0.02, 0.02, 0.04), Float64Array.of(0.01, 0.01, 0.02)];
    const costs = { firstDay: 0, spread, impact };
    const held = [{ candles: candles(0, [10, 12, 14]), costs }];
    const equity = holdEquity(held, 100, daily, { fee: 0.01, slippage: 0.001 });
    const amount = equity[0]! / 10;
    const paid = 1 + 0.001 + 0.01 + 0.01 * Math.sqrt(amount);
    expect(amount * 10 * paid * 1.01).toBeCloseTo(100, 10);
    const lost = 0.001 + 0.02 + 0.02 * Math.sqrt(amount);
    expect(equity[3]).toBeCloseTo(amount * 14 * (1 - lost) * 0.99, 10);
  });
});

describe('stress windows', () => {
  const days = 3_000;
  const day = Float64Array.from({ length: days }, (_, i) => Date.parse('2020-03-10') + i * DAY_MS);
  const run = {
    equity: new Float64Array(days),
    returns: new Float64Array(days).fill(-0.01),
    trades: new Float64Array(days).fill(1),
  };

  it('counts only the days of the run that are in the window', () => {
    const results = stressResults(day, run, new Float64Array(days).fill(-0.02));
    expect(results.map(({ name }) => name)).toEqual(STRESS_WINDOWS.map(({ name }) => name));
    expect(results[0]).toMatchObject({ days: 7, trades: 7 });
    expect(results[0]!.return_pct).toBeCloseTo((0.99 ** 7 - 1) * 100, 10);
    expect(results[0]!.market_return_pct).toBeCloseTo((0.98 ** 7 - 1) * 100, 10);
    expect(results[0]!.max_drawdown_pct).toBeCloseTo((1 - 0.99 ** 7) * 100, 10);
    expect(
      stressResults(day.subarray(7, 107), { ...run, equity: run.equity.subarray(7, 107) }, run.returns),
    ).toEqual([]);
  });

  it('windows are whole, ascending days with one sentence', () => {
    for (const { start, end, text } of STRESS_WINDOWS) {
      expect(Date.parse(start)).toBeLessThanOrEqual(Date.parse(end));
      expect(text).toMatch(/^[A-Z][^.]*\.?[^.]*\.$/);
    }
  });
});

describe('bootstrap', () => {
  const returns = noise(500, 8, 0.001, 0.01);

  it('is the same for the same seed and another for another', () => {
    expect(bootstrap(returns, 5)).toEqual(bootstrap(returns, 5));
    expect(bootstrap(returns, 5)).not.toEqual(bootstrap(returns, 6));
  });

  it('of independent returns has the interval of their sum', () => {
    const { cagr_pct: cagr, samples, mean_block_days } = bootstrap(returns, 1);
    expect({ samples, mean_block_days }).toEqual({ samples: 500, mean_block_days: 8 });
    const logs = returns.map((each) => Math.log1p(each));
    const total = logs.reduce((sum, each) => sum + each, 0);
    const spread = Math.sqrt(logs.reduce((sum, each) => sum + (each - total / 500) ** 2, 0));
    const at = (z: number) => Math.expm1(((total + z * spread) * 365) / 500) * 100;
    expect(cagr!.median / at(0)).toBeCloseTo(1, 0);
    // 500 paths place a 5 % quantile to about 0.2 standard deviations; blocks of 8 days add to it.
    expect(cagr!.low).toBeGreaterThan(at(-2.1));
    expect(cagr!.low).toBeLessThan(at(-1.2));
    expect(cagr!.high).toBeGreaterThan(at(1.2));
    expect(cagr!.high).toBeLessThan(at(2.1));
  });

  it('of equal returns is one path; of ruin it is finite', () => {
    const { max_drawdown_pct, time_under_water_pct } = bootstrap(new Float64Array(100).fill(0.01), 1);
    expect([max_drawdown_pct, time_under_water_pct]).toEqual([
      { low: 0, median: 0, high: 0 },
      { low: 0, median: 0, high: 0 },
    ]);
    const losing = bootstrap(new Float64Array(100).fill(-0.01), 1);
    expect(losing.time_under_water_pct).toEqual({ low: 100, median: 100, high: 100 });
    const ruined = new Float64Array(100).fill(-0.5);
    ruined[50] = -1;
    expect(bootstrap(ruined, 1).cagr_pct!.low).toBe(-100);
    // Two days that lose more than the account would have the sign of a gain.
    ruined.fill(-2);
    expect(bootstrap(ruined, 1).cagr_pct).toEqual({ low: -100, median: -100, high: -100 });
  });
});
