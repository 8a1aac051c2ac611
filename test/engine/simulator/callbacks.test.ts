import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import type { CallbackContext, StrategyCallbacks, TradeView } from '#engine/strategy.ts';
import { flat, hourOf, type PairScript, pairOf, type Row, settingsOf, summary } from './market.ts';

function run(script: PairScript, callbacks: StrategyCallbacks, settings: Partial<SimulationSettings> = {}) {
  return simulate([pairOf(script)], settingsOf({ callbacks, ...settings }));
}

const FLAT: Row[] = Array.from({ length: 5 }, () => flat(100));
const RISE: Row[] = [flat(100), [100, 102, 99, 101], [101, 106, 101, 105], [105, 108, 104, 107], flat(107)];

describe('entry callbacks', () => {
  it('entry callbacks are called at signals only, in their order, with what is proposed', () => {
    const calls: unknown[] = [];
    const note = (name: string) => (context: CallbackContext, side: string, proposed: number) => {
      calls.push([name, hourOf(context.time), context.index, context.pair, side, proposed]);
      return proposed;
    };
    const callbacks: StrategyCallbacks = {
      leverage: note('leverage'),
      customEntryPrice: note('price'),
      customStake: note('stake'),
      confirmEntry: (context, side, price) => note('confirm')(context, side, price) > 0,
    };
    run({ rows: RISE, enterShort: [1] }, callbacks, { leverage: 2 });
    expect(calls).toEqual([
      ['price', 2, 2, 'A', 'short', 101],
      ['leverage', 2, 2, 'A', 'short', 2],
      ['stake', 2, 2, 'A', 'short', 100],
      ['confirm', 2, 2, 'A', 'short', 101],
    ]);
  });

  it('entry callbacks decide leverage (at least 1), stake (at most what is available) and whether to enter', () => {
    const enter = (callbacks: StrategyCallbacks) => run({ rows: FLAT, enterLong: [0] }, callbacks).trades;
    expect(enter({ leverage: () => 3 })[0]).toMatchObject({ leverage: 3, stake: 100, amount: 3 });
    expect(enter({ leverage: () => 0.2 })[0]).toMatchObject({ leverage: 1 });
    expect(enter({ customStake: () => 250 })[0]).toMatchObject({ stake: 250 });
    expect(enter({ customStake: () => 5000 })[0]).toMatchObject({ stake: 990 });
    expect(enter({ customStake: () => 0 })).toEqual([]);
    expect(enter({ confirmEntry: () => false })).toEqual([]);
    expect(enter({ confirmEntry: () => true })).toHaveLength(1);
  });

  it('entry callbacks get the columns, and copies of the candles', () => {
    const pair = { ...pairOf({ rows: FLAT, enterLong: [0] }), columns: { ema: new Float64Array(5) } };
    const seen: CallbackContext[] = [];
    const callbacks: StrategyCallbacks = {
      confirmEntry: (context) => {
        seen.push(context);
        expect(context.candles).toEqual(pair.candles);
        expect(context.candles.close.buffer).not.toBe(pair.candles.close.buffer);
        expect(context.columns).toBe(pair.columns);
        return true;
      },
    };
    simulate([pair], settingsOf({ callbacks }));
    expect(seen).toHaveLength(1);
  });
});

