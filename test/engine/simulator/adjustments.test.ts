import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulatedTrade } from '#engine/simulator/trade-table.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import type { StrategyCallbacks, TaggedStake, TradeView } from '#engine/strategy.ts';
import { candlesOf, flat, fundingOf, hourOf, pairOf, type Row, settingsOf, summary } from './market.ts';

// The rules of docs/simulation.md#adjustments are held by the vectors of freqtrade 2026.9 (vectors.test.ts). These are the settings that
// freqtrade does not have, and worked examples of the sums.

const ROWS: readonly Row[] = [100, 100, 100, 80, 120, 90, 90].map(flat);

/** Enters at candle 1; adjusts by the row of the candle. */
function run(
  answers: Readonly<Record<number, number | TaggedStake>>,
  settings: Partial<SimulationSettings> = {},
  callbacks: StrategyCallbacks = {},
  rows = ROWS,
) {
  const adjustPosition: StrategyCallbacks['adjustPosition'] = ({ index }) => answers[index] ?? null;
  return simulate(
    [pairOf({ rows, enterLong: [0] })],
    settingsOf({ stoploss: -0.5, callbacks: { adjustPosition, ...callbacks }, ...settings }),
  );
}

const ordersOf = ({ orders = [] }: SimulatedTrade) =>
  orders.map(({ side, filledAt, amount, price, tag }) => [side, hourOf(filledAt), amount, price, tag]);

describe('an addition', () => {
  it('an addition averages the entry price and enlarges the amount of the exit', () => {
    const { trades, curve, finalBalance } = run({ 3: 80 });
    // One unit at 100 and one at 80; both are sold at 90.
    expect(trades[0]).toMatchObject({ entryPrice: 90, amount: 2, stake: 180, exitPrice: 90, profit: 0 });
    expect(ordersOf(trades[0]!)).toEqual([
      ['entry', 1, 1, 100, null],
      ['entry', 3, 1, 80, null],
      ['exit', 6, 2, 90, 'force_exit'],
    ]);
    // Held at 80: 2 * 80 - 180. Held at 120: 2 * 120 - 180.
    expect([...curve!.equity]).toEqual([1000, 1000, 980, 1060, 1000, 1000]);
    expect([...curve!.openTrades]).toEqual([1, 1, 1, 1, 1, 0]);
    expect(finalBalance).toBe(1000);
  });

  it('an addition at the entry price leaves the stop, to the last digit', () => {
    const rows: Row[] = [flat(90.9), [90.9, 119.7, 90.9, 119.7], flat(119.7)];
    const { trades } = simulate(
      [pairOf({ rows, enterShort: [0] })],
      settingsOf({ stake: { kind: 'fixed', amount: 110 }, callbacks: { adjustPosition: () => 11 } }),
    );
    expect(trades[0]).toMatchObject({
      entryPrice: 90.9,
      exitReason: 'stop_loss',
      stopPrice: 99.99000000000001,
    });
    expect(trades[0]!.orders).toHaveLength(3);
  });

  it('an addition is at most what the wallet has available, and at most as often as maxAdjustments', () => {
    // 99 % of 1000, less the first 100.
    expect(run({ 3: 5_000 }).trades[0]).toMatchObject({ stake: 990 });
    const twice = { 2: 10, 3: 10 };
    expect(run(twice, { maxAdjustments: 1 }).trades[0]).toMatchObject({ stake: 110 });
    expect(run(twice, { maxAdjustments: 0 }).trades[0]!.orders).toBeUndefined();
  });

  it('an addition at the open slips like an entry; the cost is in the trade', () => {
    const { trades } = run({ 3: 80.8 }, { slippage: 0.01 });
    // 101 for the first unit less 100 / 101 of its size, 80.8 for the second; sold at 90 less 0.9.
    const first = 100 / 101;
    expect(trades[0]!.orders![1]!.price).toBeCloseTo(80.8, 12);
    expect(trades[0]!.amount).toBeCloseTo(first + 1, 12);
    expect(trades[0]!.slippageCost).toBeCloseTo(first * 1 + 0.8 + (first + 1) * 0.9, 10);
    expect(trades[0]!.profit).toBeCloseTo((first + 1) * 89.1 - 180.8, 7);
  });

  it('an addition at a limit price waits, times out, and ties up no money until it is filled', () => {
    const at = (price: number, row: number): StrategyCallbacks => ({
      customEntryPrice: ({ index }, _side, open) => (index === row ? price : open),
    });
    const rows = [flat(100), flat(100), [100, 101, 99, 100], [100, 100, 92, 100], flat(100)] as Row[];
    const views: number[] = [];
    const filled = run(
      { 2: 95 },
      { unfilledTimeoutMinutes: 61 },
      { ...at(95, 2), customExit: (_context, trade) => void views.push(trade.stake) as unknown as null },
      rows,
    );
    expect(ordersOf(filled.trades[0]!)[1]).toEqual(['entry', 3, 1, 95, null]);
    expect(views).toEqual([100, 100, 195, 195]);
    const late = run({ 2: 95 }, { unfilledTimeoutMinutes: 60 }, at(95, 2), rows);
    expect(late.trades[0]!.orders).toBeUndefined();
    expect(late.counters.timedOutEntries).toBe(1);
  });
});

