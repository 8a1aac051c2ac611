import { describe, expect, it } from 'vitest';
import type { Instrument } from '#engine/instrument.ts';
import { MarginTiers } from '#engine/simulator/rules/margin.ts';
import { derivePriceTicks, OrderRules, PriceTicks } from '#engine/simulator/rules/precision.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import { candlesOf, flat, HOUR, pairOf, type Row, START, settingsOf, summary } from './market.ts';

const DAY = 24 * HOUR;
const ANY: Instrument = {
  amountStep: null,
  minAmount: null,
  maxAmount: null,
  minCost: null,
  maxCost: null,
  contractSize: 1,
  priceTick: null,
};

const gridOf = (changes: Partial<Instrument>) =>
  new OrderRules({ ...ANY, ...changes }, new PriceTicks([]), new MarginTiers([], 0));

function run(rows: readonly Row[], changes: Partial<Instrument>, settings: Partial<SimulationSettings> = {}) {
  const pair = { ...pairOf({ rows, enterLong: [0] }), instrument: { ...ANY, ...changes } };
  return simulate([pair], settingsOf(settings));
}

describe('amounts of contracts', () => {
  it('amount is divided into contracts in decimals, then cut to the step', () => {
    const grid = gridOf({ amountStep: 0.01, contractSize: 0.1 });
    // 77.88 at a price of 40: 1.9469999999999998, which freqtrade 2026.9 orders as 19.47 contracts.
    expect(grid.cut(77.88 / 40)).toBe(1.947);
    expect(grid.cut(1.9465)).toBe(1.946);
  });
});

describe('price ticks', () => {
  const at = (ticks: PriceTicks, day: number) => {
    const tick = ticks.at(START + day * DAY);
    return tick && tick.units / tick.scale;
  };

  it('price ticks are derived per month from the most decimals of any price', () => {
    // January, February, March and April of 2024.
    const prices: [number, Row][] = [
      [0, [100, 101.25, 99.5, 100]],
      [30, flat(100)],
      [31, [100, 101, 99, 100]],
      [60, [0.0001, 0.00012, 0.0001, 0.0001]],
      [91, flat(100.5)],
    ];
    const candles = candlesOf(prices.map(([, row]) => row));
    for (const [row, [day]] of prices.entries()) candles.timestamp[row] = START + day * DAY;
    const ticks = derivePriceTicks(candles, 5);
    expect([0, 30, 31, 59, 60, 91].map((day) => at(ticks, day))).toEqual([0.01, 0.01, 0.01, 0.01, 1e-5, 0.1]);
  });

  it("price ticks are the market's tick before any decimals occurred, or null", () => {
    const whole = candlesOf([flat(100), flat(7)]);
    expect(at(derivePriceTicks(whole, 0.5), 0)).toBe(0.5);
    expect(at(derivePriceTicks(whole, null), 0)).toBeNull();
  });

  it('price ticks read prices with 14 digits', () => {
    // 0.1 + 0.2 has 17 digits, of which one counts; 1e9 / 7 has 5 decimals among its first 14 digits.
    expect(at(derivePriceTicks(candlesOf([flat(0.1 + 0.2)]), null), 0)).toBe(0.1);
    expect(at(derivePriceTicks(candlesOf([flat(1e9 / 7)]), null), 0)).toBe(1e-5);
  });
});

