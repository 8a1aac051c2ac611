import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sliceCandles } from '#engine/candles.ts';
import { canonicalJson, type Digest, digestCandles } from '#engine/digest.ts';
import { MINUTE, walk } from './run/candles.ts';

const sha256: Digest = (data) => createHash('sha256').update(data).digest('hex');

describe('canonicalJson', () => {
  it('sorts keys at every level and leaves undefined out', () => {
    expect(canonicalJson({ b: [1, { d: null, c: 'x' }], a: undefined, A: true, é: -0.5 })).toBe(
      '{"A":true,"b":[1,{"c":"x","d":null}],"é":-0.5}',
    );
  });

  it('refuses what JSON cannot hold', () => {
    expect(() => canonicalJson({ a: Number.NaN })).toThrow(TypeError);
    expect(() => canonicalJson([() => 1])).toThrow(TypeError);
  });
});

describe('digestCandles', () => {
  it('is the digest of the digests of the columns', () => {
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

  it('of a view is that of its rows alone', () => {
    const candles = walk(10, MINUTE);
    const view = sliceCandles(candles, 2, 5);
    const copy = walk(3, MINUTE);
    for (const [name, column] of Object.entries(view)) copy[name as 'open'].set(column);
    expect(digestCandles(view, sha256)).toBe(digestCandles(copy, sha256));
    expect(digestCandles(view, sha256)).not.toBe(digestCandles(sliceCandles(candles, 3, 6), sha256));
  });
});
