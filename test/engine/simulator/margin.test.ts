import { describe, expect, it } from 'vitest';
import type { LeverageTier } from '#engine/instrument.ts';
import { liquidationPrice, MarginTiers } from '#engine/simulator/rules/margin.ts';
import { type Direction, LONG, SHORT } from '#engine/simulator/rules/prices.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import type { StrategyCallbacks } from '#engine/strategy.ts';
import {
  candlesOf,
  flat,
  fundingOf,
  HOUR,
  type PairScript,
  pairOf,
  type Row,
  START,
  settingsOf,
  summary,
} from './market.ts';

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

describe.each(['freqtrade', 'conservative'] as const)('losses in the %s model', (fillModel) => {
  const ISOLATED = { maintenanceMarginRate: 0.005, buffer: 0.05 };
  const run = (
    rows: readonly Row[],
    changes: Partial<SimulationSettings>,
    script: Partial<PairScript> = {},
  ) =>
    simulate(
      [pairOf({ rows: [flat(100), flat(100), ...rows], enterLong: [0], ...script })],
      settingsOf({ fillModel, leverage: 10, stoploss: -0.99, liquidation: ISOLATED, ...changes }),
    );

  it('a gap beyond the bankruptcy price costs the collateral, also if the price returns', () => {
    const gaps: Row[] = [
      [80, 81, 79, 80],
      [80, 120, 79, 119],
    ];
    for (const gap of gaps) {
      const { trades, finalBalance } = run([gap, flat(119)], {});
      expect(summary({ trades })).toEqual(['A long 1@100 2@90 liquidation']);
      expect(trades[0]).toMatchObject({ profit: -100, profitRatio: -1 });
      expect(finalBalance).toBe(900);
    }
    const short = run([[120, 121, 80, 81], flat(81)], {}, { enterLong: [], enterShort: [0] });
    expect(summary(short)).toEqual(['A short 1@100 2@110 liquidation']);
    expect(short.finalBalance).toBe(900);
  });

  it('a liquidation nearer than the stop is a liquidation', () => {
    // Liquidation at 90 / 0.995 plus 5 % of the way to 100; the stop is at 90.1.
    expect(summary(run([[100, 100, 90, 92], flat(92)], {}))).toEqual([
      'A long 1@100 2@90.929648 liquidation',
    ]);
    const short = run([[100, 110, 100, 109], flat(109)], {}, { enterLong: [], enterShort: [0] });
    // 110 / 1.005 less 5 % of the way to 100.
    expect(summary(short)).toEqual(['A short 1@100 2@108.9801 liquidation']);
  });

  it('a stop nearer than the liquidation is a stop', () => {
    expect(summary(run([[100, 100, 90, 92], flat(92)], { stoploss: -0.5 }))).toEqual([
      'A long 1@100 2@95 stop_loss',
    ]);
  });

  it('fees, funding and slippage are inside the collateral', () => {
    const funding = fundingOf([{ hour: 2, rate: 0.05, markPrice: 100 }]);
    const gap: Row[] = [flat(100), [80, 81, 79, 80], flat(80)];
    const { trades } = run(gap, { fee: 0.001, slippage: 0.01 }, { funding });
    const [trade] = trades;
    expect(trade!.profit).toBeCloseTo(-100, 8);
    // 1000 less slippage, 50 of funding.
    expect(trade!.funding).toBeCloseTo((-0.05 * 100 * 1000) / 101, 8);
    const { amount, exitPrice, entryPrice, fees } = trade!;
    expect(amount * (exitPrice - entryPrice) - fees + trade!.funding).toBeCloseTo(-100, 8);
  });

  it('a part that is taken out loses at most its part of the collateral', () => {
    const callbacks: StrategyCallbacks = {
      adjustPosition: ({ index }, { stake }) => (index === 2 ? -stake / 2 : null),
    };
    // A gap to 91 is before the bankruptcy at 90: half is sold at 91, but fees of 2 % a side make that 50 of collateral.
    const { trades } = run([[91, 92, 91, 92], flat(92)], { fee: 0.02, callbacks });
    expect(trades[0]!.orders).toHaveLength(3);
    expect(trades[0]!.profit).toBeGreaterThanOrEqual(-100 - 1e-8);
    const sold = trades[0]!.orders![1]!;
    expect(sold.amount * (100 * 1.02 - sold.price * 0.98)).toBeCloseTo(50, 8);
  });

  it('funding that a partial exit books counts against the whole position, and its rest loses less', () => {
    const funding = fundingOf([{ hour: 2, rate: 0.04, markPrice: 100 }]);
    const callbacks: StrategyCallbacks = {
      adjustPosition: ({ index }, { stake }) => (index === 3 ? -stake / 10 : null),
    };
    const { trades } = run([flat(100), flat(100), [50, 51, 49, 50], flat(50)], { callbacks }, { funding });
    // A tenth is sold at 100 and books all of the funding, 0.04 * 1000. Of the stake of the rest, 90, 36 are spent.
    const [, sold, rest] = trades[0]!.orders!;
    expect(sold).toMatchObject({ price: 100, funding: -40 });
    expect(rest!.price).toBeCloseTo(100 - 54 / 9, 8);
    expect(trades[0]).toMatchObject({ exitReason: 'liquidation', profit: -94 });
  });

  it('an addition that waits at a price beyond the bankruptcy price is not filled in a gap', () => {
    const callbacks: StrategyCallbacks = {
      adjustPosition: ({ index }, { stake }) => (index === 2 ? stake : null),
      customEntryPrice: ({ index }, _side, open) => (index === 1 ? open : 85),
    };
    const settings = { callbacks, unfilledTimeoutMinutes: 1_000 };
    const { trades } = run([flat(100), [84, 101, 84, 100], flat(100)], settings);
    expect(summary({ trades })).toEqual(['A long 1@100 3@90 liquidation']);
    expect(trades[0]!.profit).toBe(-100);
  });

  it('a detail candle that opens beyond the bankruptcy price is the candle of the gap', () => {
    const half = HOUR / 2;
    const halves = [flat(100), flat(100), flat(100), flat(100), flat(100), [80, 120, 80, 119], flat(119)];
    const rows: Row[] = [[100, 120, 80, 119], flat(119)];
    const detail = candlesOf(halves as Row[], half);
    const { trades } = run(rows, { detailTimeframeMs: half }, { detail });
    expect(summary({ trades })).toEqual(['A long 1@100 2.5@90 liquidation']);
    expect(trades[0]).toMatchObject({ profit: -100, lowestPrice: 80, highestPrice: 120 });
  });

  it('a bankrupt position asks no callback, and its range of prices includes the candle', () => {
    const asked: number[] = [];
    const callbacks: StrategyCallbacks = {
      adjustPosition: ({ index }) => {
        asked.push(index);
        return null;
      },
      customExit: () => null,
    };
    const { trades } = run([flat(100), [80, 120, 79, 119], flat(119)], { callbacks });
    expect(asked).not.toContain(3);
    expect(trades[0]).toMatchObject({ exitReason: 'liquidation', lowestPrice: 79, highestPrice: 120 });
  });

  it('a position that the end of the data or a delisting closes loses its collateral at most', () => {
    const left = run([[80, 80, 80, 80]], {});
    expect(left.trades[0]).toMatchObject({ profit: -100 });
    const pair = pairOf({ rows: [flat(100), flat(100), flat(100)], enterLong: [0] });
    const later = pairOf({ pair: 'B', rows: Array.from({ length: 6 }, () => flat(100)) });
    const intervals = [{ from: 0, to: Number.MAX_SAFE_INTEGER }];
    const { trades } = simulate(
      [
        {
          ...pair,
          universe: { signals: pair.signals, intervals, delisting: { at: START + 3 * HOUR, haircut: 0.5 } },
        },
        later,
      ],
      settingsOf({ fillModel, leverage: 10, stoploss: -0.99, liquidation: ISOLATED }),
    );
    expect(trades[0]).toMatchObject({ exitReason: 'delisted', profit: -100 });
  });

  it('a long without leverage may lose more than it paid only by its fees', () => {
    const { trades } = run([[1e-9, 1e-9, 1e-9, 1e-9], flat(1e-9)], { leverage: 1, fee: 0.01 });
    expect(trades[0]!.profit).toBeCloseTo(-101, 6);
  });

  it('cross margin loses at most the account', () => {
    const liquidation = { maintenanceMarginRate: 0.005, buffer: 0, marginMode: 'cross' } as const;
    const { trades, finalBalance } = run([[10, 20, 9, 19], flat(19)], {
      stoploss: -10,
      stake: { kind: 'fixed', amount: 900 },
      liquidation,
    });
    expect(trades[0]!.exitReason).toBe('liquidation');
    expect(trades[0]!.profit).toBeCloseTo(-1000, 8);
    expect(finalBalance).toBeCloseTo(0, 8);
  });
});
