import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Digest } from '../../src/contract/values/digest.ts';
import { countSet, firstAbove } from '../../src/engine/analysis/flag-columns.ts';
import { sliceCandles } from '../../src/engine/candles.ts';
import { canonicalJson, digestCandles } from '../../src/engine/digest.ts';
import { MINUTE, walk } from './run/candles.ts';

const sha256: Digest = (data) => createHash('sha256').update(data).digest('hex');

describe('canonicalJson', () => {
  it('canonicalJson sorts keys at every level and omits undefined', () => {
    expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: undefined, A: true, é: -0.5 })).toBe(
      '{"A":true,"b":[1,{"c":"x","d":null}],"é":-0.5}',
    );
  });

  it('canonicalJson rejects values that JSON cannot hold', () => {
    expect(() => canonicalJson({ a: Number.NaN })).toThrow(TypeError);
    expect(() => canonicalJson([() => 1])).toThrow(TypeError);
  });
});

describe('digestCandles', () => {
  it('digestCandles is the digest of the column digests', () => {
    const candles = walk(3, MINUTE);
    const columns = [
      candles.timestamp,
      candles.open,
      candles.high,
      candles.low,
      candles.close,
      candles.volume,
    ];
    const parts = columns.map((column) => sha256(new Uint8Array(column.buffer)));
    expect(digestCandles(candles, sha256)).toBe(sha256(parts.join('\n')));
  });

  it('digestCandles of a view covers only its rows', () => {
    const candles = walk(10, MINUTE);
    const view = sliceCandles(candles, 2, 5);
    const copy = walk(3, MINUTE);
    for (const [name, column] of Object.entries(view)) copy[name as 'open'].set(column);
    expect(digestCandles(view, sha256)).toBe(digestCandles(copy, sha256));
    expect(digestCandles(view, sha256)).not.toBe(digestCandles(sliceCandles(candles, 3, 6), sha256));
  });

  it('digestCandles digests times that two pairs share once', () => {
    const first = walk(10, MINUTE);
    const second = { ...walk(10, MINUTE), timestamp: first.timestamp };
    let calls = 0;
    const counting: Digest = (data) => {
      calls++;
      return sha256(data);
    };
    const expected = digestCandles(first, sha256);
    // Six columns and the digest of their digests.
    expect(digestCandles(first, counting)).toBe(expected);
    expect(calls).toBe(7);
    digestCandles(second, counting);
    expect(calls).toBe(13);
  });
});

/** Column at any offset of a buffer whose other bytes are 255. */
const columns = fc
  .tuple(fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 40 }), fc.nat(9), fc.nat(9))
  .map(([bits, before, after]) => {
    const buffer = new Uint8Array(before + bits.length + after).fill(255);
    buffer.set(bits, before);
    return buffer.subarray(before, before + bits.length);
  });

it('countSet counts rows equal to 1 at any buffer offset', () => {
  fc.assert(
    fc.property(columns, (column) => {
      expect(countSet(column)).toBe(column.filter((bit) => bit === 1).length);
    }),
  );
});

it('firstAbove finds the first row above 1 at any buffer offset', () => {
  const others = fc.array(fc.tuple(fc.nat(39), fc.integer({ min: 2, max: 255 })), { maxLength: 3 });
  fc.assert(
    fc.property(columns, others, (column, added) => {
      for (const [row, value] of added) if (row < column.length) column[row] = value;
      const found = column.findIndex((value) => value > 1);
      expect(firstAbove(column, 1)).toBe(found === -1 ? column.length : found);
    }),
  );
});
