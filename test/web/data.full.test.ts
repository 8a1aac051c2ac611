import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { accessClaims, openIssuerKey, signToken, type TokenOptions } from '../../src/local/issuer-key.ts';
import { runInProcess } from '../support/command.ts';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { SOL, seedData, startCollection } from './support/seed-data.ts';

const ADA = 'ADA/USDT:USDT';

describe.skipIf(!hasChromium)('the data page', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
  });
  afterAll(() => dashboard?.stop());

  /** States of the months of a row of the map, whose table T shows. */
  const states = async (page: Page, series: string) => {
    const toggle = page.getByRole('button', { name: 'Table', exact: true });
    if ((await toggle.getAttribute('aria-pressed')) === 'false') {
      await page.getByRole('region', { name: 'Coverage by month' }).focus();
      await page.keyboard.press('t');
      await page.locator('.cover-grid td.cover').first().waitFor();
    }
    return page
      .locator('.cover-grid tbody tr')
      .filter({ has: page.getByRole('rowheader', { name: series }) })
      .locator('.cover')
      .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('data-state')));
  };

  test('empty platform says how to get candles', async () => {
    const { page, problems, findings, close } = await dashboard.open('/data');
    await page.getByText('No candles of sim are stored yet').waitFor();
    await page.getByText('No collection yet').waitFor();
    await page.getByRole('button', { name: 'Import files' }).first().click();
    await page.getByText('Drop files or a folder here').waitFor();
    await page.getByText('Import by a command').click();
    await page.getByText('npx --no-install touchstone import user_data/data/binance').waitFor();
    expect(await findings()).toEqual([]);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('map shows months by state, and its filters and selection are in the URL', async () => {
    await seedData(dashboard.platform);
    const { page, problems, close } = await dashboard.open('/data');
    await page.getByRole('button', { name: 'SOL/USDT' }).first().waitFor();
    await page
      .getByRole('img', {
        name: /^2023-01 to 2024-08: [\d.]+ % stored, incomplete months: 4, corrupt ones: 1$/,
      })
      .waitFor();
    // January 10 to March 20, then June to August with July corrupt; the daily candles begin a year earlier.
    expect(await states(page, 'SOL/USDT 4h')).toEqual([
      ...Array(12).fill('absent'),
      'sparse',
      'full',
      'part',
      'none',
      'none',
      'full',
      'corrupt',
      'full',
    ]);
    expect(await states(page, 'SOL/USDT 1d')).toEqual(Array(20).fill('full'));
    await page.getByRole('cell', { name: '2024-03: 114 of 186 candles, 1 gap' }).waitFor();

    await page.getByRole('checkbox', { name: 'Incomplete only' }).check();
    await page.getByRole('rowheader', { name: 'SOL/USDT 1d' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'SOL/USDT' }).click();
    await page.getByRole('cell', { name: '2024-03-20 00:00 UTC' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: `${SOL} 4h` }).waitFor();
    expect(await page.getByRole('checkbox', { name: 'Incomplete only' }).isChecked()).toBe(true);
    expect(await page.getByRole('rowheader').count()).toBe(1);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('map of 1,200 series scrolls to the last one', async () => {
    const { page, problems, close } = await dashboard.open('/nowhere');
    const missing = { closed: 0, no_trades: 0, damage: 0 };
    const month = { month: '2024-01', candles: 1, expected: 1, gap_count: 0, missing, corrupt: false };
    const items = Array.from({ length: 1_200 }, (_, i) => ({
      symbol: `S${i}/USDT:USDT`,
      timeframe: '1h',
      count: 1,
      gap_count: 0,
      complete_from: null,
      first: '2024-01-01T00:00:00.000Z',
      last: '2024-01-01T00:00:00.000Z',
      months: [month],
      updated_at: '2024-06-01T00:00:00.000Z',
    }));
    await page.route('**/api/v1/coverage*', (route) =>
      route.fulfill({ json: { exchange: 'sim', items, next_cursor: null } }),
    );
    await page.getByRole('link', { name: 'Data', exact: true }).click();
    await page.getByRole('rowheader', { name: 'S0/USDT 1h' }).waitFor();
    const map = page.locator('.cover-map');
    await map.evaluate((box) => {
      box.scrollTop = box.scrollHeight;
    });
    await page.getByRole('rowheader', { name: 'S1199/USDT 1h' }).waitFor();
    // 1,200 rows of 28 px and two of the head; far fewer are in the document.
    expect(await map.evaluate((box) => box.scrollHeight)).toBe(1_202 * 28);
    expect(await page.getByRole('rowheader').count()).toBeLessThan(40);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('form shows an error at its field, starts a collection, and the map gets its series', async () => {
    const { page, problems, findings, close } = await dashboard.open('/data');
    await page.getByRole('button', { name: 'Collect candles' }).click();
    const symbols = page.getByLabel('Symbols');
    await symbols.fill(`${ADA}, XRPUSDT`);
    await page.getByLabel('Timeframe').last().selectOption('1d');
    await page.getByLabel('From (UTC)').fill('2024-01-01');
    await page.getByLabel('To (UTC)').fill('2024-02-01');
    await page.getByRole('button', { name: 'Start the collection' }).click();
    await page.locator('.field[data-invalid] .field-error').waitFor();
    expect(await symbols.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await findings()).toEqual([]);
    await symbols.fill(ADA);
    await page.getByRole('button', { name: 'Start the collection' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByLabel('Selected collection').getByText('completed').waitFor();
    await page.getByText('31 new candles of sim, 1d').waitFor();
    await page.getByRole('rowheader', { name: 'ADA/USDT 1d' }).waitFor();
    expect(await states(page, 'ADA/USDT 1d')).toContain('full');
    await page.goto(dashboard.url);
    const row = page.getByRole('listitem').filter({ hasText: 'ADA/USDT' });
    await row.getByText('+31 candles').waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test('series of a spot pair is told from that of the perpetual', async () => {
    const body = { timeframe: '1d', start: '2024-01-01', end: '2024-02-01', trading_mode: 'spot' };
    await startCollection(dashboard.platform, { ...body, symbols: ['ADA/USDT'] });
    const { page, close } = await dashboard.open('/data?series=ADA%2FUSDT+1d');
    await page.getByRole('rowheader', { name: 'ADA/USDT spot 1d' }).waitFor();
    await page.getByRole('heading', { name: 'ADA/USDT spot 1d' }).waitFor();
    await close();
  });

  test('cancel ends a running collection', async () => {
    const { page, problems, close } = await dashboard.open('/data');
    const id = await startCollection(dashboard.platform, {
      timeframe: '1m',
      start: '2020-01-01',
      end: '2024-01-01',
      symbols: ['BNB/USDT:USDT', 'XRP/USDT:USDT', 'DOGE/USDT:USDT'],
    });
    await page.goto(`${dashboard.url}/data?collection=${id}`);
    const detail = page.getByLabel('Selected collection');
    await detail.getByRole('button', { name: 'Cancel the collection' }).click();
    await detail.getByText('cancelled').waitFor();
    await page.getByRole('cell', { name: 'cancelled' }).waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test('an import is undone, and its series renamed, copied and deleted', async () => {
    const { platform } = dashboard;
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-series-'));
    const file = join(folder, 'prices.csv');
    const days = (price: number) =>
      Array.from(
        { length: 30 },
        (_, day) => `${Date.UTC(2024, 0, 1 + day)},${price},${price},${price},${price},1`,
      );
    for (const price of [100, 200]) {
      writeFileSync(file, ['time,open,high,low,close,volume', ...days(price)].join('\n'));
      const options = ['--symbols', 'X/USD', '--exchange', 'kraken', '--timeframe', '1d'];
      expect((await runInProcess(platform.home, ['import', file, ...options])).code).toBe(0);
    }
    rmSync(folder, { recursive: true });
    const stored = async (exchange: string, symbol: string) => {
      const query = new URLSearchParams({
        exchange,
        symbol,
        timeframe: '1d',
        trading_mode: 'spot',
        limit: '1',
      });
      const response = await fetch(`${platform.info.data_collection_url}/api/v1/candles?${query}`);
      const { close } = (await response.json()) as { close?: number[] };
      return close?.[0];
    };
    expect(await stored('kraken', 'X/USD')).toBe(200);
    const { page, problems, findings, close } = await dashboard.open(
      '/data?exchange=kraken&series=X%2FUSD+1d',
    );
    const dialog = page.getByRole('dialog');
    const act = async (name: string, confirm: string, fields: Readonly<Record<string, string>> = {}) => {
      await page.getByRole('button', { name, exact: true }).click();
      for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value);
      await dialog.getByRole('button', { name: confirm, exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await page.getByText('Nothing uses it now').waitFor();
    expect(await findings()).toEqual([]);
    await act('Undo the import', 'Undo the import');
    await page.getByRole('button', { name: 'Undo the import' }).waitFor({ state: 'detached' });
    expect(await stored('kraken', 'X/USD')).toBe(100);

    await act('Copy or rename', 'Copy', { Exchange: 'bitstamp' });
    expect([await stored('kraken', 'X/USD'), await stored('bitstamp', 'X/USD')]).toEqual([100, 100]);
    await act('Copy or rename', 'Rename', { Symbol: 'Y/USD' });
    expect([await stored('kraken', 'X/USD'), await stored('kraken', 'Y/USD')]).toEqual([undefined, 100]);

    await page.goto(`${dashboard.url}/data?exchange=bitstamp&series=X%2FUSD+1d`);
    await act('Delete', 'Delete the candles');
    expect(await stored('bitstamp', 'X/USD')).toBeUndefined();
    expect(await problems()).toEqual([]);
    await close();
  });
});

describe.skipIf(!hasChromium)('the data page for each role', () => {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-data-page-'));
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'), { home, auth: true });
  });
  afterAll(async () => {
    await dashboard?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  const tokenOf = (role: TokenOptions['role']) =>
    signToken(openIssuerKey(home), accessClaims({ user: role, role, lifetime: 600, now: Date.now() }));

  test('viewer sees why nothing can be collected, researcher collects', async () => {
    const viewer = await dashboard.open('/data', { token: tokenOf('viewer') });
    await viewer.page.getByText('No candles of sim are stored yet').waitFor();
    const collect = viewer.page.getByTitle('Needs the role researcher').first();
    await collect.waitFor();
    expect(await collect.isDisabled()).toBe(true);
    expect(await viewer.findings()).toEqual([]);
    await viewer.close();

    const researcher = await dashboard.open('/data?collect=ADA/USDT:USDT+1d&from=2026-01-01', {
      token: tokenOf('researcher'),
    });
    await researcher.page.getByRole('button', { name: 'Start the collection' }).click();
    await researcher.page.getByLabel('Selected collection').getByText('completed').waitFor();
    expect(await researcher.problems()).toEqual([]);
    await researcher.close();
  });

  test('a request without an answer shows one banner, and another try', async () => {
    const { page, findings, close } = await dashboard.open('/favicon.svg');
    await page.route('**/api/v1/coverage*', (route) => route.abort());
    await page.goto(`${dashboard.url}/data#token=${tokenOf('viewer')}`);
    await page.getByText('Touchstone does not answer').waitFor();
    await page.getByText('Not loaded yet').first().waitFor();
    expect(await findings()).toEqual([]);
    await page.unroute('**/api/v1/coverage*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Coverage' }).waitFor();
    await close();
  });
});
