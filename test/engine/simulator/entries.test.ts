import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import { flat, type PairScript, pairOf, type Row, settingsOf, summary } from './market.ts';

const FLAT: readonly Row[] = Array.from({ length: 6 }, () => flat(100));

function run(scripts: readonly PairScript[], settings: Partial<SimulationSettings> = {}) {
  return simulate(scripts.map(pairOf), settingsOf(settings));
}

describe('entry signals', () => {
  it('entry signals act in the next candle, at its open, with their tag', () => {
    const rows: Row[] = [flat(100), flat(101), [102, 104, 101, 103], flat(103)];
    const { trades } = run([{ rows, enterLong: [1], enterTags: { 1: 'breakout' } }]);
    expect(summary({ trades })).toEqual(['A long 2@102 3@103 force_exit']);
    expect(trades[0]).toMatchObject({ enterTag: 'breakout', leftOpen: true, stake: 100, amount: 100 / 102 });
  });

  it('entry signals are ignored with an exit signal of their side or an entry signal of the other side', () => {
    expect(run([{ rows: FLAT, enterShort: [0], exitShort: [0] }]).trades).toEqual([]);
    expect(run([{ rows: FLAT, enterShort: [0], enterLong: [0] }]).trades).toEqual([]);
    expect(summary(run([{ rows: FLAT, enterShort: [0], exitLong: [0] }]))).toEqual([
      'A short 1@100 5@100 force_exit',
    ]);
  });

  it('entry signals of shorts are ignored without canShort', () => {
    const script = { rows: FLAT, enterLong: [2], enterShort: [0, 2], exitShort: [1] };
    expect(summary(run([script], { canShort: false }))).toEqual(['A long 3@100 5@100 force_exit']);
  });

  it('entry signals count only with the value 1', () => {
    const pair = pairOf({ rows: FLAT, enterLong: [0] });
    const enterLong = Uint8Array.from(pair.signals.enterLong!, (value) => value * 2);
    expect(simulate([{ ...pair, signals: { enterLong } }], settingsOf()).trades).toEqual([]);
  });

  it('entry signals do not re-enter in the candle of the exit, only in the next', () => {
    const script = { rows: FLAT, enterLong: [0, 1, 2], exitLong: [1] };
    // Row 1 has both signals: no exit while the entry signal is set. Without row 1's entry, the exit acts in 2 and row 2's entry in 3.
    expect(summary(run([script]))).toEqual(['A long 1@100 5@100 force_exit']);
    expect(summary(run([{ ...script, enterLong: [0, 2] }]))).toEqual([
      'A long 1@100 2@100 exit_signal',
      'A long 3@100 5@100 force_exit',
    ]);
  });
});

describe('reversal', () => {
  it('reversal closes one side and opens the other in the same candle', () => {
    const rows: Row[] = [flat(100), flat(100), flat(100), flat(105), flat(104), flat(104)];
    const script = {
      rows,
      enterLong: [0],
      exitLong: [2],
      enterShort: [2],
      exitShort: [3],
      enterTags: { 2: 'flip' },
    };
    const { trades } = run([script]);
    expect(summary({ trades })).toEqual([
      'A long 1@100 3@105 exit_signal',
      'A short 3@105 4@104 exit_signal',
    ]);
    expect(trades[1]!.enterTag).toBe('flip');
  });

  it('reversal also follows a stop, at the open of the candle', () => {
    const rows: Row[] = [flat(100), flat(100), [99, 99, 85, 88], flat(88)];
    expect(summary(run([{ rows, enterLong: [0], enterShort: [1] }]))).toEqual([
      'A long 1@100 2@90 stop_loss',
      'A short 2@99 3@88 force_exit',
    ]);
  });

  it('reversal does not happen in the last candle', () => {
    const rows: Row[] = [flat(100), flat(100), flat(105)];
    expect(summary(run([{ rows, enterLong: [0], exitLong: [1], enterShort: [1] }]))).toEqual([
      'A long 1@100 2@105 exit_signal',
    ]);
  });
});

describe('slots', () => {
  it('slots go to the first pairs of the whitelist; the others are counted as rejected', () => {
    const scripts = ['C', 'A', 'B'].map((pair) => ({ pair, rows: FLAT, enterLong: [0] }));
    const { trades, counters } = run(scripts, { maxOpenTrades: 2 });
    expect(summary({ trades })).toEqual(['C long 1@100 5@100 force_exit', 'A long 1@100 5@100 force_exit']);
    expect(counters.rejectedSignals).toBe(1);
  });

  it('slots are unlimited at 0, -1 and Infinity', () => {
    const scripts = ['A', 'B', 'C'].map((pair) => ({ pair, rows: FLAT, enterLong: [0] }));
    for (const maxOpenTrades of [0, -1, Number.POSITIVE_INFINITY])
      expect(run(scripts, { maxOpenTrades }).trades).toHaveLength(3);
  });

  it('slots count no signal of a pair that has a trade, of the last candle or without money', () => {
    const { counters } = run([{ rows: FLAT, enterLong: [0, 1, 2, 3, 4, 5] }]);
    expect(counters.rejectedSignals).toBe(0);
    const poor = run([{ rows: FLAT, enterLong: [0] }], { startingBalance: 50 });
    expect(poor.trades).toEqual([]);
    expect(poor.counters.rejectedSignals).toBe(0);
  });
});

