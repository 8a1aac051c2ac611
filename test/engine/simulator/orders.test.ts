import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import type { StrategyCallbacks } from '#engine/strategy.ts';
import { flat, hourOf, type PairScript, pairOf, type Row, settingsOf, summary } from './market.ts';

function run(script: PairScript, callbacks: StrategyCallbacks, settings: Partial<SimulationSettings> = {}) {
  return simulate([pairOf(script)], settingsOf({ callbacks, unfilledTimeoutMinutes: 150, ...settings }));
}

describe('entry at a custom price', () => {
  const rows: Row[] = [
    flat(100),
    [100, 101, 98, 99],
    [99, 100, 96, 97],
    [97, 99, 95, 98],
    flat(98),
    flat(98),
  ];
  const at = (price: number) => ({ customEntryPrice: () => price });

  it('entry at a custom price fills without slippage in the first candle that touches it', () => {
    const script = { rows, enterLong: [0] };
    expect(summary(run(script, at(98)))).toEqual(['A long 1@98 5@98 force_exit']);
    const { trades } = run(script, at(97), { slippage: 0.01 });
    expect(summary({ trades })).toEqual(['A long 1@97 5@97.02 force_exit']);
    expect(trades[0]).toMatchObject({ amount: 100 / 97, initialStopPrice: 97 * 0.9 });
  });

  it('entry at a custom price beyond the candle is moved into it; the proposed price is a market order', () => {
    const script = { rows, enterLong: [0] };
    expect(summary(run(script, at(105)))).toEqual(['A long 1@101 5@98 force_exit']);
    expect(summary(run({ rows, enterShort: [0] }, at(90)))).toEqual(['A short 1@98 5@98 force_exit']);
    const slipped = run(
      script,
      { customEntryPrice: (_context, _side, proposed) => proposed },
      { slippage: 0.01 },
    );
    expect(slipped.trades[0]!.entryPrice).toBe(101);
  });

  it('entry at a custom price is cancelled at the age limit, and the pair may enter again in that candle', () => {
    // Ordered in candle 1; at candle 4 it is 180 minutes old.
    const waiting = run({ rows, enterLong: [0] }, at(90));
    expect(waiting.trades).toEqual([]);
    expect(waiting.counters.timedOutEntries).toBe(1);
    // At candle 5 it is 240 minutes old, which reaches a limit of 240.
    const equal = run({ rows, enterLong: [0] }, at(90), { unfilledTimeoutMinutes: 240 });
    expect(equal.counters.timedOutEntries).toBe(1);
    const kept = run({ rows, enterLong: [0] }, at(90), { unfilledTimeoutMinutes: 241 });
    expect(kept.counters.timedOutEntries).toBe(0);
    expect(kept.trades).toEqual([]);
    let calls = 0;
    const again = run({ rows, enterLong: [0, 3] }, { customEntryPrice: () => (++calls === 1 ? 90 : 98) });
    expect(summary(again)).toEqual(['A long 4@98 5@98 force_exit']);
  });

  it('entry at a custom price holds a slot and its collateral while it waits but is not an open trade', () => {
    const pairs = [pairOf({ pair: 'A', rows, enterLong: [0] }), pairOf({ pair: 'B', rows, enterLong: [1] })];
    const callbacks: StrategyCallbacks = {
      customEntryPrice: ({ pair }, _side, proposed) => (pair === 'A' ? 90 : proposed),
    };
    const settings = { callbacks, unfilledTimeoutMinutes: 600 };
    const full = simulate(pairs, settingsOf(settings));
    expect(full.trades).toEqual([]);
    expect(full.counters.rejectedSignals).toBe(1);
    expect(Array.from(full.curve!.openTrades)).toEqual([0, 0, 0, 0, 0]);
    const poor = simulate(pairs, settingsOf({ ...settings, maxOpenTrades: 2, startingBalance: 200 }));
    expect(poor.trades).toEqual([]);
    const rich = simulate(pairs, settingsOf({ ...settings, maxOpenTrades: 2 }));
    expect(summary(rich)).toEqual(['B long 2@99 5@98 force_exit']);
    expect(Array.from(rich.curve!.openTrades)).toEqual([0, 1, 1, 1, 0]);
    expect(Array.from(full.curve!.equity)).toEqual([1000, 1000, 1000, 1000, 1000]);
  });

  it('entry at a custom price is on the equity curve from the candle that fills it', () => {
    const { curve } = run({ rows, enterLong: [0] }, at(97));
    expect(Array.from(curve!.openTrades)).toEqual([0, 1, 1, 1, 0]);
    expect(curve!.equity[0]).toBe(1000);
    expect(curve!.equity[2]).toBeCloseTo(1000 + 100 / 97, 10);
  });

  it('entry at a custom price waits 10 minutes by default, and its last candle may try the other side twice', () => {
    const prices: number[] = [];
    const callbacks: StrategyCallbacks = {
      customEntryPrice: () => 90,
      confirmEntry: (_context, side) => prices.push(side === 'long' ? 1 : -1) === 1,
    };
    const settings = settingsOf({ callbacks });
    const { counters, trades } = simulate([pairOf({ rows, enterLong: [0], enterShort: [1] })], settings);
    expect(counters.timedOutEntries).toBe(1);
    expect(trades).toEqual([]);
    // The pair entered the candle with a position and has none: its signal for the other side is tried once more.
    expect(prices).toEqual([1, -1, -1]);
  });

  it('entry at a custom price does not inherit the slippage of the trade before', () => {
    let calls = 0;
    const callbacks: StrategyCallbacks = {
      customEntryPrice: (_context, _side, proposed) => (++calls === 1 ? proposed : 96),
      customExitPrice: (_context, _trade, proposed) => proposed - 0.5,
    };
    const script = { rows, enterLong: [0, 2], exitLong: [1] };
    const { trades } = run(script, callbacks, { slippage: 0.01 });
    expect(summary({ trades })).toEqual([
      'A long 1@101 2@98.5 exit_signal',
      'A long 3@96 5@97.02 force_exit',
    ]);
    expect(trades[1]!.slippageCost).toBeCloseTo((100 / 96) * 0.98, 10);
  });

  it('entry at a custom price can be kept, replaced or cancelled candle by candle', () => {
    const asked: number[] = [];
    const follow = (price: number | null): StrategyCallbacks => ({
      customEntryPrice: () => 90,
      adjustEntryPrice: ({ time }, trade, present) => {
        asked.push(hourOf(time));
        expect(trade).toMatchObject({ pair: 'A', side: 'long', entryPrice: present, stake: 100 });
        return price;
      },
    });
    const replaced = run({ rows, enterLong: [0] }, follow(97));
    expect(asked).toEqual([2]);
    expect(summary(replaced)).toEqual(['A long 1@97 5@98 force_exit']);
    expect(replaced.trades[0]!.amount).toBe(100 / 97);
    expect(replaced.counters).toMatchObject({ replacedEntries: 1, cancelledEntries: 0, timedOutEntries: 0 });
    // The price is used unchanged: above the candle the order waits.
    const above = run({ rows, enterLong: [0] }, follow(105));
    expect(above.trades).toEqual([]);
    expect(above.counters).toMatchObject({ replacedEntries: 1, timedOutEntries: 1 });
    asked.length = 0;
    const kept = run({ rows, enterLong: [0] }, follow(90));
    expect(asked).toEqual([2, 3]);
    expect(kept.counters).toMatchObject({ replacedEntries: 0, timedOutEntries: 1 });
    const cancelled = run({ rows, enterLong: [0] }, follow(null));
    expect(cancelled.counters).toMatchObject({ cancelledEntries: 1, timedOutEntries: 0 });
    expect(cancelled.trades).toEqual([]);
  });

  it('entry at a custom price is confirmed again when replaced and cancelled without confirmation', () => {
    const asked: string[] = [];
    const callbacks: StrategyCallbacks = {
      customEntryPrice: () => {
        asked.push('price');
        return 90;
      },
      confirmEntry: (_context, _side, price) => {
        asked.push(`confirm ${price}`);
        return price < 97;
      },
      adjustEntryPrice: () => 97,
    };
    const { trades, counters } = run({ rows, enterLong: [0] }, callbacks);
    expect(asked).toEqual(['price', 'confirm 90', 'price', 'confirm 97']);
    expect(trades).toEqual([]);
    expect(counters).toMatchObject({ cancelledEntries: 1, replacedEntries: 0 });
  });

  it('entry at a custom price counts the duration of its trade from the order', () => {
    // Ordered in candle 1, filled in candle 2: the step of 120 minutes begins in candle 3.
    const settings = { minimalRoi: { 120: -1 } };
    expect(summary(run({ rows, enterLong: [0] }, at(97), settings))).toEqual(['A long 1@97 3@97 roi']);
  });

  it('entry at a custom price below the open prevents a ROI exit above the close of a red entry candle', () => {
    const dip: Row[] = [flat(100), [100, 101, 94, 95], [95, 100, 94, 99], flat(99)];
    const settings = { minimalRoi: { 0: 0.01 } };
    // Bought at 96, target 96.96 above the close of 95: not in candle 1, but in candle 2.
    expect(summary(run({ rows: dip, enterLong: [0] }, at(96), settings))).toEqual([
      'A long 1@96 2@96.96 roi',
    ]);
    // Bought at 94, target 94.94 below the close.
    expect(summary(run({ rows: dip, enterLong: [0] }, at(94), settings))).toEqual([
      'A long 1@94 1@94.94 roi',
    ]);
  });
});

