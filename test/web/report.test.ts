import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedBacktest, seedVersion } from './support/seed.ts';

describe.skipIf(!hasChromium)('the report of a backtest', () => {
  let dashboard: Dashboard;
  let id: string;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    id = await seedBacktest(dashboard.platform);
  });
  afterAll(() => dashboard?.stop());

  test('shows what ran, the eight tiles and the known biases', async () => {
    const { result } = (await dashboard.platform.get(`/api/v1/backtests/${id}`)).body;
    const { page, problems, close } = await dashboard.open(`/backtests/${id}`);
    await page.getByRole('heading', { name: 'ema_crossover' }).waitFor();
    const facts = page.locator('.report-facts');
    expect(await facts.textContent()).toContain('2024-01-01 to 2025-01-01 UTC');
    expect(await facts.textContent()).toContain('sim, simulated prices');
    const tiles = page.getByRole('region', { name: 'Key figures' }).getByRole('button');
    await tiles.first().waitFor();
    expect(await tiles.count()).toBe(8);
    const trades = await tiles.filter({ hasText: 'Trades' }).locator('.tile-value').textContent();
    expect(trades).toBe(String(result.total_trades));
    await tiles.first().focus();
    await page.keyboard.press('Tab');
    await page.getByRole('note').filter({ hasText: 'CAGR' }).waitFor();
    await page.getByText(/known biases of this result/).click();
    expect(await page.locator('.report-biases li').count()).toBeGreaterThan(1);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('links lead to the sections by keyboard, stay in view, and mark the one that is seen', async () => {
    const { page, findings, problems, close } = await dashboard.open(`/backtests/${id}`);
    const nav = page.getByRole('navigation', { name: 'Sections' });
    const costs = nav.getByRole('link', { name: 'Drawdowns and costs' });
    await page.locator('.report-trades tr[aria-rowindex]').first().waitFor();
    await costs.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('report-costs');
    const heading = page.getByRole('heading', { name: /^Drawdowns/ });
    await expect
      .poll(async () => {
        const { y } = (await heading.boundingBox())!;
        const { y: top, height } = (await nav.boundingBox())!;
        return top >= 0 && y >= top + height && y < 200;
      })
      .toBe(true);
    await expect.poll(() => nav.locator('[aria-current]').textContent()).toBe('Drawdowns and costs');
    expect(await findings()).toEqual([]);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('the candles are beside the trades on a wide screen, above them on another', async () => {
    for (const [size, isBeside] of [
      ['wide', true],
      ['desktop', false],
    ] as const) {
      const { page, isTooWide, close } = await dashboard.open(`/backtests/${id}`, { size });
      const list = page.getByRole('region', { name: 'List of trades' });
      await list.waitFor();
      const [candles, trades] = [page.getByRole('region', { name: 'Candles' }), list];
      const [a, b] = [(await candles.boundingBox())!, (await trades.boundingBox())!];
      expect(b.x >= a.x + a.width, size).toBe(isBeside);
      expect(b.y >= a.y + a.height, size).toBe(!isBeside);
      expect(await isTooWide()).toBe(false);
      await close();
    }
  });

  test('the head has owner, time to the second and the version that was registered of the run', async () => {
    const { platform } = dashboard;
    const run = await seedBacktest(platform, {
      date_range: { start: '2024-01-01T06:00:00Z', end: '2024-02-01T00:00:00Z' },
    });
    const version = await seedVersion(platform, run);
    const { created_at } = (await platform.get(`/api/v1/backtests/${run}`)).body;
    const { page, close } = await dashboard.open(`/backtests/${run}`);
    const facts = page.locator('.report-facts');
    await facts.getByRole('link', { name: `version ${version}` }).waitFor();
    const text = await facts.textContent();
    expect(text).toContain('Owner anonymous');
    expect(text).toContain(`Submitted ${created_at.slice(0, 19).replace('T', ' ')} UTC`);
    expect(text).toContain('Range 2024-01-01 06:00 to 2024-02-01 UTC');
    await close();
  });

  test('a click on a trade selects it, N goes to the next one, and the URL keeps it', async () => {
    const { page, problems, close } = await dashboard.open(`/backtests/${id}`);
    const rows = page.getByRole('region', { name: 'List of trades' }).locator('tr[aria-rowindex]');
    await rows.filter({ hasText: /^3(?!\d)/ }).click();
    await page.waitForURL(/trade=3\b/);
    const number = page.locator('.report-trade-number');
    await expect.poll(() => number.textContent()).toBe('#3');
    await page.keyboard.press('n');
    await page.waitForURL(/trade=4\b/);
    await page.keyboard.press('p');
    await page.waitForURL(/trade=3\b/);
    const { trades } = (await dashboard.platform.get(`/api/v1/backtests/${id}/report-data`)).body;
    const legend = page.getByRole('region', { name: 'Candles' }).locator('.chart-legend');
    await expect.poll(() => legend.textContent()).toContain(trades.items[2].exit_reason);
    await page.reload();
    await expect.poll(() => number.textContent()).toBe('#3');
    expect(await problems()).toEqual([]);
    await close();
  });

  test('the list shows only the trades of the chosen pair and side', async () => {
    const { page, close } = await dashboard.open(`/backtests/${id}?side=short`);
    const { trades } = (await dashboard.platform.get(`/api/v1/backtests/${id}/report-data`)).body;
    const shorts = trades.items.filter(({ side }: any) => side === 'short');
    const pairs = shorts.filter(({ pair }: any) => pair === 'ETH/USDT:USDT');
    const count = page.getByRole('status').filter({ hasText: ` of ${trades.total}` });
    await expect.poll(() => count.textContent()).toContain(`${shorts.length} of `);
    await page.getByRole('combobox', { name: 'Pair', exact: true }).selectOption('ETH/USDT:USDT');
    await expect.poll(() => count.textContent()).toContain(`${pairs.length} of `);
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => page.url()).not.toContain('side');
    await close();
  });

  test('T shows the numbers of a chart as a table', async () => {
    const { page, close } = await dashboard.open(`/backtests/${id}`);
    const equity = page.getByRole('region', { name: 'Equity', exact: true });
    await equity.getByRole('img').focus();
    await page.keyboard.press('t');
    const { body } = await dashboard.platform.get(`/api/v1/backtests/${id}/equity`);
    const table = equity.getByRole('table');
    expect(await table.getAttribute('aria-rowcount')).toBe(String(body.equity.length + 1));
    expect(await table.locator('tr[aria-rowindex="2"]').textContent()).toContain('1,000.00');
    await close();
  });
});
