import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { appendChecksum, hasValidChecksum } from '#adapters/parquet/checksum.ts';
import { readColumns } from '#adapters/parquet/other-file.ts';
import { encodeParquet, numberColumn, timestampColumn } from '../support/snappy-parquet.ts';

const times = Float64Array.from({ length: 50 }, (_, i) => 1_700_000_000_000 + i * 60_000);
const values = Float64Array.from(times, (_, i) => Math.sqrt(i));
const plain = encodeParquet([timestampColumn('timestamp', times), numberColumn('value', values)]);
// Copied into a plain array: a Buffer's slice would share its bytes.
const sealed = Uint8Array.from(appendChecksum(plain));

test('file with a checksum remains a readable Parquet file', () => {
  expect(hasValidChecksum(sealed)).toBe(true);
  expect(sealed.length).toBe(plain.length + 12);
  const read: number[][] = [];
  readColumns(sealed, ['timestamp', 'value'], (columns) => read.push(...columns.map((each) => [...each])));
  expect(read).toEqual([[...times], [...values]]);
});

test('checksum detects every changed bit', () => {
  for (let byte = 0; byte < sealed.length; byte++) {
    const changed = sealed.slice();
    changed[byte]! ^= 1 << (byte % 8);
    expect(hasValidChecksum(changed), `byte ${byte}`).toBe(false);
  }
});

test.each<[string, Uint8Array]>([
  ['without its end', sealed.slice(0, -1)],
  ['without its beginning', sealed.slice(1)],
  ['without a piece in the middle', Buffer.concat([sealed.slice(0, 100), sealed.slice(110)])],
  ['with something behind it', Buffer.concat([sealed, Buffer.from('PAR1')])],
  ['twice', Buffer.concat([sealed, sealed])],
  ['of zeros', new Uint8Array(sealed.length)],
  ['that is empty', new Uint8Array()],
  ['that was never sealed', plain],
])('file %s is corrupt', (_, file) => {
  expect(hasValidChecksum(file)).toBe(false);
});

test('checksum of a view ignores the rest of its buffer', () => {
  const buffer = Buffer.concat([Buffer.alloc(7), sealed, Buffer.alloc(9)]);
  expect(hasValidChecksum(buffer.subarray(7, 7 + sealed.length))).toBe(true);
});

test('hasValidChecksum accepts a file of an earlier version with SHA-256', () => {
  const footer =
    plain.length - 8 - new DataView(plain.buffer, plain.byteOffset).getUint32(plain.length - 8, true);
  const digest = createHash('sha256').update(plain).digest();
  const earlier = Buffer.concat([
    plain.subarray(0, footer),
    Buffer.from('TSSHA256'),
    digest,
    plain.subarray(footer),
  ]);
  expect(hasValidChecksum(earlier)).toBe(true);
  earlier[60]! ^= 1;
  expect(hasValidChecksum(earlier)).toBe(false);
});
