import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { poll } from '../support/poll.ts';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { startCollection } from './support/seed-data.ts';

const PAIR = 'BTC/USDT:USDT';

describe.skipIf(!hasChromium)('from a form to a version', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    const { data_collection_url } = dashboard.platform.info;
    const id = await startCollection(dashboard.platform, {
      symbols: [PAIR],
      timeframe: '1h',
      start: '2024-01-01',
      end: '2024-07-01',
    });
    const read = async () => (await fetch(`${data_collection_url}/api/v1/collections/${id}`)).json();
    await poll(read, ({ status }: any) => status === 'completed');
  });
  afterAll(() => dashboard?.stop());

  const get = async (path: string) => (await dashboard.platform.get(path)).body;
  const idIn = (page: Page) => new URL(page.url()).pathname.split('/').at(-1)!;

  test('a backtest is submitted, watched, read trade by trade, and registered', async () => {
    const { page, problems, findings, close } = await dashboard.open('/backtests');
    await page.getByRole('link', { name: 'New backtest' }).click();
    // The list has a filter of that name.
    await page.getByRole('heading', { name: 'New backtest' }).waitFor();
    await page.getByRole('combobox', { name: 'Strategy' }).selectOption('ema_crossover');
    await page.getByRole('button', { name: 'Pairs: ' }).click();
    await page.getByRole('checkbox', { name: PAIR }).check();
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Timeframe', exact: true }).selectOption('1h');
    await page.getByRole('button', { name: 'Use all of it' }).click();
    await page.getByRole('group', { name: 'Submission' }).locator('summary').click();
    await page.getByRole('textbox', { name: 'Experiment' }).fill('journey');
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await page.waitForURL(/\/backtests\/bt-/);
    const id = idIn(page);

    // The page follows the job by itself, from the queue to the report.
    const tiles = page.getByRole('region', { name: 'Key figures' });
    await tiles.waitFor();
    const job = await get(`/api/v1/backtests/${id}`);
    expect(job).toMatchObject({ status: 'completed', experiment_name: 'journey' });
    expect(job.config).toMatchObject({ strategy: 'ema_crossover', pairs: [PAIR], timeframe: '1h' });
    expect(await tiles.textContent()).toContain(String(job.result.total_trades));
    expect(await findings()).toEqual([]);

    const selected = page.locator('.report-trade-number');
    await page
      .getByRole('region', { name: 'List of trades' })
      .locator('tr[aria-rowindex]')
      .filter({ hasText: /^2(?!\d)/ })
      .click();
    await page.waitForURL(/trade=2\b/);
    await page.keyboard.press('n');
    await page.waitForURL(/trade=3\b/);
    await expect.poll(() => selected.textContent()).toBe('#3');
    // The link leads another tab to the same trade.
    const other = await dashboard.open(`${new URL(page.url()).pathname}${new URL(page.url()).search}`);
    await expect.poll(() => other.page.locator('.report-trade-number').textContent()).toBe('#3');
    await other.close();

    await page.getByRole('button', { name: 'Register' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Register' }).click();
    await dialog.getByRole('status').waitFor();
    expect(await findings()).toEqual([]);
    // The way on by keyboard begins in the dialog, although the button that was pressed is gone.
    expect(await page.evaluate(() => document.activeElement?.closest('dialog') !== null)).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe('Register');
    expect((await get('/api/v1/models/ema_crossover/versions/1')).backtest_run_id).toBe(id);
    expect(await problems()).toEqual([]);
    await close();
  });
});
