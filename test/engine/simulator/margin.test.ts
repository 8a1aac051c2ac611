import { describe, expect, it } from 'vitest';
import type { LeverageTier } from '#engine/instrument.ts';
import { liquidationPrice, MarginTiers } from '#engine/simulator/rules/margin.ts';
import { type Direction, LONG, SHORT } from '#engine/simulator/rules/prices.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import { flat, pairOf, type Row, settingsOf } from './market.ts';

/** Tiers of the kind that Binance publishes: each amount is the one before, plus the step of the rate at the limit. */
const TIERS: readonly LeverageTier[] = [
  { minNotional: 0, maxNotional: 50_000, maxLeverage: 125, maintenanceRate: 0.004, maintenanceAmount: 0 },
  {
    minNotional: 50_000,
    maxNotional: 250_000,
    maxLeverage: 100,
    maintenanceRate: 0.005,
    maintenanceAmount: 50,
  },
  { minNotional: 250_000, maxNotional: 1e6, maxLeverage: 50, maintenanceRate: 0.01, maintenanceAmount: 1300 },
  { minNotional: 1e6, maxNotional: 1e7, maxLeverage: 20, maintenanceRate: 0.025, maintenanceAmount: 16_300 },
];

/** The exchange's maintenance margin of a value, by the tier of that value. */
function required(notional: number): number {
  const tier = TIERS.findLast(({ minNotional }) => notional >= minNotional)!;
  return notional * tier.maintenanceRate - tier.maintenanceAmount;
}