describe('stakes', () => {
  const three = ['A', 'B', 'C'].map((pair) => ({ pair, rows: FLAT, enterLong: [0] }));
  const stakes = (settings: Partial<SimulationSettings>) =>
    run(three, { maxOpenTrades: 3, ...settings }).trades.map(({ stake }) => Math.round(stake * 1e6) / 1e6);

  it('stakes are taken in full while 99 % of the balance lasts', () => {
    expect(stakes({ stake: { kind: 'fixed', amount: 330 } })).toEqual([330, 330, 330]);
    expect(stakes({ stake: { kind: 'fixed', amount: 331 } })).toEqual([331, 331]);
    expect(stakes({ stake: { kind: 'fixed', amount: 331 }, tradableBalanceRatio: 1 })).toEqual([
      331, 331, 331,
    ]);
  });

  it('stakes may be smaller for the last one, down to the ratio', () => {
    const settings = { stake: { kind: 'fixed', amount: 400 }, amendLastStakeAmount: true } as const;
    expect(stakes({ ...settings, lastStakeAmountMinRatio: 0.4 })).toEqual([400, 400, 190]);
    expect(stakes(settings)).toEqual([400, 400]);
  });

  it('stakes of an unlimited setting divide the balance and compound', () => {
    expect(stakes({ stake: { kind: 'unlimited' } })).toEqual([330, 330, 330]);
    const rows: Row[] = [flat(100), flat(100), flat(110), flat(110), flat(110)];
    const script = { rows, enterLong: [0, 2], exitLong: [1] };
    const { trades, finalBalance } = run([script], { stake: { kind: 'unlimited' } });
    // 990 gains 10 %: the next stake is 1099 * 0.99 = 1088.01.
    expect(trades.map(({ stake, profit }) => [Math.round(stake * 1e6) / 1e6, profit])).toEqual([
      [990, 99],
      [1088.01, 0],
    ]);
    expect(finalBalance).toBe(1099);
  });

  it('stakes buy leverage times their worth', () => {
    const { trades } = run([{ rows: FLAT, enterLong: [0] }], { leverage: 4 });
    expect(trades[0]).toMatchObject({ stake: 100, amount: 4, leverage: 4 });
  });

  it('stakes pay both fees', () => {
    const rows: Row[] = [flat(100), flat(100), flat(110)];
    const { trades, finalBalance } = run([{ rows, enterLong: [0] }], { fee: 0.001 });
    // 1 bought for 100.1, sold for 109.89.
    expect(trades[0]!.profit).toBe(9.79);
    expect(trades[0]!.profitRatio).toBeCloseTo(9.79 / 100.1, 15);
    expect(trades[0]!.fees).toBeCloseTo(0.21, 10);
    expect(finalBalance).toBe(1009.79);
  });
});

describe('contradictory input', () => {
  const script = { rows: FLAT, enterLong: [0] };

  it.each([
    ['an unlimited stake without a limit of trades', { stake: { kind: 'unlimited' }, maxOpenTrades: 0 }],
    ['a stake of 0', { stake: { kind: 'fixed', amount: 0 } }],
    ['a detail timeframe that does not divide', { detailTimeframeMs: 7 }],
    ['a detail timeframe that is longer', { detailTimeframeMs: 2 * 3_600_000 }],
  ] as [string, Partial<SimulationSettings>][])('simulate rejects %s', (_name, settings) => {
    expect(() => run([script], settings)).toThrow(RangeError);
  });

  it('simulate rejects candles with gaps, off the grid or given twice, and signals of another length', () => {
    const pair = pairOf(script);
    const withGaps = {
      ...pair.candles,
      timestamp: pair.candles.timestamp.map((time, row) => time + (row > 2 ? 3_600_000 : 0)),
    };
    const skewed = { ...pair.candles, timestamp: pair.candles.timestamp.map((time) => time + 60_000) };
    const settings = settingsOf();
    expect(() => simulate([{ ...pair, candles: withGaps }], settings)).toThrow('Candles of A have gaps');
    expect(() => simulate([pair, { ...pair, pair: 'B', candles: skewed }], settings)).toThrow('off the grid');
    expect(() => simulate([pair, pair], settings)).toThrow('given twice');
    const signals = { enterLong: new Uint8Array(3) };
    expect(() => simulate([{ ...pair, signals }], settings)).toThrow('not as long as its candles');
  });
});