describe('amounts and stakes', () => {
  it('amounts and stakes are cut to full steps of contracts', () => {
    expect(gridOf({ amountStep: 0.001 }).cut(1.0189)).toBe(1.018);
    expect(gridOf({ amountStep: 0.001 }).cut(1.018)).toBe(1.018);
    expect(gridOf({ amountStep: 1, contractSize: 0.5 }).cut(2.9)).toBe(2.5);
    expect(gridOf({ amountStep: 1 }).cut(0.99)).toBe(0);
    expect(gridOf({}).cut(1 / 3)).toBe(1 / 3);
  });

  it('amounts and stakes have a minimum cost or amount with a reserve', () => {
    // 20 * 1.05 / 0.95; 0.3 * 100 * 1.05 / 4; in contracts of half a unit: 10 * 0.5 * 1.05 / 0.95.
    expect(gridOf({ minCost: 20 }).minEntry(100, 1)).toBeCloseTo(22.10526315789, 10);
    expect(gridOf({ minAmount: 0.3, minCost: 5 }).minEntry(100, 4)).toBeCloseTo(7.875, 12);
    expect(gridOf({ minCost: 10, contractSize: 0.5 }).minEntry(1, 1)).toBeCloseTo(5.52631578947, 10);
    expect(gridOf({ minCost: 20 }).minOrder(100, 1)).toBe(21);
  });

  it('amounts and stakes are raised to the minimum by up to 30 %, lowered to the maximum, or dropped', () => {
    const grid = gridOf({ minCost: 20, maxCost: 80 });
    expect(grid.allowedEntry(18, 1000, 100, 1)).toBeCloseTo(22.10526315789, 10);
    // 17 * 1.3 = 22.1.
    expect(grid.allowedEntry(17, 1000, 100, 1)).toBe(0);
    expect(grid.allowedEntry(100, 1000, 100, 1)).toBe(80);
    expect(grid.allowedEntry(100, 1000, 100, 4)).toBe(20);
    expect(grid.allowedEntry(100, 50, 100, 1)).toBe(50);
    expect(grid.allowedEntry(50, 22, 100, 1)).toBe(0);
    expect(gridOf({ maxAmount: 0.2 }).allowedEntry(100, 1000, 100, 2)).toBe(10);
  });

  it('amounts and stakes match the order: the stake follows the truncated amount', () => {
    const rows = [flat(33.3), flat(33.3), flat(33.3), flat(33.3)];
    const { trades } = run(rows, { amountStep: 0.01 });
    // 100 / 33.3 = 3.003...; 3 * 33.3 = 99.9.
    expect(trades[0]).toMatchObject({ amount: 3, stake: 99.9 });
    expect(run(rows, { amountStep: 10 }).trades).toEqual([]);
    expect(run(rows, { minCost: 200 }).trades).toEqual([]);
  });

  it('amounts and stakes without limits stay unchanged', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 103.1, 97.3, 99], flat(99)];
    const plain = simulate([pairOf({ rows, enterLong: [0] })], settingsOf({ stoploss: -0.02 }));
    // The stop at 98 is already on the tick of 0.1.
    expect(run(rows, {}, { stoploss: -0.02 }).trades).toEqual(plain.trades);
  });
});

describe('prices on ticks', () => {
  it('prices on ticks round stops towards the price and targets to the nearest', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 101.5, 98.6, 101.2], flat(101.2)];
    expect(summary(run(rows, {}, { stoploss: -0.01234 }))).toEqual(['A long 1@100 2@98.8 stop_loss']);
    expect(summary(run(rows, {}, { minimalRoi: { 0: 0.01234 } }))).toEqual(['A long 1@100 2@101.2 roi']);
  });

  it('prices on ticks are changed by slippage, which models fills at several ticks', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 101.5, 98.6, 101.2], flat(101.2)];
    const { trades } = run(rows, {}, { stoploss: -0.01234, slippage: 0.001 });
    // Entry at 100.1; its stop at 98.864... is raised to 98.9 and filled at 98.9 * 0.999.
    expect(summary({ trades })).toEqual(['A long 1@100.1 2@98.8011 stop_loss']);
  });

  it('prices on ticks may miss a candle with finer prices, and the order waits until its timeout', () => {
    // January has two decimals, February four. The exit at 100.254 is ordered at 100.25, which its candle does not contain.
    const day = 31 * 24 - 2;
    const rows: Row[] = [
      [100, 100.25, 100, 100],
      flat(100.25),
      [100.254, 100.2549, 100.2531, 100.254],
      [100.26, 100.27, 100.2, 100.26],
      flat(100.26),
    ];
    const input = (exitLong: number[]) => ({
      ...pairOf({ rows, enterLong: [0], exitLong, startsAt: day }),
      instrument: ANY,
    });
    const once = simulate([input([1])], settingsOf());
    expect(once.trades[0]).toMatchObject({ exitReason: 'force_exit', exitPrice: 100.26 });
    expect(once.counters.timedOutExits).toBe(1);
    const kept = simulate([input([1])], settingsOf({ unfilledTimeoutMinutes: 61 }));
    expect(kept.trades[0]).toMatchObject({ exitReason: 'exit_signal', exitPrice: 100.25 });
    expect(kept.trades[0]!.closedAt).toBe(START + (day + 3) * HOUR);
  });
});
