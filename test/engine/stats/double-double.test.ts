import { describe, expect, it } from 'vitest';
import { createRandom } from '#engine/random.ts';
import { type DoubleDouble, minus, over, plus, times, ZERO } from '#engine/stats/double-double.ts';
import { sampleOfSums } from '#engine/stats/welch.ts';

/** Double as an integer multiple of 2^-200, the precision of all numbers here. */
function exact(x: number): bigint {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, Math.abs(x));
  const raw = bits.getBigUint64(0);
  const exponent = Number(raw >> 52n);
  const whole = (raw & (2n ** 52n - 1n)) + (exponent > 0 ? 2n ** 52n : 0n);
  const shift = exponent - 1075 + 200;
  const value = shift >= 0 ? whole << BigInt(shift) : whole >> BigInt(-shift);
  return x < 0 ? -value : value;
}

function varianceOf(values: readonly number[]): number {
  const sum = values.reduce((all, x) => all + exact(x), 0n);
  const squares = values.reduce((all, x) => all + exact(x) ** 2n, 0n);
  const n = BigInt(values.length);
  // Scaled by 2^260 to keep the fraction, in two steps because doubles end at 2^1024.
  const scaled = ((squares * n - sum * sum) << 260n) / (n * (n - 1n));
  return Number(scaled >> 400n) / 2 ** 260;
}

const add = (sum: DoubleDouble, x: number) => plus(sum, [x, 0]);
const square = (x: number) => times([x, 0], [x, 0]);

describe('DoubleDouble', () => {
  it.each([
    ['around 100, 1e-4 apart', 100, 2e-4],
    ['around a million, 1e-3 apart', 1e6, 2e-3],
    ['around 0.2, 2 apart', 0.2, 4],
  ])('DoubleDouble sums have the variance of 20,000 profits %s to 11 digits', (_, middle, width) => {
    const random = createRandom(5);
    const values = Array.from({ length: 20_000 }, () => middle + (random() - 0.5) * width);
    const sum = values.reduce(add, ZERO);
    const squares = values.reduce((all, x) => plus(all, square(x)), ZERO);
    const truth = varianceOf(values);
    const { variance } = sampleOfSums(values.length, sum, squares);
    expect(Math.abs(variance / truth - 1)).toBeLessThan(1e-11);
  });

  it('DoubleDouble sums are independent of order and reversible', () => {
    const random = createRandom(6);
    const values = Array.from({ length: 2000 }, (_, n) => (random() - 0.5) * 10 ** (n % 13));
    const kept = [0.1, 0.2, 0.3].reduce(add, ZERO);
    const there = values.reduce(add, kept);
    const back = values.reduceRight((sum, x) => minus(sum, [x, 0]), there);
    expect(back[0]).toBe(kept[0]);
    expect(values.toReversed().reduce(add, kept)[0]).toBe(there[0]);
  });

  it('DoubleDouble multiplies and divides beyond double precision', () => {
    const third = over([1, 0], 3);
    expect(minus(times(third, [3, 0]), [1, 0])[0]).toBeLessThan(1e-31);
    const product = times([1 + 2 ** -30, 0], [1 + 2 ** -30, 0]);
    expect(product).toEqual([1 + 2 ** -29, 2 ** -60]);
  });
});
