import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { accessClaims, openIssuerKey, signToken } from '../../src/local/issuer-key.ts';
import { poll } from '../support/poll.ts';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, type OpenPage, SIZES, startDashboard } from './support/dashboard.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2024, 0, 10);
const HEAD = 'timestamp,open,high,low,close,volume';

/** Hourly candles. */
const csv = (rows: number, { head = HEAD, time = (at: number): number | string => at, lost = 0 } = {}) =>
  [
    head,
    ...Array.from({ length: rows }, (_, row) => row)
      .filter((row) => row < 10 || row >= 10 + lost)
      .map((row) => [time(START + row * HOUR), 100, 101, 99, 100.5, 1 + row].join()),
  ].join('\n');

/** Drops files on the page, as the browser does. */
const drop = (page: Page, files: Readonly<Record<string, string>>) =>
  page.evaluate((given) => {
    const dataTransfer = new DataTransfer();
    for (const [name, text] of Object.entries(given)) dataTransfer.items.add(new File([text], name));
    const target = document.querySelector('main h1')!;
    target.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }, files);

/** Imports a file by the API. */
async function importFile(url: string, path: string, text: string): Promise<void> {
  const service = `${url}/services/data-collection`;
  const send = async (to: string, body: object) => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch(`${service}${to}`, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  const created = await send('/api/v1/imports', { files: 1, bytes: text.length });
  const query = new URLSearchParams({ path });
  await fetch(`${service}${created.upload_url}?${query}`, { method: 'PUT', body: text });
  await send(`/api/v1/imports/${created.import_id}/start`, {});
  const read = async () => (await fetch(`${service}/api/v1/imports/${created.import_id}`)).json();
  await poll(read, ({ status }) => status === 'completed');
}

/** Checks what is shown: no findings, and no sideways scroll on a desktop and a phone. */
async function look({ page, findings, isTooWide, changeTheme }: OpenPage): Promise<void> {
  for (const [size, theme] of [
    ['phone', 'light'],
    ['desktop', 'dark'],
  ] as const) {
    const [width, height] = SIZES[size];
    await page.setViewportSize({ width, height });
    await changeTheme(theme);
    expect([size, await findings(), await isTooWide()]).toEqual([size, [], false]);
  }
}

describe.skipIf(!hasChromium)('import of files on the data page', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
  });
  afterAll(() => dashboard?.stop());

  test('files are dropped, corrected, imported and found again', async () => {
    const opened = await dashboard.open('/data');
    const { page, problems, close } = opened;
    await page.getByText('No candles of sim are stored yet').waitFor();
    const local = (at: number) => new Date(at).toISOString().slice(0, 19);
    await drop(page, {
      'prices.csv': csv(300, { head: 'when,open,high,low,close,traded', time: local }),
      'notes.pdf': 'no candles',
    });
    await page.getByText('None of the files would be imported').waitFor();
    await page.getByText('--columns time=NAME').waitFor();
    await look(opened);

    await page.getByLabel('Columns (--columns)').fill('time');
    await page.getByRole('button', { name: 'Show the preview again' }).click();
    await page.locator('.field[data-invalid] .field-error').waitFor();
    await page.getByLabel('Columns (--columns)').fill('time=when,volume=traded');
    await page.getByLabel('Symbols (--symbols)').fill('BTC/USDT');
    await page.getByLabel('Exchange (--exchange)').fill('kraken');
    await page.getByLabel('Time zone (--time-zone)').fill('Europe/Athens');
    await page.getByRole('button', { name: 'Show the preview again' }).click();
    await page.getByText('1 series of 1 file would be stored. 1 file would not').waitFor();
    const rows = page.getByRole('region', { name: 'First rows of BTC/USDT 1h' });
    // Midnight in Athens is 22:00 in UTC.
    expect(await rows.getByRole('row').nth(1).locator('td, th').allTextContents()).toEqual([
      '2024-01-09 22:00',
      '100',
      '101',
      '99',
      '100.5',
      '1',
    ]);
    await look(opened);
    // A changed option is seen before it is imported.
    await page.getByLabel('Spot (--spot)').check();
    expect(await page.getByRole('button', { name: 'Import 1 series' }).count()).toBe(0);
    await page.getByLabel('Spot (--spot)').uncheck();
    await page.getByRole('button', { name: 'Import 1 series' }).click();

    await page.getByText('1 series of 1 file stored. 1 file not').waitFor();
    await page.getByText('touchstone backtest ema_crossover --trading-mode spot --exchange kraken').waitFor();
    await look(opened);
    await page.reload();
    await page.getByText('1 series of 1 file stored. 1 file not').waitFor();
    await page.getByRole('link', { name: 'BTC/USDT spot 1h' }).click();
    await page.getByRole('heading', { name: 'BTC/USDT spot 1h' }).waitFor();
    await page.getByRole('button', { name: 'Undo the import' }).waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test('a chosen folder keeps its subfolders, whose names say the exchange', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-import-page-'));
    const data = join(folder, 'data');
    mkdirSync(join(data, 'bybit/futures'), { recursive: true });
    writeFileSync(join(data, 'bybit', 'ETH_USDT-1h.csv'), csv(200, { lost: 5 }));
    writeFileSync(join(data, 'bybit', '.hidden.csv'), 'x');
    writeFileSync(join(data, 'bybit/futures/SOL_USDT_USDT-1h-futures.csv'), csv(200));
    const { page, problems, close } = await dashboard.open('/data?import=new');
    await page.getByLabel('Choose a folder').last().setInputFiles(data);
    await page.getByRole('button', { name: 'Import 2 series' }).click();
    await page.getByText('2 series of 2 files stored.').waitFor();
    await page.getByRole('link', { name: 'ETH/USDT spot 1h' }).waitFor();
    await page.getByRole('button', { name: 'Stored data' }).click();
    await page.getByRole('region', { name: 'Imports', exact: true }).getByText('2 files').first().waitFor();
    expect(await problems()).toEqual([]);
    await close();
    rmSync(folder, { recursive: true });
  });

  test('page opens on the exchange that has candles, and calls only series incomplete that lost some', async () => {
    await importFile(dashboard.url, 'kraken/DOT_USDT-1h.csv', csv(200));
    await importFile(dashboard.url, 'bitget/DOT_USDT-1h.csv', csv(200, { lost: 5 }));
    await importFile(dashboard.url, 'bitget/SOL_USDT-1h.csv', csv(200));
    const opened = await dashboard.open('/data');
    const { page, problems, close } = opened;
    // Imported last. Five lost candles of an exchange that serves those without trades are damage; the first and the last month are none.
    await page.getByText('Candles stored of bitget').waitFor();
    const incomplete = page.getByRole('button', { name: /^Incomplete series/ });
    // Title, number, and the text below it.
    expect(await incomplete.textContent()).toBe('Incomplete series10 corrupt months');
    const pictures = page.getByRole('img', { name: /incomplete months/ });
    expect(await pictures.evaluateAll((all) => all.map((each) => each.getAttribute('aria-label')))).toEqual([
      expect.stringContaining('incomplete months: 1,'),
      expect.stringContaining('incomplete months: 0,'),
    ]);
    await look(opened);
    await page.getByRole('button', { name: 'kraken' }).click();
    await page.getByText('Candles stored of kraken').waitFor();
    await page.getByRole('rowheader', { name: 'DOT/USDT spot 1h' }).waitFor();
    expect(await incomplete.textContent()).toBe('Incomplete series00 corrupt months');
    expect(await problems()).toEqual([]);
    await close();
  });

  test('an import can be cancelled before it is stored, and files that were not all sent say so', async () => {
    const { page, problems, close } = await dashboard.open('/data');
    await page.getByRole('heading', { name: 'Coverage' }).waitFor();
    await drop(page, { 'XRP_USDT-1h.csv': csv(5) });
    await page.getByRole('button', { name: 'Import 1 series' }).waitFor();
    await page.getByRole('button', { name: 'Cancel the import' }).click();
    await page.getByText('Nothing was stored.').waitFor();
    const url = `${dashboard.url}/services/data-collection/api/v1/imports`;
    const { import_id } = await (
      await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"files":3,"bytes":10}',
      })
    ).json();
    await page.goto(`${dashboard.url}/data?import=${import_id}`);
    await page.getByText('0 files of 3 files arrived.').waitFor();
    await page.getByRole('button', { name: 'Cancel the import' }).click();
    await page.getByText('The import was cancelled').waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });
});

describe.skipIf(!hasChromium)('import of files for each role', () => {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-import-role-'));
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'), { home, auth: true });
  });
  afterAll(async () => {
    await dashboard?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  test('researcher sees which role imports', async () => {
    const claims = accessClaims({ user: 'ann', role: 'researcher', lifetime: 600, now: Date.now() });
    const token = signToken(openIssuerKey(home), claims);
    const { page, findings, close } = await dashboard.open('/data?import=new', { token });
    await page.getByText('Needs the role admin').waitFor();
    await drop(page, { 'XRP_USDT-1h.csv': csv(5) });
    await page.getByText('Drop files or a folder here').waitFor();
    expect(await findings()).toEqual([]);
    await close();
  });
});
