import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { platformFixture } from './platform-fixture.ts';

/** `touchstone data` on series that an import brought. */

const touchstone = platformFixture('touchstone-series-', {}, async () => {});
const folder = mkdtempSync(join(tmpdir(), 'touchstone-series-files-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HOUR = 3_600_000;
const START = Date.UTC(2024, 0, 1);
const file = (hours: number, price: number) => {
  const rows = Array.from({ length: hours }, (_, i) =>
    [START + i * HOUR, price, price + 1, price - 1, price, 1].join(),
  );
  const path = join(folder, 'BTC_USDT_USDT-1h.csv');
  writeFileSync(path, ['timestamp_ms,open,high,low,close,volume', ...rows].join('\n'));
  return path;
};
const json = async (...args: string[]) => {
  const { out, err, code } = await touchstone('data', ...args, '--json');
  expect([err, code]).toEqual(['', 0]);
  return JSON.parse(out);
};

test('data lists, shows, undoes, copies, renames and deletes series without naming their exchange', async () => {
  expect(await touchstone('import', file(48, 100))).toMatchObject({ code: 0 });
  expect(await touchstone('import', file(72, 200))).toMatchObject({ code: 0 });
  expect(await json('list')).toMatchObject({
    items: [{ exchange: 'binanceusdm', symbol: 'BTC/USDT:USDT', timeframe: '1h', count: 72 }],
  });
  const conditions = async () =>
    (await json('show', 'BTC/USDT:USDT')).items[0].days.map((day: { condition: string }) => day.condition);
  expect(await conditions()).toEqual(['revised', 'revised', 'complete']);
  const shown = await touchstone('data', 'show', 'BTC/USDT:USDT');
  expect(shown.out).toContain('2024-01-01 revised');
  expect(shown.out).toContain('can be undone: npx --no-install touchstone data undo BTC/USDT:USDT');
  const undone = await touchstone('data', 'undo', 'BTC/USDT:USDT');
  expect(undone.out).toMatch(
    /^binanceusdm BTC\/USDT:USDT 1h: the import of .* was undone, 48 candles stored\n$/,
  );
  expect(await json('copy', 'BTC/USDT:USDT', '--to-exchange', 'bybit')).toMatchObject({ exchange: 'bybit' });
  const ambiguous = await touchstone('data', 'show', 'BTC/USDT:USDT');
  expect(ambiguous).toMatchObject({ code: 2, err: expect.stringContaining('--exchange binanceusdm') });
  const renamed = await touchstone('data', 'rename', 'BTC/USDT:USDT', 'XBT/USDT:USDT', '--exchange', 'bybit');
  expect(renamed.out).toBe('Renamed to bybit XBT/USDT:USDT: 1h\n');
  expect((await touchstone('data', 'delete', 'XBT/USDT:USDT')).out).toBe('Deleted bybit XBT/USDT:USDT: 1h\n');
  expect((await touchstone('data', 'delete', 'XBT/USDT:USDT')).code).toBe(1);
  expect((await json('list')).items).toHaveLength(1);
});
