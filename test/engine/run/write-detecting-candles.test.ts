import { expect, it } from 'vitest';
import { CANDLE_COLUMNS, createCandles } from '#engine/candles.ts';
import { detectWrites } from '#engine/run/candles.ts';

const candles = () => {
  const made = createCandles(5);
  for (const name of CANDLE_COLUMNS) made[name].set([1, 2, 3, 4, 5]);
  return made;
};

it('detectWrites returns the original columns', () => {
  const original = candles();
  const watched = detectWrites(original);
  for (const name of CANDLE_COLUMNS) {
    expect(watched.candles[name]).toBe(original[name]);
    expect(watched.candles[name]).toBe(original[name]);
  }
  expect(Object.keys(watched.candles)).toEqual(Object.keys(original));
  expect({ ...watched.candles }).toEqual(original);
  expect(watched.changed()).toBe(false);
});

it.each(CANDLE_COLUMNS)('detectWrites detects the smallest change of %s', (name) => {
  const watched = detectWrites(candles());
  const column = watched.candles[name];
  expect(watched.changed()).toBe(false);
  column[4] = 5 + 2 ** -50;
  expect(watched.changed()).toBe(true);
  column[4] = 5;
  expect(watched.changed()).toBe(false);
  column.reverse();
  expect(watched.changed()).toBe(true);
});

it('detectWrites rejects replacing a column', () => {
  const { candles: watched } = detectWrites(candles());
  const replace = () => Object.assign(watched, { close: new Float64Array(5) });
  expect(replace).toThrow(TypeError);
  expect(watched.close[0]).toBe(1);
  expect(replace).toThrow(TypeError);
});