describe('a partial exit', () => {
  it('a partial exit books its profit at once and leaves the rest open', () => {
    const { trades, curve } = run({ 4: -50 });
    // Half of the unit is sold at 120, the other half at 90.
    expect(trades[0]).toMatchObject({ amount: 0.5, stake: 50, profit: 5, profitRatio: 0.05 });
    expect(ordersOf(trades[0]!)).toEqual([
      ['entry', 1, 1, 100, null],
      ['exit', 4, 0.5, 120, 'partial_exit'],
      ['exit', 6, 0.5, 90, 'force_exit'],
    ]);
    expect([...curve!.balance]).toEqual([1000, 1000, 1000, 1010, 1010, 1005]);
    expect([...curve!.equity]).toEqual([1000, 1000, 980, 1020, 1005, 1005]);
  });

  it('a partial exit of the whole stake or more closes the trade with its tag, as a trade of two orders', () => {
    for (const stake of [-100, -5_000]) {
      const { trades } = run({ 4: { stake, tag: 'enough' } });
      expect(summary({ trades })).toEqual(['A long 1@100 4@120 enough']);
      expect(trades[0]).not.toHaveProperty('orders');
    }
    expect(summary(run({ 4: -100 }))).toEqual(['A long 1@100 4@120 partial_exit']);
  });

  it('a partial exit at the open slips; at a limit price it does not', () => {
    expect(run({ 4: -50 }, { slippage: 0.01 }).trades[0]!.orders![1]!.price).toBeCloseTo(118.8, 12);
    const rows = [flat(100), flat(100), [100, 104, 99, 100], flat(100), flat(100)] as Row[];
    const limit = { customExitPrice: () => 103 };
    expect(ordersOf(run({ 2: -50 }, { slippage: 0.01 }, limit, rows).trades[0]!)[1]).toMatchObject({
      3: 103,
    });
  });

  it('funding is realized with the part that received it, and counts in the profit once', () => {
    const funding = fundingOf([
      { hour: 2.5, rate: -0.01, markPrice: 100 },
      { hour: 4.5, rate: -0.01, markPrice: 100 },
    ]);
    const adjustPosition: StrategyCallbacks['adjustPosition'] = ({ index }) => (index === 4 ? -50 : null);
    const { trades, finalBalance } = simulate(
      [pairOf({ rows: ROWS, enterLong: [0], funding })],
      settingsOf({ stoploss: -0.5, callbacks: { adjustPosition } }),
    );
    // 1 for a whole unit, 0.5 for half of it.
    expect(trades[0]!.orders!.map((order) => order.funding)).toEqual([0, 1, 0.5]);
    expect(trades[0]).toMatchObject({ funding: 1.5, profit: 6.5 });
    expect(finalBalance).toBe(1006.5);
  });
});

