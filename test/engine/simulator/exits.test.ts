import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import { flat, type PairScript, pairOf, type Row, settingsOf, summary } from './market.ts';

const FIRST: Row = [100, 101, 99, 100];

function run(script: PairScript, settings: Partial<SimulationSettings> = {}) {
  return simulate([pairOf(script)], settingsOf(settings));
}

/** Enters at 100 in candle 1. `rows` are the candles from 2, followed by one at the last close. */
function long(rows: readonly Row[], settings: Partial<SimulationSettings>, script: Partial<PairScript> = {}) {
  const all = [FIRST, FIRST, ...rows, flat(rows.at(-1)![3])];
  return summary(run({ rows: all, enterLong: [0], ...script }, settings));
}

function short(
  rows: readonly Row[],
  settings: Partial<SimulationSettings>,
  script: Partial<PairScript> = {},
) {
  return long(rows, settings, { enterLong: [], enterShort: [0], ...script });
}

describe('exit signals', () => {
  const rows: Row[] = [
    [101, 102, 100, 101],
    [103, 104, 102, 103],
    [98, 99, 97, 98],
  ];

  it('exit signals do nothing while the same row has an entry signal of that side', () => {
    expect(long(rows, {}, { exitLong: [1, 2], enterLong: [0, 1] })).toEqual([
      'A long 1@100 3@103 exit_signal',
    ]);
  });

  it('exit signals do nothing when switched off', () => {
    expect(long(rows, { useExitSignal: false }, { exitLong: [1] })).toEqual(['A long 1@100 5@98 force_exit']);
  });

  it('exit signals of the other side do nothing', () => {
    expect(long(rows, {}, { exitShort: [1] })).toEqual(['A long 1@100 5@98 force_exit']);
  });

  it('exit signals have their tag as the reason', () => {
    expect(long(rows, {}, { exitLong: [1], exitTags: { 1: 'rsi_high', 2: 'later' } })).toEqual([
      'A long 1@100 2@101 rsi_high',
    ]);
  });

  it('exit signals wait for a profit above the offset with exitProfitOnly', () => {
    const script = { exitLong: [1, 2, 3] };
    const only = { exitProfitOnly: true };
    expect(long(rows, { ...only, exitProfitOffset: 0.01 }, script)).toEqual([
      'A long 1@100 3@103 exit_signal',
    ]);
    expect(long(rows, { ...only, exitProfitOffset: 0.009 }, script)).toEqual([
      'A long 1@100 2@101 exit_signal',
    ]);
    expect(long(rows, { ...only, exitProfitOffset: 0.03 }, script)).toEqual(['A long 1@100 5@98 force_exit']);
  });

  it('exit signals close shorts', () => {
    expect(short(rows, {}, { exitShort: [2] })).toEqual(['A short 1@100 3@103 exit_signal']);
  });
});

describe('ROI', () => {
  it('ROI exit is ignored during an entry signal with ignoreRoiIfEntrySignal', () => {
    const rows: Row[] = [
      [100, 104, 100, 104],
      [104, 106, 103, 105],
    ];
    const settings = { minimalRoi: { 0: 0.03 }, ignoreRoiIfEntrySignal: true };
    expect(long(rows, settings, { enterLong: [0, 1] })).toEqual(['A long 1@100 3@103 roi']);
    expect(long(rows, { ...settings, ignoreRoiIfEntrySignal: false }, { enterLong: [0, 1] })).toEqual([
      'A long 1@100 2@103 roi',
    ]);
  });

  it('ROI exit has no step before its first key', () => {
    const rows: Row[] = [
      [100, 120, 100, 102],
      [102, 103, 102, 102.5],
    ];
    expect(long(rows, { minimalRoi: { 120: 0.01 } })).toEqual(['A long 1@100 3@102 roi']);
  });

  it('ROI exit needs more than the ratio', () => {
    const rows: Row[] = [
      [100, 115, 100, 110],
      [110, 115.01, 100, 110],
    ];
    expect(long(rows, { minimalRoi: { 0: 0.15 } })).toEqual(['A long 1@100 3@115 roi']);
  });

  it('ROI exit can close the trade in its entry candle', () => {
    const script = { rows: [FIRST, [100, 104, 100, 101] as const, flat(101)], enterLong: [0] };
    expect(summary(run(script, { minimalRoi: { 0: 0.03 } }))).toEqual(['A long 1@100 1@103 roi']);
  });

  it('ROI exit precedes a trailing stop that the same high lifted', () => {
    const rows: Row[] = [
      [104, 110, 103, 105],
      [105, 106, 99, 100],
    ];
    const settings = { stoploss: -0.05, trailing: {}, minimalRoi: { 0: 0.08 } };
    expect(long(rows, settings)).toEqual(['A long 1@100 2@108 roi']);
    // The high of 107 lifts the stop to 101.65.
    const lifted: Row[] = [
      [101, 107, 100, 106],
      [106, 110, 101, 102],
    ];
    expect(long(lifted, settings)).toEqual(['A long 1@100 2@101.65 trailing_stop_loss']);
  });
});

