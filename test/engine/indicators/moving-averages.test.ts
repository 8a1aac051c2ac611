import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ema, emas } from '#engine/indicators/index.ts';

const columns = fc
  .tuple(fc.nat(5), fc.array(fc.double({ min: 1, max: 1e6, noNaN: true }), { maxLength: 60 }))
  .map(([undefinedRows, values]) =>
    Float64Array.from([...Array<number>(undefinedRows).fill(Number.NaN), ...values]),
  );

it('emas equals ema for each period to the last bit', () => {
  const periods = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 5 });
  fc.assert(
    fc.property(columns, periods, (values, lengths) => {
      expect(emas(values, lengths)).toEqual(lengths.map((period) => ema(values, period)));
    }),
  );
});

it('emas rejects a period below 1', () => {
  expect(() => emas(new Float64Array(3), [2, 0])).toThrow('emas: a period must be an integer from 1, got 0.');
});