describe('the callbacks of an adjustment', () => {
  it('adjustPosition is called in every candle from the entry on, with open, profit there and limits', () => {
    const calls: unknown[] = [];
    const adjustPosition: StrategyCallbacks['adjustPosition'] = ({ index }, trade, price, profit, limits) => {
      const { minStake, maxStake } = limits;
      calls.push([
        index,
        price,
        profit,
        minStake,
        maxStake,
        trade.entries,
        trade.exits,
        trade.realizedProfit,
      ]);
      return { 3: 80, 4: -90 }[index] ?? null;
    };
    simulate(
      [pairOf({ rows: ROWS, enterLong: [0] })],
      settingsOf({ stoploss: -0.5, callbacks: { adjustPosition } }),
    );
    expect(calls).toEqual([
      [1, 100, 0, 0, 890, 1, 0, 0],
      [2, 100, 0, 0, 890, 1, 0, 0],
      [3, 80, -0.2, 0, 890, 1, 0, 0],
      [4, 120, 0.33333333, 0, 810, 2, 0, 0],
      // One of two units was sold at 120: 30 above the average.
      [5, 90, 0, 0, 929.7, 2, 1, 30],
      [6, 90, 0, 0, 929.7, 2, 1, 30],
    ]);
  });

  it('adjustPosition acts in every detail candle', () => {
    const rows = [flat(100), flat(100), flat(100)];
    const detail = candlesOf([100, 100, 100, 90, 100, 100].map(flat), 1_800_000);
    const seen: number[] = [];
    const adjustPosition: StrategyCallbacks['adjustPosition'] = ({ time }, _trade, price) => {
      seen.push(hourOf(time));
      return price === 90 ? 90 : null;
    };
    const { trades } = simulate(
      [pairOf({ rows, enterLong: [0], detail })],
      settingsOf({ stoploss: -0.5, detailTimeframeMs: 1_800_000, callbacks: { adjustPosition } }),
    );
    expect(seen).toEqual([1, 1.5, 2, 2.5]);
    expect(trades[0]!.orders![1]).toMatchObject({ price: 90, amount: 1, filledAt: detail.timestamp[3] });
  });

  it.each([
    // One unit at 100, and 100 / 94 at 94: the average.
    ['is filled', 94, 200 / (1 + 100 / 94)],
    ['waits', 90, 100],
  ])('a replaced addition that %s proposes the stop once more', (_what, price, from) => {
    const rows: Row[] = [flat(100), flat(100), flat(96), flat(96), [96, 96, 93, 93], flat(96)];
    const { trades } = run(
      { 2: 100 },
      { stoploss: -0.1, unfilledTimeoutMinutes: 600 },
      {
        customEntryPrice: ({ index }, _side, open) => (index === 2 ? 91 : open),
        customStoploss: ({ index }) => (index === 3 ? 0.02 : null),
        adjustEntryPrice: ({ index }, _trade, present) => (index === 4 ? price : present),
      },
      rows,
    );
    expect(trades[0]!.stopPrice).toBeCloseTo(from * 0.98, 10);
  });

  it('afterFill may widen the stop after the fill of an order; customStoploss may not', () => {
    const prices: number[] = [];
    const stops: number[] = [];
    const { trades } = run(
      { 3: 80 },
      { stoploss: -0.3 },
      {
        afterFill: (_context, _trade, price) => {
          prices.push(price);
          return price === 80 ? 0.5 : null;
        },
        customExit: (_context, trade: TradeView) => void stops.push(trade.stopPrice) as unknown as null,
      },
    );
    expect(prices).toEqual([100, 80]);
    // 80 * 0.5, then the recalculation proposes that distance from the average price: 90 * 0.5.
    expect(stops).toEqual([70, 70, 45, 45, 45, 45]);
    expect(trades[0]).toMatchObject({ initialStopPrice: 70, stopPrice: 45 });
  });

  it.each([
    ['"much"', 'much'],
    ['NaN', Number.NaN],
    ['an object', { stake: 10 }],
    ['a list', [10, 'tag']],
  ])('adjustPosition that returns %s fails with its name, the pair and the candle', (shown, value) => {
    expect(() => run({ 2: value as number })).toThrow(
      `adjustPosition returned ${shown} for A in the candle of 2024-01-01T02:00:00.000Z; it must return a finite number, { stake, tag }, or null.`,
    );
  });

  it('an object of a strategy is read once', () => {
    const answers = [80, Number.NaN];
    const hostile = {
      get stake() {
        return answers.shift() ?? 0;
      },
      tag: 'more',
    };
    expect(ordersOf(run({ 3: hostile }).trades[0]!)[1]).toEqual(['entry', 3, 1, 80, 'more']);
  });

  it('a trade with 1,000 orders cannot be adjusted again', () => {
    const rows = Array.from({ length: 1_003 }, () => flat(100));
    const every = (last: number) => Object.fromEntries(rows.map((_, row) => [row, row < last ? 0.01 : 0]));
    // The entry and 998 additions; the exit is the thousandth order.
    expect(run(every(999), {}, {}, rows).trades[0]!.orders).toHaveLength(1_000);
    expect(() => run(every(1_000), {}, {}, rows)).toThrow(
      /^adjustPosition adjusts the trade of A again in the candle of 2024-\S+Z, but a trade has at most 1000 orders/,
    );
  });

  it.each([5e-324, 1e-300, 1e308, -5e-324, -1e-300, -1e308, -99.99999999999999])(
    'a stake of %d leaves every number finite, and each amount is sold once',
    (stake) => {
      const { trades, finalBalance, curve } = run({ 2: stake, 3: -stake, 4: stake }, { fee: 0.001 });
      const { orders = [], ...trade } = trades[0]!;
      const numbers = [...Object.values(trade), ...orders.flatMap((order) => Object.values(order))];
      expect(numbers.filter((value) => typeof value === 'number' && !Number.isFinite(value))).toEqual([]);
      const held = orders.reduce((sum, { side, amount }) => sum + (side === 'entry' ? amount : -amount), 0);
      expect(held).toBeCloseTo(0, 12);
      expect(curve!.equity.at(-1)).toBeCloseTo(finalBalance, 8);
    },
  );
});