describe('stop loss', () => {
  it('stop loss of a short is tested against the high and fills at its price', () => {
    expect(
      short(
        [
          [100, 102, 99, 100],
          [101, 103.5, 101, 103],
        ],
        { stoploss: -0.03 },
      ),
    ).toEqual(['A short 1@100 3@103 stop_loss']);
    expect(short([[104, 105, 103.5, 104]], { stoploss: -0.03 })).toEqual(['A short 1@100 2@104 stop_loss']);
  });

  it('run depends on the fill model when a candle opens beyond a stop that it touches, or a stop may move', () => {
    const dependsOnModel = (candle: Row, settings: Partial<SimulationSettings>) =>
      (['freqtrade', 'conservative'] as const).map(
        (fillModel) =>
          run({ rows: [FIRST, FIRST, candle, flat(100)], enterLong: [0] }, { ...settings, fillModel })
            .dependsOnFillModel,
      );
    expect(dependsOnModel([96, 98.5, 95, 98], { stoploss: -0.02 })).toEqual([true, true]);
    // The stop of 98 is below the open, or above the whole candle, which both models fill at the open.
    expect(dependsOnModel([99, 99, 95, 98], { stoploss: -0.02 })).toEqual([false, false]);
    expect(dependsOnModel([96, 97, 95, 96], { stoploss: -0.02 })).toEqual([false, false]);
    expect(dependsOnModel(flat(100), { stoploss: -0.02, trailing: {} })).toEqual([true, true]);
  });
});

describe('trailing stop', () => {
  it('trailing stop never loosens, and keeps its distance with leverage', () => {
    const rows: Row[] = [
      [100, 110, 107, 108],
      [108, 109, 106, 107],
      [107, 107.5, 104, 105],
    ];
    // Leverage 2: distance 2.5 % of 110 = 107.25 is above the low of 107.
    expect(long(rows, { stoploss: -0.05, trailing: {}, leverage: 2 })).toEqual([
      'A long 1@100 2@107.25 trailing_stop_loss',
    ]);
    // 110 - 5 % = 104.5 survives candle 3 and is hit in 4.
    expect(long(rows, { stoploss: -0.05, trailing: {} })).toEqual([
      'A long 1@100 4@104.5 trailing_stop_loss',
    ]);
  });

  it('trailing stop of a short follows the low', () => {
    const rows: Row[] = [
      [100, 100, 90, 92],
      [92, 94.4, 91, 94],
      [94, 95, 93, 94],
    ];
    expect(short(rows, { stoploss: -0.05, trailing: {} })).toEqual([
      'A short 1@100 2@94.5 trailing_stop_loss',
    ]);
    const calm: Row[] = [
      [93, 94, 90, 92],
      [92, 94.4, 91, 94],
      [94, 95, 93, 94],
    ];
    expect(short(calm, { stoploss: -0.05, trailing: {} })).toEqual([
      'A short 1@100 4@94.5 trailing_stop_loss',
    ]);
  });

  it('trailing stop counts fees in the profit that must reach the offset', () => {
    const settings = { trailing: { positive: 0.01, offset: 0.03, only_offset_is_reached: true }, fee: 0.001 };
    // 103 yields 103 * 0.999 / 100.1 - 1 = 2.795 %; 103.3 yields 3.094 %, the stop goes to 102.267.
    const below: Row[] = [
      [102.5, 103, 102.5, 102.8],
      [102, 102, 101, 101.5],
    ];
    expect(long(below, settings)).toEqual(['A long 1@100 4@101.5 force_exit']);
    const above: Row[] = [
      [102.5, 103.3, 102.5, 102.8],
      [102.5, 102.5, 101, 101.5],
    ];
    expect(long(above, settings)).toEqual(['A long 1@100 3@102.267 trailing_stop_loss']);
  });

  it('trailing stop that is hit in the entry candle is priced from the open, not below the low', () => {
    const script = {
      rows: [FIRST, [100, 106, 98, 105], [105, 105, 100, 101], flat(101)] as const,
      enterLong: [0],
    };
    expect(summary(run(script, { stoploss: -0.05, trailing: {} }))).toEqual([
      'A long 1@100 1@98 trailing_stop_loss',
    ]);
  });
});

