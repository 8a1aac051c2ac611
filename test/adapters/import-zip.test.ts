import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { BadFileError } from '#adapters/import/file-rows.ts';
import { csvInZip } from '#adapters/import/formats/zip.ts';
import { FIXTURES, importFixture, T0 } from './import-fixture.ts';
import { type ZipEntry, zipOf } from './zip-fixture.ts';

const fixture = importFixture();
const root = mkdtempSync(join(tmpdir(), 'touchstone-zip-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const FOLDER = 'data/futures/um/monthly/klines/BTCUSDT/1m';
const FILE = `${FOLDER}/BTCUSDT-1m-2025-03.zip`;
const row = (minute: number) =>
  `${T0 + minute * 60_000},1,2,0.5,1.5,10,${T0 + minute * 60_000 + 59_999},15,3,1,2,0\n`;
const CSV = row(0) + row(1);
const csv = (content: string = CSV, more: Partial<ZipEntry> = {}): ZipEntry => ({
  name: 'BTCUSDT-1m-2025-03.csv',
  content,
  ...more,
});

/** Import of one file in the folders of data.binance.vision. */
async function importZip(bytes: Uint8Array) {
  const path = fixture.put(FILE, bytes);
  const [result] = await fixture.load(path);
  return result!.outcome === 'imported' ? result!.rows : `${result!.outcome}: ${result!.reason}`;
}

/** Text in a zip, or the message of the BadFileError. Throws any other error. */
async function contentOf(bytes: Uint8Array): Promise<string> {
  const path = join(root, 'one.zip');
  writeFileSync(path, bytes);
  let text = '';
  try {
    for await (const piece of csvInZip(path)) text += piece.toString('latin1');
  } catch (error) {
    if (!(error instanceof BadFileError)) throw error;
    return `failed: ${error.message}`;
  }
  return text;
}

describe('zip files', () => {
  test('what macOS adds to a zip does not count', async () => {
    const added = [
      { name: '__MACOSX/._BTCUSDT-1m-2025-03.csv', content: 'x' },
      { name: '.DS_Store', content: 'x' },
    ];
    expect(await importZip(zipOf([csv(), ...added]))).toBe(2);
  });

  // Written by make-zips.py there.
  test.each(['deflated.zip', 'stored.zip', 'zip64-piped.zip'])(
    'import reads %s of the zipfile module of Python',
    async (name) => {
      mkdirSync(join(fixture.folder, FOLDER), { recursive: true });
      copyFileSync(join(FIXTURES, name), join(fixture.folder, FILE));
      expect(await fixture.load()).toMatchObject([{ outcome: 'imported', rows: 2 }]);
    },
  );

  test('import reads a zip with 64-bit fields, a folder, and a comment with the signature of an end', async () => {
    const folder = { name: 'BTCUSDT/', content: '', method: 0 };
    expect(await importZip(zipOf([csv()], { zip64: true }))).toBe(2);
    expect(await importZip(zipOf([folder, csv()], { comment: 'PK\u0005\u0006 and more text' }))).toBe(2);
  });

  test.each<[string, Uint8Array, string]>([
    ['empty', zipOf([]), 'holds 0 files: expected one CSV'],
    ['of two files', zipOf([csv(), csv()]), 'holds 2 files: expected one CSV'],
    [
      'of another file',
      zipOf([csv(CSV, { name: '\u001b[2J/run.exe' })]),
      'holds "\\u001b[2J/run.exe": expected one CSV',
    ],
    ['encrypted', zipOf([csv(CSV, { flags: 1 })]), 'is encrypted: decrypt it first'],
    ['with masked headers', zipOf([csv(CSV, { flags: 0x2000 })]), 'is encrypted: decrypt it first'],
    ['of LZMA', zipOf([csv(CSV, { method: 14 })]), 'is compressed with method 14: expected deflate (8)'],
    ['larger than stated', zipOf([csv(CSV, { size: 20 })]), 'its zip data is corrupt'],
    ['smaller than stated', zipOf([csv(CSV, { size: 2_000 })]), 'its zip data is corrupt'],
    ['of 3 GB', zipOf([csv(CSV, { size: 3e9 })]), 'is larger than 2 GiB when decompressed'],
    ['of 8 EB', zipOf([csv(CSV, { size: 2 ** 63 })], { zip64: true }), 'is larger than 2 GiB when'],
    ['with another CRC', zipOf([csv(CSV, { crc: 1 })]), 'its zip data is corrupt'],
    [
      'of very many files',
      zipOf(Array.from({ length: 12_000 }, (_, i) => csv('', { name: `${i}`.padStart(60, '0') }))),
      'holds too many files: expected one CSV',
    ],
    ['that is gzip', readFileSync(join(FIXTURES, 'snappy.parquet')), 'is not a zip file, or is truncated'],
    ['half written', zipOf([csv()]).subarray(0, 150), 'is not a zip file, or is truncated'],
    ['without content', new Uint8Array(), 'is empty'],
    ['of a line without end', zipOf([csv('1'.repeat(200_000))]), 'is not CSV: a line has no end'],
  ])('import rejects a zip %s', async (_, bytes, reason) =>
    expect(await importZip(bytes)).toContain(`failed: ${reason}`),
  );

  test('a name in a zip is never a path', async () => {
    const before = readdirSync(fixture.folder, { recursive: true });
    expect(await importZip(zipOf([csv(CSV, { name: '../../../../BTCUSDT.csv' })]))).toBe(2);
    const after = readdirSync(fixture.folder, { recursive: true }).map(String);
    expect(after.filter((name) => name.endsWith('.csv'))).toEqual(before);
    expect(readdirSync(join(fixture.folder, '..')).filter((name) => name.endsWith('.csv'))).toEqual([]);
  });

  test('a zip bomb ends at the stated size', async () => {
    // 8 MB of rows in 30 KB.
    const path = join(root, 'bomb.zip');
    writeFileSync(path, zipOf([csv(row(0).repeat(100_000), { size: 70_000 })]));
    let bytes = 0;
    const read = async () => {
      for await (const piece of csvInZip(path)) bytes += piece.length;
    };
    await expect(read()).rejects.toThrow('its zip data is corrupt');
    expect(bytes).toBeLessThanOrEqual(70_000);
  });

  test.each([false, true])('every truncated zip is rejected (ZIP64: %s)', async (zip64) => {
    const whole = zipOf([csv()], { zip64 });
    expect(await contentOf(whole)).toBe(CSV);
    for (let length = 1; length < whole.length; length++)
      expect(await contentOf(whole.subarray(0, length)), `${length}`).toMatch(/^failed: /);
  });

  test.each([false, true])(
    'a zip with one wrong byte gives its content or fails (ZIP64: %s)',
    async (zip64) => {
      const whole = zipOf([csv()], { zip64 });
      for (const bits of [0xff, 0x01, 0x80]) {
        for (let at = 0; at < whole.length; at++) {
          const changed = Uint8Array.from(whole);
          changed[at]! ^= bits;
          const content = await contentOf(changed);
          if (!content.startsWith('failed: ')) expect(content, `${at}`).toBe(CSV);
        }
      }
    },
  );
});