describe('all orders of a run', () => {
  const prices = fc.array(fc.integer({ min: 60, max: 140 }), { minLength: 8, maxLength: 40 });
  const stakes = fc.array(fc.integer({ min: -90, max: 120 }), { minLength: 40, maxLength: 40 });

  it('all orders of a run sum up to the final balance, and each amount is sold once', () => {
    fc.assert(
      fc.property(
        prices,
        stakes,
        fc.constantFrom(0, 0.001),
        fc.boolean(),
        (closes, wanted, fee, conservative) => {
          const rows = closes.map((close, row): Row => {
            const open = closes[row - 1] ?? close;
            return [open, Math.max(open, close) + 1, Math.min(open, close) - 1, close];
          });
          const every = rows.map((_, row) => row);
          const { trades, finalBalance, curve } = simulate(
            [pairOf({ rows, enterLong: every })],
            settingsOf({
              fee,
              leverage: 2,
              fillModel: conservative ? 'conservative' : 'freqtrade',
              minimalRoi: { 0: 0.2 },
              trailing: { positive: 0.05, offset: 0.1 },
              callbacks: { adjustPosition: ({ index }) => (index % 2 === 0 ? wanted[index % 40]! : null) },
            }),
          );
          let cash = 0;
          for (const trade of trades) {
            const orders = trade.orders ?? [
              { side: 'entry', amount: trade.amount, price: trade.entryPrice },
              { side: 'exit', amount: trade.amount, price: trade.exitPrice },
            ];
            let held = 0;
            for (const { side, amount, price } of orders) {
              const sign = side === 'entry' ? 1 : -1;
              held += sign * amount;
              cash -= sign * amount * price * (1 + sign * fee);
            }
            expect(held).toBeCloseTo(0, 9);
          }
          expect(finalBalance - 1000).toBeCloseTo(cash, 5);
          expect(curve!.balance.at(-1)).toBeCloseTo(finalBalance, 7);
          expect(curve!.equity.at(-1)).toBeCloseTo(finalBalance, 7);
        },
      ),
      { numRuns: 200 },
    );
  });
});
