import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import type { StrategyCallbacks } from '#engine/strategy.ts';
import { flat, fundingOf, type PairScript, pairOf, type Row, settingsOf, summary } from './market.ts';

const FLAT: Row[] = Array.from({ length: 7 }, () => flat(100));

function run(script: PairScript, settings: Partial<SimulationSettings> = {}) {
  return simulate([pairOf(script)], settingsOf(settings));
}

const hourly = (hours: readonly number[], rate = 0.001) =>
  fundingOf(hours.map((hour) => ({ hour, rate, markPrice: 102 })));

describe('funding', () => {
  it('funding is summed from the entry to the exit, both ends included; a long pays a positive rate', () => {
    const script = { rows: FLAT, enterLong: [0], exitLong: [3], funding: hourly([0, 1, 2, 3, 4, 5, 6]) };
    // Entry at hour 1, exit at hour 4: four events of 1 * 102 * 0.001.
    const { trades, finalBalance } = run(script);
    expect(summary({ trades })).toEqual(['A long 1@100 4@100 exit_signal']);
    expect(trades[0]!.funding).toBeCloseTo(-0.408, 12);
    expect(trades[0]!.profit).toBe(-0.408);
    expect(trades[0]!.profitRatio).toBeCloseTo(-0.00408, 15);
    expect(finalBalance).toBe(999.592);
  });

  it('funding is received by a short, and paid at a negative rate', () => {
    const script = { rows: FLAT, enterShort: [0], exitShort: [3] };
    expect(run({ ...script, funding: hourly([2]) }).trades[0]).toMatchObject({
      profit: 0.102,
      profitRatio: expect.closeTo(0.00102, 15),
    });
    expect(run({ ...script, funding: hourly([2], -0.002) }).trades[0]).toMatchObject({ profit: -0.204 });
  });

  it('funding counts events between candles in the candle that follows', () => {
    const script = { rows: FLAT, enterLong: [0], exitLong: [2], funding: hourly([0.9, 1.5, 2.5, 3.5]) };
    expect(run(script).trades[0]!.funding).toBeCloseTo(-0.204, 12);
  });

  it('funding at the time of the entry is in the profit that afterFill gets', () => {
    const profits: number[] = [];
    const afterFill: StrategyCallbacks['afterFill'] = (_context, _trade, _price, profit) => {
      profits.push(profit);
      return null;
    };
    run({ rows: FLAT, enterShort: [0], funding: hourly([1]) }, { callbacks: { afterFill } });
    expect(profits).toEqual([0.00102]);
  });

  it('funding at the time of an adjustment is in the profit that afterFill gets', () => {
    const profitsOf = (stake: number) => {
      const profits: number[] = [];
      run(
        { rows: FLAT, enterShort: [0], funding: hourly([2]) },
        {
          callbacks: {
            adjustPosition: ({ index }) => (index === 2 ? stake : null),
            afterFill: (_context, _trade, _price, profit) => {
              profits.push(profit);
              return null;
            },
          },
        },
      );
      return profits;
    };
    // 0.102 of one unit, and 0.204 of two after the addition, of a stake of 200.
    expect(profitsOf(100)).toEqual([0, 0.00153]);
    // Twice 0.102 of the unit that was held before the exit of a half.
    expect(profitsOf(-50)).toEqual([0, 0.00204]);
  });

  it('funding between two candles is paid when an addition is filled that has waited', () => {
    const rows: Row[] = [flat(100), flat(100), flat(100), [100, 100, 90, 100], flat(100), flat(100)];
    const { trades } = run(
      { rows, enterLong: [0], funding: hourly([2.5]) },
      {
        stoploss: -0.5,
        unfilledTimeoutMinutes: 300,
        callbacks: {
          adjustPosition: ({ index }) => (index === 2 ? 95 : null),
          customEntryPrice: ({ index }, _side, open) => (index === 2 ? 95 : open),
        },
      },
    );
    expect(trades[0]!.orders).toHaveLength(3);
    expect(trades[0]!.funding).toBeCloseTo(-0.102, 12);
  });

  it('funding accrues on the equity curve as it happens', () => {
    const script = { rows: FLAT, enterLong: [0], exitLong: [4], funding: hourly([1, 3]) };
    const { curve } = run(script);
    const expected = [999.898, 999.898, 999.796, 999.796, 999.796, 999.796];
    for (const [row, equity] of expected.entries()) expect(curve!.equity[row]).toBeCloseTo(equity, 10);
    expect(Array.from(curve!.balance)).toEqual([1000, 1000, 1000, 1000, 999.796, 999.796]);
  });

  it('funding belongs to the profit that triggers a ROI exit, and to its price', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 103.2, 100, 103], [103, 103.6, 103, 103.5], flat(103.5)];
    const settings = { minimalRoi: { 0: 0.03 } };
    // 0.51 paid at hour 2: 103.2 yields 2.69 %, 103.6 yields 3.09 %; 3 % needs 103.51.
    const script = { rows, enterLong: [0], funding: hourly([2], 0.005) };
    const { trades } = run(script, settings);
    expect(summary({ trades })).toEqual(['A long 1@100 3@103.51 roi']);
    expect(trades[0]!.profitRatio).toBeCloseTo(0.03, 15);
  });

  it('funding belongs to the profit that reaches a trailing offset', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 103.2, 100, 103], [103, 103, 101, 102], flat(102)];
    const settings = { trailing: { positive: 0.01, offset: 0.03, only_offset_is_reached: true } };
    expect(summary(run({ rows, enterLong: [0] }, settings))).toEqual([
      'A long 1@100 2@102.168 trailing_stop_loss',
    ]);
    expect(summary(run({ rows, enterLong: [0], funding: hourly([2], 0.005) }, settings))).toEqual([
      'A long 1@100 4@102 force_exit',
    ]);
  });

  it('funding stops at the exit and starts at 0 with the next trade', () => {
    const script = { rows: FLAT, enterLong: [0, 3], exitLong: [1], funding: hourly([1, 2, 3, 4, 5, 6]) };
    const { trades } = run(script);
    expect(summary({ trades })).toEqual(['A long 1@100 2@100 exit_signal', 'A long 4@100 6@100 force_exit']);
    expect(trades.map(({ funding }) => Math.round(funding * 1000))).toEqual([-204, -306]);
  });
});
