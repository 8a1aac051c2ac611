import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { decodeLz4Frame } from '#adapters/import/formats/lz4-frame.ts';

/** Frames of the reference implementation (fixtures/import/make.py), corrupted by hand. */

const fixture = (name: string) => readFileSync(join(import.meta.dirname, 'fixtures/import', name));
const numbers = Buffer.from(Array.from({ length: 60_000 }, (_, k) => `${k % 1_000},`).join(''));
const noise = Buffer.concat(
  Array.from({ length: 8 }, (_, k) => createHash('sha256').update(Uint8Array.of(k)).digest()),
);
const linked = fixture('linked-checked.lz4');
const stored = fixture('stored.lz4');

test('decoder reads linked blocks with checksums and a content size', () => {
  expect(numbers.length).toBeGreaterThan(3 * 65_536);
  expect(Buffer.from(decodeLz4Frame(linked, numbers.length)).equals(numbers)).toBe(true);
});

test('decoder copies an uncompressed block', () => {
  expect([...decodeLz4Frame(stored, noise.length)]).toEqual([...noise]);
});

test('decoder returns no bytes for an empty frame', () => {
  expect(decodeLz4Frame(Uint8Array.from([4, 34, 77, 24, 0x60, 0x40, 0x82, 0, 0, 0, 0]), 0)).toHaveLength(0);
});

test('decoder rejects a wrong content length', () => {
  for (const length of [0, 1, numbers.length - 1, numbers.length + 1]) {
    expect(() => decodeLz4Frame(linked, length)).toThrow('LZ4 compressed data is corrupt');
  }
});

test('decoder rejects a frame truncated at any byte', () => {
  const needed = linked.length - 4; // The final checksum is not read.
  for (let length = 0; length < needed; length++) {
    expect(() => decodeLz4Frame(linked.subarray(0, length), numbers.length)).toThrow('corrupt');
  }
  for (let length = 0; length < stored.length - 4; length++) {
    expect(() => decodeLz4Frame(stored.subarray(0, length), noise.length)).toThrow('corrupt');
  }
});

/** 7 bytes of frame header, 4 of block size, then `A`: one literal, a match of 4 at the offset, one literal. */
const repeating = (offset: number) =>
  Uint8Array.from([4, 34, 77, 24, 0x60, 0x40, 0x82, 6, 0, 0, 0, 0x10, 65, offset, 0, 0x10, 66, 0, 0, 0, 0]);

test('decoder accepts an overlapping match and rejects one before the start', () => {
  expect(Buffer.from(decodeLz4Frame(repeating(1), 6)).toString()).toBe('AAAAAB');
  for (const offset of [0, 2]) expect(() => decodeLz4Frame(repeating(offset), 6)).toThrow('corrupt');
});

test.each([
  ['another magic number', 0, 5],
  ['another version of the format', 4, 0x20],
])('decoder rejects %s', (_, at, value) => {
  const frame = repeating(1);
  frame[at] = value;
  expect(() => decodeLz4Frame(frame, 6)).toThrow('corrupt');
});

test('decoder rejects a corrupt frame or returns the same number of bytes', () => {
  for (let at = 0; at < linked.length; at += 7) {
    const frame = Uint8Array.from(linked);
    frame[at]! ^= 0x55;
    try {
      expect(decodeLz4Frame(frame, numbers.length)).toHaveLength(numbers.length);
    } catch (error) {
      expect((error as Error).message).toBe('its LZ4 compressed data is corrupt');
    }
  }
});