describe('liquidation', () => {
  // Leverage 5, fee 0: long (100 - 20) / 0.995 = 80.402010, plus 5 % of 19.597990 = 81.381910.
  const settings = { leverage: 5, stoploss: -0.99 };

  it('liquidation closes at the liquidation price when the stop was not reached', () => {
    const { trades } = run({ rows: [FIRST, FIRST, [90, 91, 81, 85], flat(85)], enterLong: [0] }, settings);
    expect(summary({ trades })).toEqual(['A long 1@100 2@81.38191 liquidation']);
    expect(trades[0]).toMatchObject({ initialStopPrice: 80.2, leverage: 5, stake: 100 });
    expect(trades[0]!.liquidationPrice).toBeCloseTo(81.38191, 6);
  });

  it('liquidation counts in a candle that reaches a stop beyond it too', () => {
    expect(long([[90, 91, 80, 85]], settings)).toEqual(['A long 1@100 2@81.38191 liquidation']);
  });

  it('liquidation fills at the open of a candle entirely beyond it', () => {
    expect(long([[81, 81.2, 80.5, 81]], settings)).toEqual(['A long 1@100 2@81 liquidation']);
  });

  it('liquidation applies to a short without leverage', () => {
    // 200 / 1.005 less 5 % of 99.004975 = 194.054726.
    expect(short([[150, 196, 150, 190]], { stoploss: -0.99 })).toEqual([
      'A short 1@100 2@194.054726 liquidation',
    ]);
    expect(long([[50, 51, 1.5, 2]], { stoploss: -0.99 })).toEqual(['A long 1@100 3@2 force_exit']);
  });
});

describe('slippage', () => {
  const settings = { slippage: 0.01, stoploss: -0.05 };

  it('slippage worsens entry, stop and signal exits, and may leave the candle', () => {
    const { trades } = run(
      { rows: [FIRST, flat(100), [97, 97, 94, 95], flat(95)], enterLong: [0] },
      settings,
    );
    // Entry 101, stop 95.95, exit 95.95 * 0.99; 100 / 101 bought.
    expect(summary({ trades })).toEqual(['A long 1@101 2@94.9905 stop_loss']);
    expect(trades[0]!.slippageCost).toBeCloseTo((100 / 101) * (1 + 0.9595), 10);
    expect(long([[102, 103, 101, 102]], settings, { exitLong: [1] })).toEqual([
      'A long 1@101 2@100.98 exit_signal',
    ]);
    expect(short([[102, 103, 101, 102]], settings, { exitShort: [1] })).toEqual([
      'A short 1@99 2@103.02 exit_signal',
    ]);
  });

  it('slippage worsens trailing stops, liquidations and forced exits', () => {
    expect(long([[104, 110, 103, 105]], { ...settings, trailing: {} })).toEqual([
      'A long 1@101 2@103.455 trailing_stop_loss',
    ]);
    expect(long([[100, 101, 99, 100]], settings)).toEqual(['A long 1@101 3@99 force_exit']);
    const liquidated = run(
      { rows: [FIRST, flat(100), [90, 91, 82, 85], flat(85)], enterLong: [0] },
      { slippage: 0.01, leverage: 5, stoploss: -0.99 },
    );
    // Entry 101: (101 - 20.2) / 0.995 = 81.206030, plus 5 % of 19.793970 = 82.195729; less 1 % = 81.373771.
    expect(summary(liquidated)).toEqual(['A long 1@101 2@81.373771 liquidation']);
  });

  it('slippage does not apply to ROI exits, which are limit orders', () => {
    // 101 * 1.03.
    expect(long([[100, 105, 100, 104]], { ...settings, minimalRoi: { 0: 0.03 } })).toEqual([
      'A long 1@101 2@104.03 roi',
    ]);
  });
});
