import { expect, it } from 'vitest';
import { giveCandles } from '#engine/analysis/candle-checks.ts';
import { CANDLE_COLUMNS, createCandles } from '#engine/candles.ts';

const candles = () => {
  const made = createCandles(5);
  for (const name of CANDLE_COLUMNS) made[name].set([1, 2, 3, 4, 5]);
  return made;
};

it('giveCandles returns copies of the columns, the same ones at each read', () => {
  const original = candles();
  const watched = giveCandles(original);
  for (const name of CANDLE_COLUMNS) {
    const column = watched.candles[name];
    expect(watched.candles[name]).toBe(column);
    expect(column).toEqual(original[name]);
    expect(column.buffer).not.toBe(original[name].buffer);
  }
  expect(Object.keys(watched.candles)).toEqual(Object.keys(original));
  expect({ ...watched.candles }).toEqual(original);
  expect(watched.changed()).toBe(false);
});

it.each(CANDLE_COLUMNS)('giveCandles detects the smallest change of %s', (name) => {
  const watched = giveCandles(candles());
  const column = watched.candles[name];
  expect(watched.changed()).toBe(false);
  column[4] = 5 + 2 ** -50;
  expect(watched.changed()).toBe(true);
  column[4] = 5;
  expect(watched.changed()).toBe(false);
  column.reverse();
  expect(watched.changed()).toBe(true);
});

it('giveCandles of one pair after another detects a change of any column', () => {
  for (let pair = 0; pair < 4; pair++) {
    const watched = giveCandles(candles());
    const columns = CANDLE_COLUMNS.map((name) => watched.candles[name]);
    expect(watched.changed()).toBe(false);
    expect(watched.changed()).toBe(false);
    columns[pair]![0] = 7;
    expect(watched.changed()).toBe(true);
  }
});

it('giveCandles detects a column that was transferred', () => {
  const watched = giveCandles(candles());
  (watched.candles.close.buffer as ArrayBuffer).transfer();
  expect(watched.changed()).toBe(true);
});

it('giveCandles keeps copies of different columns apart', () => {
  const first = giveCandles(candles());
  expect(first.candles.open[0]).toBe(1);
  expect([first.changed(), first.changed()]).toEqual([false, false]);
  const other = { ...candles(), close: Float64Array.of(6, 7, 8, 9, 10) };
  const second = giveCandles(other);
  expect([second.candles.open[0], second.candles.close[0]]).toEqual([1, 6]);
  expect(second.changed()).toBe(false);
});

it('giveCandles rejects replacing a column', () => {
  const { candles: watched } = giveCandles(candles());
  const replace = () => Object.assign(watched, { close: new Float64Array(5) });
  expect(replace).toThrow(TypeError);
  expect(watched.close[0]).toBe(1);
  expect(replace).toThrow(TypeError);
});
