import { describe, expect, it } from 'vitest';
import {
  decimalProduct,
  round8,
  roundDown,
  roundHalfUp,
  roundUp,
  stepOf,
} from '#engine/simulator/rules/decimals.ts';

// Expected values: Python's round(value, 8) and Decimal products of the shortest texts.
describe('rounding to 8 decimals', () => {
  it.each([
    [0.123456785, 0.12345678],
    [-0.123456785, -0.12345678],
    [1 / 512, 0.00195312],
    [3 / 512, 0.00585938],
    [-1 / 512, -0.00195312],
    [1234567.123456785, 1234567.12345678],
    [99999.999999995, 99999.99999999],
    [5e-9, 1e-8],
    [1.5e-8, 1e-8],
    [2.5e-8, 2e-8],
    [0.1 + 0.2, 0.3],
    [-4e-9, 0],
  ])('round8 of %d is %d', (value, rounded) => {
    expect(round8(value)).toBe(rounded);
  });
});

describe('products of decimals', () => {
  it.each([
    [1.0183, 100.36, 1 - 0.001, 102.094391412],
    [0.001, 65432.17, 1 + 0.0005, 65.464886085],
    [1.1, 1.1, 1 + 0.0004, 1.210484],
    [12345.678, 0.00012345, 1 - 0.0004, 1.52346431952036],
    // As many digits as a double has: several integers over 1e14 are the same double. Exact values by Python's decimal.
    [84.0806664666161, 9.5, 1.0055, 803.1595462557336],
    [682082164, 77.7477597584948, 1, 53030360222.22625],
  ])('decimalProduct of %d, %d and %d is %d', (amount, price, factor, product) => {
    expect(decimalProduct(amount, price, factor)).toBe(product);
  });

  it('decimalProduct uses double arithmetic when a factor is a quotient', () => {
    expect(decimalProduct(100 / 3, 1.1, 1)).toBe((100 / 3) * 1.1);
  });
});

describe('steps', () => {
  it.each([
    // Half up by the shortest decimal form, not by the double below it.
    [100.005, 0.01, 100.01, 100, 100.01],
    [1.005, 0.01, 1.01, 1, 1.01],
    [0.285, 0.01, 0.29, 0.28, 0.29],
    [100.0149999, 0.01, 100.01, 100.01, 100.02],
    [101.75, 0.5, 102, 101.5, 102],
    [0.00012345, 1e-7, 0.0001235, 0.0001234, 0.0001235],
    [0.07, 0.01, 0.07, 0.07, 0.07],
    [7, 5, 5, 5, 10],
  ])('%d at a step of %d rounds to nearest %d, down %d and up %d', (value, size, nearest, down, up) => {
    const step = stepOf(size);
    expect(roundHalfUp(value, step)).toBe(nearest);
    expect(roundDown(value, step)).toBe(down);
    expect(roundUp(value, step)).toBe(up);
  });

  it('rounding without a valid step keeps the number', () => {
    for (const size of [null, 0, Number.NaN]) {
      const step = stepOf(size);
      expect([roundHalfUp, roundDown, roundUp].map((round) => round(1 / 3, step))).toEqual([
        1 / 3,
        1 / 3,
        1 / 3,
      ]);
    }
  });
});