describe('exit at a custom price', () => {
  const rows: Row[] = [
    flat(100),
    flat(100),
    [100, 102, 99, 101],
    [101, 104, 100, 103],
    [103, 103, 88, 90],
    flat(90),
  ];
  const exit = (price: number) => ({ customExitPrice: () => price });
  const script = { rows, enterLong: [0], exitLong: [1] };

  it('exit at a custom price fills at that price, in this candle or a later one, without slippage', () => {
    expect(summary(run(script, exit(101.5), { slippage: 0.01 }))).toEqual([
      'A long 1@101 2@101.5 exit_signal',
    ]);
    expect(summary(run(script, exit(103.5), { slippage: 0.01 }))).toEqual([
      'A long 1@101 3@103.5 exit_signal',
    ]);
  });

  it('exit at a custom price is limited to the candle; the proposed price is a market order', () => {
    expect(summary(run(script, exit(90)))).toEqual(['A long 1@100 2@99 exit_signal']);
    const short = { rows, enterShort: [0], exitShort: [1] };
    expect(summary(run(short, exit(110)))).toEqual(['A short 1@100 2@102 exit_signal']);
    const market = { customExitPrice: (_c: unknown, _t: unknown, proposed: number) => proposed };
    expect(summary(run(script, market, { slippage: 0.01 }))).toEqual(['A long 1@101 2@99 exit_signal']);
  });

  it('exit at a custom price times out and is counted', () => {
    const { trades, counters } = run(script, exit(110), { stoploss: -0.5 });
    expect(summary({ trades })).toEqual(['A long 1@100 5@90 force_exit']);
    expect(counters.timedOutExits).toBe(1);
  });

  it('exit at a custom price does not prevent a stop while it waits', () => {
    expect(summary(run(script, exit(110)))).toEqual(['A long 1@100 4@90 stop_loss']);
  });

  it('exit at a custom price stays the same order when the signal is repeated at its price', () => {
    const repeated = { ...script, exitLong: [1, 2, 3] };
    expect(summary(run(repeated, exit(110)))).toEqual(['A long 1@100 4@90 stop_loss']);
    const { counters } = run(repeated, exit(110), { stoploss: -0.5, unfilledTimeoutMinutes: 119 });
    expect(counters.timedOutExits).toBe(1);
  });

  it('exit at a custom price is checked in every candle with other callbacks', () => {
    const callbacks: StrategyCallbacks = {
      customExit: ({ index }) => (index === 2 ? 'mine' : null),
      customExitPrice: () => 103.5,
    };
    expect(summary(run({ rows, enterLong: [0] }, callbacks))).toEqual(['A long 1@100 3@103.5 mine']);
  });

  it('exit at a custom price is replaced by the next signal at another price', () => {
    let calls = 0;
    const callbacks = { customExitPrice: () => (++calls === 1 ? 110 : 103) };
    expect(summary(run({ ...script, exitLong: [1, 2] }, callbacks))).toEqual([
      'A long 1@100 3@103 exit_signal',
    ]);
  });
});