describe('customStoploss', () => {
  it('customStoploss sees the best price and the profit there, and may only tighten', () => {
    const seen: unknown[] = [];
    const callbacks: StrategyCallbacks = {
      customStoploss: ({ time }, trade, best, profit) => {
        seen.push([hourOf(time), best, profit, Math.round(trade.stopPrice * 100) / 100]);
        return profit > 0.05 ? -0.02 : profit > 0 ? 0.5 : null;
      },
    };
    // 106 * 0.98 = 103.88 is above the low of candle 2: stopped there.
    const { trades } = run({ rows: RISE, enterLong: [0] }, callbacks);
    expect(seen).toEqual([
      [1, 102, 0.02, 90],
      [2, 106, 0.06, 90],
    ]);
    expect(summary({ trades })).toEqual(['A long 1@100 2@103.88 trailing_stop_loss']);
    expect(trades[0]).toMatchObject({ initialStopPrice: 90, stopPrice: 106 * 0.98 });
  });

  it('customStoploss acts in the conservative model when the path reaches the best price', () => {
    const callbacks: StrategyCallbacks = { customStoploss: ({ index }) => (index === 1 ? 0.02 : null) };
    const settings = { fillModel: 'conservative' } as const;
    const exits = (candle: Row) =>
      summary(run({ rows: [flat(100), candle, flat(101), flat(101)], enterLong: [0] }, callbacks, settings));
    // From the high of 102 the stop is at 99.96. Only 100, 102, 99, 101 reaches it, and is worth less than the close.
    expect(exits([100, 102, 99, 101])).toEqual(['A long 1@100 1@99.96 trailing_stop_loss']);
    expect(exits([100, 102, 99.97, 101])).toEqual(['A long 1@100 3@101 force_exit']);
    // The way from 102 to the close of 99.5 passes it on the other path too.
    expect(exits([100, 102, 99, 99.5])).toEqual(['A long 1@100 1@99.96 trailing_stop_loss']);
  });

  it('customStoploss is called again for the other side in the candle of a reversal', () => {
    const sides: string[] = [];
    const callbacks: StrategyCallbacks = {
      customStoploss: ({ index }, { side }) => {
        sides.push(`${side} ${index}`);
        return side === 'short' ? 0.02 : null;
      },
    };
    const rows: Row[] = [flat(100), flat(100), [100, 101, 99.5, 100], flat(100), flat(100)];
    // The short's stop moves to 99.5 * 1.02 = 101.49, out of reach.
    const script = { rows, enterLong: [0], exitLong: [1], enterShort: [1] };
    expect(run(script, callbacks).trades.map(({ stopPrice }) => stopPrice)).toEqual([90, 99.5 * 1.02]);
    expect(sides).toEqual(['long 1', 'long 2', 'short 2', 'short 3', 'short 4']);
  });

  it('customStoploss is not called when the candle has reached the present stop', () => {
    const asked: number[] = [];
    const callbacks: StrategyCallbacks = {
      customStoploss: ({ index }) => {
        asked.push(index);
        return null;
      },
    };
    const rows: Row[] = [flat(100), flat(100), [100, 120, 89, 100], flat(100)];
    expect(summary(run({ rows, enterLong: [0] }, callbacks))).toEqual(['A long 1@100 2@90 stop_loss']);
    expect(asked).toEqual([1]);
  });

  it('customStoploss of 0 leaves the stop', () => {
    expect(summary(run({ rows: RISE, enterLong: [0] }, { customStoploss: () => 0 }))).toEqual([
      'A long 1@100 4@107 force_exit',
    ]);
  });

  it('customStoploss gives the trailing stop its distance', () => {
    // Trailing 10 % of 106 = 95.4 from the settings, 3 % = 102.82 from the callback, alone and with a trailing stop.
    const rows: Row[] = [flat(100), flat(100), [103, 106, 103, 105], [104, 104, 102, 103], flat(103)];
    const callbacks: StrategyCallbacks = { customStoploss: () => 0.03 };
    expect(summary(run({ rows, enterLong: [0] }, callbacks, { trailing: {} }))).toEqual([
      'A long 1@100 3@102.82 trailing_stop_loss',
    ]);
    // A distance wider than the setting also widens the trailing stop: 20 % is not reached.
    const wide: StrategyCallbacks = { customStoploss: () => 0.2 };
    const fall: Row[] = [flat(100), flat(100), [103, 106, 103, 105], [104, 104, 94, 95], flat(95)];
    expect(summary(run({ rows: fall, enterLong: [0] }, wide, { trailing: {} }))).toEqual([
      'A long 1@100 4@95 force_exit',
    ]);
  });

  it('customStoploss in the entry candle is priced from its distance', () => {
    const rows: Row[] = [flat(100), [100, 106, 98, 105], flat(105)];
    const trailing = { positive: 0.01, offset: 0.03, only_offset_is_reached: true };
    // Stop at 106 * 0.97 = 102.82, hit; booked at 100 * 0.97, kept at the low of 98.
    expect(summary(run({ rows, enterLong: [0] }, { customStoploss: () => 0.03 }))).toEqual([
      'A long 1@100 1@98 trailing_stop_loss',
    ]);
    // With a custom stop the offset rule of the entry candle does not apply: 100 * 0.99 instead of 102.
    expect(summary(run({ rows, enterLong: [0] }, { customStoploss: () => 0.03 }, { trailing }))).toEqual([
      'A long 1@100 1@99 trailing_stop_loss',
    ]);
  });
});

