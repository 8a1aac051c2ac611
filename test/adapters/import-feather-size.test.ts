import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import {
  CompressionType,
  compressionRegistry,
  type DataType,
  Field,
  Float64,
  makeData,
  Null,
  RecordBatch,
  RecordBatchFileWriter,
  Schema,
  Struct,
} from 'apache-arrow';
import { afterAll, describe, expect, it } from 'vitest';
import { readFeather } from '#adapters/import/formats/feather.ts';

const LAYOUT = ['timestamp', 'open', 'high', 'low', 'close', 'volume'];
const folder = mkdtempSync(join(tmpdir(), 'touchstone-feather-'));
afterAll(() => rmSync(folder, { recursive: true }));

const reading = compressionRegistry.get(CompressionType.ZSTD)!;
compressionRegistry.set(CompressionType.ZSTD, { ...reading, encode: (bytes) => zstdCompressSync(bytes) });

/** File of one batch, whose columns are zeros or nothing. */
function fileOf(rows: number, type: DataType, compressed: boolean): string {
  const fields = LAYOUT.map((name) => new Field(name, type, true));
  const zeros = type instanceof Null ? undefined : new Float64Array(rows);
  const children = LAYOUT.map(() =>
    zeros
      ? makeData({ type: new Float64(), length: rows, nullCount: 0, data: zeros })
      : makeData({ type: new Null(), length: rows }),
  );
  const data = makeData({ type: new Struct(fields), length: rows, nullCount: 0, children });
  const writer = new RecordBatchFileWriter({
    compressionType: compressed ? CompressionType.ZSTD : null,
  });
  writer.write(new RecordBatch(new Schema(fields), data));
  writer.finish();
  const bytes = Buffer.from(writer.toUint8Array(true));
  const magic = Buffer.from('28b52ffd', 'hex');
  // The library writes the compressed length where the format has the other one.
  for (let at = bytes.indexOf(magic); compressed && at >= 0; at = bytes.indexOf(magic, at + 4))
    bytes.writeBigInt64LE(BigInt(8 * rows), at - 8);
  const path = join(folder, `${rows}-${type}.feather`);
  writeFileSync(path, bytes);
  return path;
}

describe('Feather files that are larger than they look', () => {
  it('columns that would take 800 MB are refused before they do', async () => {
    const path = fileOf(2 ** 24 - 1, new Float64(), true);
    const before = process.memoryUsage().rss;
    await expect(readFeather(path, [LAYOUT])).rejects.toThrow(
      'has a batch of more than 190 MB when it is decompressed',
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 2 ** 20);
  });

  it('columns of nothing have no more rows than other files', async () => {
    await expect(readFeather(fileOf(2 ** 27, new Null(), false), [LAYOUT])).rejects.toThrow(
      'holds more than 16,777,216 rows',
    );
  });

  it('columns of zeros within the limit are read', async () => {
    const { columns } = await readFeather(fileOf(2 ** 20, new Float64(), true), [LAYOUT]);
    expect(columns.map(({ length }) => length)).toEqual(LAYOUT.map(() => 2 ** 20));
  });
});
