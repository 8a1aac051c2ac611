import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isoTime } from '#engine/report/trades.ts';

const MINUTE = 60_000;
/** Limit of a Date, ms. */
const LIMIT = 8.64e15;

it.each([
  [0, '1970-01-01T00:00:00.000Z'],
  [-MINUTE, '1969-12-31T23:59:00.000Z'],
  [Date.UTC(2024, 1, 29, 9, 5), '2024-02-29T09:05:00.000Z'],
  [Date.UTC(2024, 1, 29, 9, 5, 7, 8), '2024-02-29T09:05:07.008Z'],
])('isoTime formats %d', (time, text) => {
  expect(isoTime(time)).toBe(text);
});

it('isoTime equals Date.toISOString for any time in any order', () => {
  const minutes = fc.integer({ min: -LIMIT / MINUTE, max: LIMIT / MINUTE }).map((count) => count * MINUTE);
  const near = fc.integer({ min: 0, max: 4_000 }).map((count) => count * MINUTE);
  const any = fc.integer({ min: -LIMIT, max: LIMIT });
  fc.assert(
    fc.property(fc.array(fc.oneof(minutes, near, any)), (times) => {
      for (const time of times) expect(isoTime(time)).toBe(new Date(time).toISOString());
    }),
  );
});

it('isoTime rejects NaN and times beyond a Date', () => {
  expect(() => isoTime(Number.NaN)).toThrow(RangeError);
  expect(() => isoTime(LIMIT + MINUTE)).toThrow(RangeError);
});
