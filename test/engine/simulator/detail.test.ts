import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import { candlesOf, flat, HOUR, type PairScript, pairOf, type Row, settingsOf, summary } from './market.ts';

const HALF = HOUR / 2;

/** Pair whose candles are built from its half-hours. */
function detailed(halves: readonly Row[], script: Omit<PairScript, 'rows'>) {
  const rows = Array.from({ length: halves.length / 2 }, (_, row): Row => {
    const [a, b] = [halves[2 * row]!, halves[2 * row + 1]!];
    return [a[0], Math.max(a[1], b[1]), Math.min(a[2], b[2]), b[3]];
  });
  return pairOf({ ...script, rows, detail: candlesOf(halves, HALF) });
}

function run(pairs: Parameters<typeof simulate>[0], settings: Partial<SimulationSettings> = {}) {
  return simulate(pairs, settingsOf({ detailTimeframeMs: HALF, ...settings }));
}

const flats = (count: number) => Array.from({ length: count }, () => flat(100));

describe('detail candles', () => {
  const targetFirst: Row[] = [...flats(4), [100, 104, 100, 103], [103, 103, 97, 98], flat(98), flat(98)];

  it('detail candles decide what came first inside a candle', () => {
    const settings = { stoploss: -0.02, minimalRoi: { 0: 0.03 } };
    const pair = detailed(targetFirst, { enterLong: [0] });
    expect(summary(run([pair], settings))).toEqual(['A long 1@100 2@103 roi']);
    expect(summary(simulate([pair], settingsOf(settings)))).toEqual(['A long 1@100 2@98 stop_loss']);
  });

  it('detail candles date a trade by its detail candle', () => {
    const pair = detailed(targetFirst, { enterLong: [0] });
    expect(summary(run([pair], { stoploss: -0.02 }))).toEqual(['A long 1@100 2.5@98 stop_loss']);
  });

  it('detail candles take entry and exit signals at the open of the first one', () => {
    const halves: Row[] = [...flats(2), flat(101), flat(102), flat(103), flat(104), flat(105), flat(106)];
    const pair = detailed(halves, { enterLong: [0], exitLong: [1] });
    expect(summary(run([pair]))).toEqual(['A long 1@101 2@103 exit_signal']);
  });

  it('detail candles apply ROI steps at their minute', () => {
    const halves: Row[] = [...flats(4), flat(102), flat(102), flat(102), flat(102)];
    const pair = detailed(halves, { enterLong: [0] });
    expect(summary(run([pair], { minimalRoi: { 90: 0.01 } }))).toEqual(['A long 1@100 2.5@102 roi']);
  });

  it('detail candles keep a pair out after its trade closes, until the next candle', () => {
    const halves: Row[] = [...flats(4), [100, 100, 97, 99], ...Array.from({ length: 5 }, () => flat(99))];
    const pair = detailed(halves, { enterLong: [0, 1, 2] });
    expect(summary(run([pair], { stoploss: -0.02 }))).toEqual([
      'A long 1@100 2@98 stop_loss',
      'A long 3@99 4@99 force_exit',
    ]);
  });

  it('detail candles let a pair enter again whose trade was opened and closed within one of them', () => {
    const halves: Row[] = [...flats(2), [100, 100, 97, 99], flat(99), flat(99), flat(99), flat(99), flat(99)];
    const pair = detailed(halves, { enterLong: [0, 1] });
    expect(summary(run([pair], { stoploss: -0.02 }))).toEqual([
      'A long 1@100 1@98 stop_loss',
      'A long 1.5@99 3@99 force_exit',
    ]);
  });

  it('detail candles let pairs use one slot in turn within a candle', () => {
    const first = detailed([...flats(2), [100, 100, 97, 99], ...flats(5)], { pair: 'A', enterLong: [0] });
    const second = detailed([...flats(2), flat(50), flat(51), ...flats(4)], {
      pair: 'B',
      enterLong: [0],
      startsAt: 0,
    });
    const third = detailed(flats(8), { pair: 'C', enterLong: [0] });
    const { trades, counters } = run([first, second, third], { stoploss: -0.02 });
    // A is stopped in the first half hour. B is processed after it and takes the slot in the same one.
    expect(summary({ trades })).toEqual(['A long 1@100 1@98 stop_loss', 'B long 1@50 3@100 force_exit']);
    // C, once for both halves. A found no slot in the second one, but its signal had entered.
    expect(counters.rejectedSignals).toBe(1);
    // In the other order B waits for the second half hour.
    const turned = run(
      [second, first, third].map((pair, index) => (index === 0 ? { ...pair, signals: {} } : pair)),
      {
        stoploss: -0.02,
      },
    );
    expect(summary(turned)).toEqual(['A long 1@100 1@98 stop_loss', 'C long 1@100 3@100 force_exit']);
  });

  it('detail candles let an entry signal wait for a slot that frees later in its candle', () => {
    const holder = detailed([...flats(4), flat(100), [100, 100, 97, 98], ...flats(4)], {
      pair: 'A',
      enterLong: [0],
    });
    const waiting = detailed([...flats(5), flat(60), flat(60), flat(60), flat(60), flat(60)], {
      pair: 'B',
      enterLong: [1],
    });
    const { trades, counters } = run([holder, waiting], { stoploss: -0.02 });
    expect(summary({ trades })).toEqual(['A long 1@100 2.5@98 stop_loss', 'B long 2.5@60 4@60 force_exit']);
    // It found none in the half hour in which the slot was taken, but entered in the next one.
    expect(counters.rejectedSignals).toBe(0);
  });

  it('detail candles reverse within one detail candle', () => {
    const halves: Row[] = [...flats(4), flat(104), flat(103), flat(102), flat(102)];
    const pair = detailed(halves, { enterLong: [0], exitLong: [1], enterShort: [1] });
    expect(summary(run([pair]))).toEqual([
      'A long 1@100 2@104 exit_signal',
      'A short 2@104 3@102 force_exit',
    ]);
  });

  it('detail candles allow no entry in the last candle', () => {
    expect(run([detailed(flats(6), { enterLong: [1] })]).trades).toEqual([]);
  });

  it('detail candles that fill an entry after the open of the last candle close it at their own open', () => {
    const halves: Row[] = [...flats(4), flat(100), [99, 99, 97, 98]];
    const pair = detailed(halves, { enterLong: [0] });
    const settings = { callbacks: { customEntryPrice: () => 98.5 }, unfilledTimeoutMinutes: 600 };
    expect(summary(run([pair], settings))).toEqual(['A long 1@98.5 2.5@99 force_exit']);
  });

  it('detail candles fall back to the main candle when any of them is missing', () => {
    const pair = detailed(targetFirst, { enterLong: [0] });
    const settings = { stoploss: -0.02, minimalRoi: { 0: 0.03 } };
    const without = (missing: number) => ({
      ...pair,
      detail: candlesOf(targetFirst.slice(0, missing), HALF),
    });
    expect(summary(run([without(5)], settings))).toEqual(['A long 1@100 2@98 stop_loss']);
    expect(summary(run([without(6)], settings))).toEqual(['A long 1@100 2@103 roi']);
    expect(summary(run([{ ...pair, detail: candlesOf([], HALF) }], settings))).toEqual([
      'A long 1@100 2@98 stop_loss',
    ]);
    const later = { ...pair, detail: candlesOf(targetFirst.slice(4), HALF, 4) };
    expect(summary(run([later], settings))).toEqual(['A long 1@100 2@103 roi']);
  });

  it('detail candles of the last candle may end early: it is simulated as far as they reach', () => {
    const halves: Row[] = [...flats(4), flat(100), [100, 100, 97, 98]];
    const pair = detailed(halves, { enterLong: [0] });
    expect(summary(run([pair], { stoploss: -0.02 }))).toEqual(['A long 1@100 2.5@98 stop_loss']);
    const cut = { ...pair, detail: candlesOf(halves.slice(0, 5), HALF) };
    expect(summary(run([cut], { stoploss: -0.02 }))).toEqual(['A long 1@100 2@100 force_exit']);
  });

  it('detail candles of the size of the candles change nothing', () => {
    const pair = detailed(targetFirst, { enterLong: [0] });
    const settings = settingsOf({ stoploss: -0.02, minimalRoi: { 0: 0.03 } });
    expect(simulate([pair], { ...settings, detailTimeframeMs: HOUR })).toEqual(simulate([pair], settings));
  });

  it('detail candles leave the equity curve on the main candles', () => {
    const pair = detailed(targetFirst, { enterLong: [0] });
    const { curve } = run([pair], { stoploss: -0.05 });
    expect(Array.from(curve!.equity)).toEqual([1000, 998, 998]);
  });
});
