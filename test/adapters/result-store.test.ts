import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { ObjectResultStore } from '#adapters/objects/result-store.ts';
import type { ResultsLocation } from '#contract/backtests/backtest.ts';
import type { ResultFiles } from '#domain/ports.ts';
import { tradeRecord } from '#engine/report/trades.ts';
import { tableOf, trade } from '../engine/metrics/samples.ts';
import { SOME_CURVE } from '../support/jobs.ts';

const folder = mkdtempSync(join(tmpdir(), 'touchstone-results-'));
const objects = new FileObjectStore(folder);
const store = new ObjectResultStore(objects);
const table = tableOf(Array.from({ length: 1_500 }, (_, i) => trade(i / 3, 1)));
const filesOf = (): ResultFiles => ({
  result: '{"total_trades":1500}',
  equity: '{"dates":[]}',
  report: '{"warnings":[]}',
  curve: SOME_CURVE,
  trades: table,
  tradesParquet: Buffer.from('PAR1'),
});
const put = (key: string, json: string) => objects.put(key, zstdCompressSync(json), 'application/zstd');

let location: ResultsLocation;
beforeAll(async () => {
  location = await store.write('bt-1', 1, filesOf());
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('ObjectResultStore', () => {
  test('result store returns the written files, and trades in pages of 1,000', async () => {
    expect(location).toMatchObject({ prefix: 'results/bt-1/1', trade_pages: 2 });
    expect(await store.read(location, 'result')).toEqual({ total_trades: 1500 });
    const pages = [await store.readTrades(location, 1), await store.readTrades(location, 2)];
    expect(pages.map((page) => page.length)).toEqual([1000, 500]);
    expect(pages.flat()).toEqual(Array.from({ length: 1_500 }, (_, row) => tradeRecord(table, row, row + 1)));
  });

  test('result store keeps every trade exactly', async () => {
    const odd = tableOf([
      trade(-1 / 3, 1, { side: 'short', enterTag: 'dip "✓"', liquidationPrice: 123.456789012345 }),
      trade(0.1 + 0.2, 2, { pair: 'ETH/USDT:USDT', exitReason: 'roi', funding: -1e-9, leftOpen: true }),
    ]);
    const stored = await store.write('bt-3', 1, { ...filesOf(), trades: odd });
    expect(await store.readTrades(stored, 1)).toEqual([tradeRecord(odd, 0, 1), tradeRecord(odd, 1, 2)]);
  });

  test('page of trades holds only the strings of its trades', async () => {
    const long = 'x'.repeat(200);
    const many = tableOf(
      Array.from({ length: 3_001 }, (_, i) =>
        trade(i, 1, { exitReason: `${i} ${long}`, enterTag: i % 2 ? `${i} ${long}` : null }),
      ),
    );
    const stored = await store.write('bt-5', 1, { ...filesOf(), trades: many });
    expect(await store.readTrades(stored, 3)).toEqual(
      Array.from({ length: 1_000 }, (_, i) => tradeRecord(many, 2_000 + i, 2_001 + i)),
    );
    const [page, last] = await Promise.all(
      ['0003', '0004'].map((name) => objects.get(`${stored.prefix}/trades/${name}.columns.zst`)),
    );
    expect(zstdDecompressSync(page!.body).length).toBeLessThan(600_000);
    expect(zstdDecompressSync(last!.body).length).toBeLessThan(2_000);
  });

  test('run without trades has no page of trades', async () => {
    const stored = await store.write('bt-4', 1, { ...filesOf(), trades: tableOf([]) });
    expect(stored.trade_pages).toBe(0);
  });

  test('removing a job deletes the results of all attempts and its exports', async () => {
    const stored = await store.write('bt-6', 1, filesOf());
    await store.write('bt-6', 2, filesOf());
    await objects.put('exports/bt-6/a-trades.csv.gz', Buffer.from('x'), 'application/gzip');
    await objects.put('exports/bt-66/b-trades.csv.gz', Buffer.from('x'), 'application/gzip');
    expect(await (await store.tradesFile(stored)).read()).toEqual(Buffer.from('PAR1'));
    expect(await store.readCurve(stored)).toEqual(SOME_CURVE);
    await store.remove('bt-6');
    const keys: string[] = [];
    for (const prefix of ['results/bt-6/', 'exports/'])
      for await (const key of objects.list(prefix)) keys.push(key);
    expect(keys).toEqual(['exports/bt-66/b-trades.csv.gz']);
    await expect((await store.tradesFile(stored)).read()).rejects.toMatchObject({ code: 'DATA005' });
    expect(await store.readCurve(stored)).toBeUndefined();
  });

  test('equal runs have equal bytes and digests', async () => {
    const again = await store.write('bt-1', 2, filesOf());
    expect(again.digest).toBe(location.digest);
    const keys = ['result.json.zst', 'trades/0002.columns.zst'];
    for (const key of keys) {
      const [first, second] = await Promise.all(
        [location, again].map(async ({ prefix }) => (await objects.get(`${prefix}/${key}`))!.body),
      );
      expect(Buffer.compare(first!, second!)).toBe(0);
    }
  });

  test('result files are standard zstd', async () => {
    const { body, contentType } = (await objects.get('results/bt-1/1/report.json.zst'))!;
    expect(contentType).toBe('application/zstd');
    expect(zstdDecompressSync(body).toString()).toBe('{"warnings":[]}');
  });

  test('missing or corrupt results are DATA005', async () => {
    const broken = { ...location, prefix: 'results/bt-2/1' };
    await put('results/bt-2/1/trades/0001.columns.zst', '[]');
    await put('results/bt-2/1/trades/0002.columns.zst', '\u0004\u0000\u0000\u0000{}  ');
    await put('results/bt-2/1/report.json.zst', '{');
    for (const read of [
      () => store.readTrades(location, 3),
      () => store.readTrades(broken, 1),
      () => store.readTrades(broken, 2),
      () => store.read(broken, 'report'),
    ]) {
      await expect(read()).rejects.toMatchObject({ code: 'DATA005' });
    }
  });
});