describe('liquidation by tiers', () => {
  const { maintenance } = new MarginTiers(TIERS, 0);

  it.each([
    [1_000, 100],
    [40_000, 10],
    // The tier of the entry differs from that of the liquidation price, below for a long and above for a short.
    [51_000, 20],
    [249_000, 20],
    [1_020_000, 20],
    [5_000_000, 5],
  ])(
    'a position worth %d at leverage %d is liquidated where its margin meets the required one',
    (value, leverage) => {
      const [entry, amount, stake] = [25, value / 25, value / leverage];
      for (const side of [LONG, SHORT] as const) {
        const price = liquidationPrice(entry, stake, amount, maintenance, 0, 0, side, null);
        const equity = stake + side * amount * (price - entry);
        expect(equity / required(amount * price)).toBeCloseTo(1, 9);
        const nearer = price + side * 0.01;
        expect(stake + side * amount * (nearer - entry)).toBeGreaterThan(required(amount * nearer));
      }
    },
  );

  it.each([
    ['isolated', 0, 3683.979, 1456.84, 0.1, 135_365, 1114.78],
    ['isolated', 0, 109.488, 32_481.98, 0.025, 16_300, 18_778.73],
    // The other position of the account takes its maintenance margin and its loss.
    ['cross', 71_200.81144 + 56_354.57, 3683.979, 1456.84, 0.1, 135_365, 1153.26],
    ['cross', 356_512.508 + 448_192.89, 109.488, 32_481.98, 0.025, 16_300, 26_316.89],
  ])(
    'the published examples of Binance hold: %s, less %d, %d at %d',
    (_mode, others, amount, entry, rate, deducted, expected) => {
      const tier = [{ rate, amount: deducted }];
      expect(liquidationPrice(entry, 1_535_443.01 - others, amount, tier, 0, 0, LONG, null).toFixed(2)).toBe(
        expected.toFixed(2),
      );
    },
  );

  it('a price half a tick off the grid is rounded as by freqtrade', () => {
    const price = (entry: number, leverage: number, side: Direction) =>
      liquidationPrice(entry, (3 * entry) / leverage, 3, [{ rate: 0.005, amount: 0 }], 0.05, 0, side, {
        units: 1,
        scale: 100,
      });
    // 31.485000000000003 and 103.15499999999997 before rounding.
    expect(price(59.7, 2, LONG)).toBe(31.49);
    expect(price(87.1, 5, SHORT)).toBe(103.15);
  });

  it('a value has the margin of its tier', () => {
    const margin = new MarginTiers(TIERS, 0);
    for (const value of [1, 49_999, 50_000, 250_000, 999_999, 4e6])
      expect(margin.maintenanceOf(value)).toBeCloseTo(required(value), 9);
    expect(new MarginTiers([], 0.005).maintenanceOf(1000)).toBe(5);
  });

  it('a tier limits leverage and value', () => {
    const margin = new MarginTiers(TIERS, 0);
    expect([400, 401, 2_501, 20_001, 1e9].map((stake) => margin.maxLeverage(stake))).toEqual([
      125, 100, 50, 20, 20,
    ]);
    expect([125, 101, 60, 3].map((leverage) => margin.maxNotional(leverage))).toEqual([
      50_000, 50_000, 250_000, 1e7,
    ]);
    expect(new MarginTiers([], 0).maxLeverage(1e9)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('cross margin', () => {
  const rows: readonly Row[] = [flat(100), flat(100), flat(100), [100, 100, 85, 86], flat(86)];
  const pairs = [pairOf({ rows, enterLong: [0] }), pairOf({ pair: 'B', rows, enterLong: [1] })];
  const run = (marginMode: 'isolated' | 'cross', changes: Partial<SimulationSettings> = {}) =>
    simulate(
      pairs,
      settingsOf({
        leverage: 10,
        stoploss: -10,
        maxOpenTrades: 2,
        stake: { kind: 'fixed', amount: 450 },
        liquidation: { maintenanceMarginRate: 0.005, buffer: 0, marginMode },
        ...changes,
      }),
    );

  it('the whole account is the margin, less what other positions must keep', () => {
    const { trades } = run('cross');
    expect(trades.map(({ exitReason }) => exitReason)).toEqual(['force_exit', 'force_exit']);
    // 1000 - 45 * 100 * 0.005 + 45 * (price - 100) = 45 * price * 0.005
    for (const { liquidationPrice: price } of trades) expect(price).toBeCloseTo(3522.5 / 44.775, 8);
    expect(run('isolated').trades.map(({ exitReason }) => exitReason)).toEqual([
      'liquidation',
      'liquidation',
    ]);
  });

  it('a loss brings the liquidation of the others nearer', () => {
    // A sells at 86 in the last but one candle; the account then has 370 for B.
    const sold = [
      pairOf({ rows: [...rows, flat(86), flat(86)], enterLong: [0], exitLong: [3] }),
      pairOf({ pair: 'B', rows: [...rows, flat(86), [86, 86, 84, 84]], enterLong: [1] }),
    ];
    const { trades } = simulate(
      sold,
      settingsOf({
        leverage: 10,
        stoploss: -10,
        maxOpenTrades: 2,
        stake: { kind: 'fixed', amount: 450 },
        liquidation: { maintenanceMarginRate: 0.005, buffer: 0, marginMode: 'cross' },
      }),
    );
    expect(trades.map(({ pair, exitReason }) => `${pair} ${exitReason}`)).toEqual([
      'A exit_signal',
      'B liquidation',
    ]);
    expect(trades[1]!.liquidationPrice).toBeCloseTo((4500 - 370) / 44.775, 8);
  });

  it('a long without leverage is liquidated where the account has too little for its value', () => {
    const pairs = [
      pairOf({ rows: [100, 100, 100, 50, 50, 50, 50].map(flat), enterLong: [0], exitLong: [2] }),
      pairOf({ pair: 'B', rows: [100, 100, 100, 100, 60, 20, 20].map(flat), enterLong: [0] }),
    ];
    const { trades } = simulate(
      pairs,
      settingsOf({
        stoploss: -10,
        maxOpenTrades: 2,
        stake: { kind: 'fixed', amount: 400 },
        liquidation: { maintenanceMarginRate: 0.005, buffer: 0, marginMode: 'cross' },
        callbacks: { leverage: ({ pair }) => (pair === 'A' ? 4 : 1) },
      }),
    );
    // A loses 800, which leaves 200 for B: 4 units at 100.
    expect(trades.map(({ pair, exitReason }) => `${pair} ${exitReason}`)).toEqual([
      'A exit_signal',
      'B liquidation',
    ]);
    expect(trades[1]!.liquidationPrice).toBeCloseTo((400 - 200) / 4 / 0.995, 8);
  });
});
