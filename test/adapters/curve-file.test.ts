import { zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { decodeCurve, encodeCurve } from '#adapters/objects/curve-file.ts';
import { createRandom } from '#engine/random.ts';
import type { CandleCurve } from '#engine/report/candle-curve.ts';

const ROWS = 20_000;

/** A random walk in steps of up to a promille. */
function walk(wallet: number, seed: number): CandleCurve {
  const random = createRandom(seed);
  let [account, price] = [wallet, wallet];
  const step = () => 1 + (random() - 0.5) / 500;
  const equity = Float64Array.from({ length: ROWS }, () => (account *= step()));
  const market = Float64Array.from({ length: ROWS }, () => (price *= step()));
  return { start: Date.UTC(2024, 0, 1), step: 60_000, wallet, equity, market };
}

const largestError = (a: Float64Array, b: Float64Array) =>
  a.reduce((largest, value, row) => Math.max(largest, Math.abs(value - b[row]!)), 0);

it.each([0.05, 1, 999, 1_000, 123_456, 1e12])(
  'curve of a wallet of %s is stored to a millionth',
  (wallet) => {
    const curve = walk(wallet, 7);
    const read = decodeCurve(encodeCurve(curve));
    expect({ ...read, equity: 0, market: 0 }).toEqual({ ...curve, equity: 0, market: 0 });
    expect(largestError(curve.equity, read.equity)).toBeLessThan(wallet * 0.51e-6);
    expect(largestError(curve.market, read.market)).toBeLessThan(wallet * 0.51e-5);
  },
);

it('stored values are short decimals', () => {
  const { equity } = decodeCurve(encodeCurve(walk(1_000, 3)));
  expect(Math.max(...Array.from(equity, (value) => String(value).length))).toBeLessThanOrEqual(8);
});

it('jumps, losses beyond the wallet and flat intervals are exact to the unit', () => {
  const equity = Float64Array.of(1_000, 1_000, -250.125, 1e6, 1e6, 999.5);
  const market = Float64Array.of(1_000, 1_032.5, 1_000, 1_000, 0.25, 40_000);
  const curve = { start: 0, step: 1, wallet: 1_000, equity, market };
  expect(decodeCurve(encodeCurve(curve))).toEqual(curve);
  // More than two thousand wallets in a candle: a coarser unit.
  const huge = decodeCurve(encodeCurve({ ...curve, equity: equity.map((value) => value * 1e4) }));
  expect(
    largestError(
      huge.equity,
      equity.map((value) => value * 1e4),
    ),
  ).toBeLessThan(10);
});

it('stored curve takes about two bytes per candle', () => {
  expect(zstdCompressSync(encodeCurve(walk(1_000, 1))).length).toBeLessThan(3.5 * ROWS);
});

it('equal curves have equal bytes', () => {
  expect(encodeCurve(walk(1_000, 5)).equals(encodeCurve(walk(1_000, 5)))).toBe(true);
});

it('bytes that are not a curve are rejected', () => {
  const stored = encodeCurve(walk(1_000, 5));
  const changed = (from: string, to: string) =>
    Buffer.from(stored.toString('latin1').replace(from, to), 'latin1');
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from('{}'),
    stored.subarray(0, -2),
    Buffer.concat([stored, Buffer.alloc(2)]),
    changed('"rows":20000', '"rows":-1000'),
    changed('"rows":20000', '"rows":1e999'),
    changed('"step":60000', '"step":"abc"'),
    changed('"bytes":2', '"bytes":0'),
    changed('"wallet":1000', '"wallet":null'),
  ]) {
    expect(() => decodeCurve(bytes)).toThrow();
  }
});

it('value that is not finite is rejected', () => {
  const curve = walk(1_000, 5);
  curve.equity[10] = Number.NaN;
  expect(() => encodeCurve(curve)).toThrow(RangeError);
});