describe('customRoi', () => {
  it('customRoi counts where the table has no lower ratio', () => {
    const minutes: number[] = [];
    const callbacks: StrategyCallbacks = {
      customRoi: (_context, _trade, passed) => {
        minutes.push(passed);
        return passed === 120 ? 0.06 : null;
      },
    };
    // Candle 3 opens at 105, below the target of 106, and reaches it.
    expect(summary(run({ rows: RISE, enterLong: [0] }, callbacks))).toEqual(['A long 1@100 3@106 roi']);
    expect(minutes).toEqual([0, 60, 120]);
    expect(summary(run({ rows: RISE, enterLong: [0] }, callbacks, { minimalRoi: { 0: 0.05 } }))).toEqual([
      'A long 1@100 2@105 roi',
    ]);
    expect(
      summary(run({ rows: RISE, enterLong: [0] }, { customRoi: () => 0.2 }, { minimalRoi: { 0: 0.05 } })),
    ).toEqual(['A long 1@100 2@105 roi']);
  });

  it('customRoi that the open already exceeds closes at the open', () => {
    const callbacks: StrategyCallbacks = { customRoi: (_c, _t, passed) => (passed >= 120 ? 0.01 : null) };
    expect(summary(run({ rows: RISE, enterLong: [0] }, callbacks))).toEqual(['A long 1@100 3@105 roi']);
  });
});

describe('customExit', () => {
  it('customExit closes at the open with its reason, cut at 255 characters', () => {
    const callbacks: StrategyCallbacks = {
      customExit: (_context, trade, price, profit) =>
        trade.side === 'long' && price === 105 && profit === 0.05 ? 'x'.repeat(300) : null,
    };
    const { trades } = run({ rows: RISE, enterLong: [0] }, callbacks);
    expect(trades[0]).toMatchObject({ exitPrice: 105, exitReason: 'x'.repeat(255) });
    expect(hourOf(trades[0]!.closedAt)).toBe(3);
  });

  it('customExit is not called at an exit signal or without exit signals, nor bound to profits', () => {
    const callbacks: StrategyCallbacks = { customExit: () => 'mine' };
    const settings = { exitProfitOnly: true, exitProfitOffset: 0.5 };
    expect(summary(run({ rows: FLAT, enterLong: [0] }, callbacks, settings))).toEqual([
      'A long 1@100 1@100 mine',
    ]);
    expect(summary(run({ rows: FLAT, enterLong: [0] }, callbacks, { useExitSignal: false }))).toEqual([
      'A long 1@100 4@100 force_exit',
    ]);
    const late: StrategyCallbacks = { customExit: ({ index }) => (index >= 2 ? 'mine' : null) };
    expect(summary(run({ rows: FLAT, enterLong: [0], exitLong: [1] }, late))).toEqual([
      'A long 1@100 2@100 exit_signal',
    ]);
  });
});

describe('confirmExit', () => {
  it('confirmExit tries the next exit reason after it rejects one', () => {
    const asked: unknown[] = [];
    const callbacks: StrategyCallbacks = {
      confirmExit: (_context, _trade, price, reason) => {
        asked.push([reason, price]);
        return reason === 'roi';
      },
    };
    const rows: Row[] = [flat(100), flat(100), [100, 104, 89, 100], flat(100)];
    const settings = { minimalRoi: { 0: 0.03 } };
    expect(summary(run({ rows, enterLong: [0], exitLong: [1] }, callbacks, settings))).toEqual([
      'A long 1@100 2@103 roi',
    ]);
    expect(asked).toEqual([
      ['exit_signal', 100],
      ['stop_loss', 90],
      ['roi', 103],
    ]);
  });

  it('confirmExit is not called for liquidations and forced exits', () => {
    const callbacks: StrategyCallbacks = { confirmExit: () => false };
    const rows: Row[] = [flat(100), flat(100), [90, 90, 81, 85], flat(85)];
    const settings = { leverage: 5, stoploss: -0.99 };
    expect(run({ rows, enterLong: [0] }, callbacks, settings).trades[0]!.exitReason).toBe('liquidation');
    expect(run({ rows, enterLong: [0] }, callbacks).trades[0]!.exitReason).toBe('force_exit');
  });
});

describe('callback views', () => {
  it('callback views are read-only and show the present trade', () => {
    let view: TradeView | undefined;
    const callbacks: StrategyCallbacks = {
      customExit: (_context, trade) => {
        view = trade;
        expect(trade).toMatchObject({
          pair: 'A',
          side: 'long',
          entryPrice: 100,
          amount: 1,
          stake: 100,
          leverage: 1,
        });
        expect([hourOf(trade.openedAt), trade.enterTag, trade.stopPrice]).toEqual([1, 'dip', 90]);
        return null;
      },
    };
    run({ rows: FLAT, enterLong: [0], enterTags: { 0: 'dip' } }, callbacks);
    expect(() => Object.assign(view!, { amount: 5 })).toThrow(TypeError);
  });
});
