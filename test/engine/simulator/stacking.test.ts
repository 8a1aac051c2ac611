import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import { candlesOf, flat, hourOf, pairOf, type Row, settingsOf, summary } from './market.ts';
import { pair, settings } from './random-pairs.ts';

const MINUTES_30 = 1_800_000;
const rows = [100, 100, 101, 102, 103, 104, 105].map(flat);

const run = (script: Partial<Parameters<typeof pairOf>[0]>, changes: Partial<SimulationSettings> = {}) =>
  simulate(
    [pairOf({ rows, ...script })],
    settingsOf({ positionStacking: true, maxOpenTrades: 3, ...changes }),
  );

describe('stacking', () => {
  it('each signal opens a trade as long as slots are free', () => {
    const { trades, counters, curve } = run({ enterLong: [0, 1, 2, 3] });
    expect(summary({ trades })).toEqual([
      'A long 1@100 6@105 force_exit',
      'A long 2@101 6@105 force_exit',
      'A long 3@102 6@105 force_exit',
    ]);
    expect(counters.rejectedSignals).toBe(1);
    expect([...curve!.openTrades]).toEqual([1, 2, 3, 3, 3, 0]);
  });

  it('trades of a pair end each for their own reason', () => {
    const falling: Row[] = [100, 100, 110, 105, 98, 98].map(flat);
    const { trades } = run({ rows: falling, enterLong: [0, 1] }, { stoploss: -0.05 });
    expect(summary({ trades })).toEqual(['A long 2@110 4@98 stop_loss', 'A long 1@100 5@98 force_exit']);
  });

  it('long and short may be open together, and a closed trade is not reversed', () => {
    const { trades } = run({ enterLong: [0], enterShort: [2], exitLong: [3] });
    expect(summary({ trades })).toEqual(['A long 1@100 4@103 exit_signal', 'A short 3@102 6@105 force_exit']);
    const both = { enterLong: [0], enterShort: [2], exitLong: [2] };
    expect(run(both, { maxOpenTrades: 1 }).trades).toHaveLength(1);
    expect(run(both, { maxOpenTrades: 1, positionStacking: false }).trades).toHaveLength(2);
  });

  it('a pair comes in the order of its first trade also when a later one ends', () => {
    // The short of A ends in candle 5 and leaves its slot to B, because A has the oldest trade.
    const first = pairOf({ pair: 'A', rows, enterLong: [0], enterShort: [2], exitShort: [4] });
    const second = pairOf({ pair: 'B', rows, enterLong: [1, 4] });
    const stacked = settingsOf({ positionStacking: true, maxOpenTrades: 3 });
    const { trades, counters } = simulate([first, second], stacked);
    expect(summary({ trades })).toEqual([
      'A short 3@102 5@104 exit_signal',
      'A long 1@100 6@105 force_exit',
      'B long 2@101 6@105 force_exit',
      'B long 5@104 6@105 force_exit',
    ]);
    expect(counters.rejectedSignals).toBe(0);
  });

  it('a waiting entry and an open trade have their own orders', () => {
    const callbacks = { customEntryPrice: ({ index }: { index: number }) => (index === 1 ? 100 : 50) };
    const { trades, counters } = run(
      { enterLong: [0, 1] },
      { callbacks, unfilledTimeoutMinutes: 120, stoploss: -0.9 },
    );
    expect(summary({ trades })).toEqual(['A long 1@100 6@105 force_exit']);
    expect(counters.timedOutEntries).toBe(1);
  });

  it('detail candles open a trade each, until the signal is too old', () => {
    const detail = candlesOf(
      rows.flatMap((row) => [row, row]),
      MINUTES_30,
    );
    const times = (changes: Partial<SimulationSettings>) =>
      run({ enterLong: [0], detail }, { detailTimeframeMs: MINUTES_30, ...changes }).trades.map(
        ({ openedAt }) => hourOf(openedAt),
      );
    expect(times({})).toEqual([1, 1.5]);
    expect(times({ ignoreEntryAfterCandles: 1 })).toEqual([1]);
  });

  it('loopStart is called in every candle', () => {
    const times: number[] = [];
    const callbacks = { loopStart: ({ time }: { time: number }) => void times.push(hourOf(time)) };
    const { trades } = run({ enterLong: [0, 1] }, { callbacks });
    expect(times).toEqual([1, 2, 3, 4, 5, 6]);
    expect(trades).toEqual(run({ enterLong: [0, 1] }).trades);
  });

  it('a run with one pair and one slot has the same trades as without', () => {
    for (const [input, given] of fc.sample(fc.tuple(pair('A'), settings), { numRuns: 40, seed: 7 })) {
      const once = { ...given, canShort: false, maxOpenTrades: 1 };
      const plain = simulate([input], once);
      const stacked = simulate([input], { ...once, positionStacking: true });
      expect(stacked.trades).toEqual(plain.trades);
      expect(stacked.curve!.equity).toEqual(plain.curve!.equity);
    }
  });
});
