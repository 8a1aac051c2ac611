import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedBacktest } from './support/seed.ts';

const MONTH = { start: '2024-01-01T00:00:00Z', end: '2024-02-01T00:00:00Z' };

/** Texts of a column of the table, from the first row on. */
async function column(page: Page, title: string): Promise<string[]> {
  const heads = await page.getByRole('columnheader').allInnerTexts();
  const at = heads.findIndex((head) => head.startsWith(title));
  return page.locator(`tbody tr td:nth-child(${at + 1})`).allInnerTexts();
}

describe.skipIf(!hasChromium)('the list of backtests', () => {
  let dashboard: Dashboard;
  let ids: readonly string[];
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    ids = [
      await seedBacktest(dashboard.platform, { date_range: MONTH }, { experiment_name: 'fees' }),
      await seedBacktest(dashboard.platform, { date_range: MONTH, fee: 0.01 }, { experiment_name: 'fees' }),
      await seedBacktest(dashboard.platform, { date_range: MONTH, strategy: 'supertrend' }),
    ];
  });
  afterAll(() => dashboard?.stop());

  test('sorts by a metric at the service, keeps filters in the URL, and hides what does not vary', async () => {
    const { page, problems, close } = await dashboard.open('/backtests');
    await page.getByRole('link', { name: 'supertrend' }).waitFor();
    await page.getByRole('button', { name: 'Profit %' }).click();
    await page.waitForURL(/sort=total_profit_pct/);
    await page
      .getByRole('columnheader', { name: 'Profit %', exact: false })
      .and(page.locator('[aria-sort="descending"]'))
      .waitFor();
    await expect
      .poll(async () => {
        const profits = (await column(page, 'Profit %')).map((text) => Number(text.replace('−', '-')));
        return (
          profits.length === 3 && profits.every((each, index) => index === 0 || each <= profits[index - 1]!)
        );
      })
      .toBe(true);
    await page.getByRole('combobox', { name: 'Experiment' }).selectOption('fees');
    await page.waitForURL(/experiment=fees/);
    await expect.poll(() => page.locator('tbody tr').count()).toBe(2);
    await page.getByText('2 backtests', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Varying only' }).click();
    await page.getByText(/Equal in all rows: .*Timeframe/).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Timeframe' }).count()).toBe(0);
    await page.reload();
    await page.getByText(/Equal in all rows/).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(2);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('keeps the chosen columns and their order in the browser', async () => {
    const { page, findings, close } = await dashboard.open('/backtests');
    const titles = async () =>
      (await page.getByRole('columnheader').allInnerTexts()).map((title) => title.replace(' ↓', ''));
    await page.getByRole('link', { name: 'supertrend' }).waitFor();
    await page.getByRole('button', { name: 'Columns' }).click();
    const dialog = page.getByRole('dialog', { name: 'Columns' });
    await dialog.getByRole('checkbox', { name: 'Sortino' }).check();
    await dialog.getByRole('checkbox', { name: 'Equity Curve' }).uncheck();
    await dialog.getByRole('button', { name: 'Move Drawdown % up' }).click();
    expect(await findings()).toEqual([]);
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Columns');
    await page.reload();
    await page.getByRole('link', { name: 'supertrend' }).waitFor();
    const first = ['Submitted', 'Backtest', 'Drawdown %', 'Profit %', 'Sharpe'];
    expect((await titles()).slice(0, 5)).toEqual(first);
    expect(await titles()).toContain('Sortino');
    await close();
  });

  test('actions of a row are seen on the one that is pointed at or has the focus, and on all by touch', async () => {
    const seen = (page: Page) =>
      page
        .locator('.backtest-actions')
        .evaluateAll((all) => all.map((each) => each.checkVisibility({ opacityProperty: true })));
    const { page, findings, close } = await dashboard.open('/backtests');
    await page.getByRole('link', { name: 'supertrend' }).waitFor();
    expect(await seen(page)).not.toContain(true);
    expect(await findings()).toEqual([]);
    await page.locator('tbody tr').nth(1).hover();
    expect(await seen(page)).toEqual([false, true, false]);
    await page.mouse.move(0, 0);
    await page.getByRole('link', { name: 'supertrend' }).focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Pin');
    expect((await seen(page)).filter(Boolean)).toHaveLength(1);
    await close();
    const touched = await dashboard.open('/backtests', { isTouched: true });
    await touched.page.getByRole('link', { name: 'supertrend' }).waitFor();
    expect(await seen(touched.page)).not.toContain(false);
    await touched.close();
  });

  test('stores a note, tags and a pin', async () => {
    const { page, problems, close } = await dashboard.open('/backtests');
    const row = page.locator('tbody tr', { hasText: 'supertrend' });
    await row.getByRole('button', { name: 'Note and tags' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Note' }).fill('stop too tight');
    await dialog.getByRole('textbox', { name: 'Tags' }).fill('baseline, fast');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('baseline').waitFor();
    await row.getByRole('button', { name: 'Pin', exact: true }).click();
    await row.getByRole('img', { name: 'pinned' }).waitFor();
    const { body } = await dashboard.platform.get(`/api/v1/backtests/${ids[2]}`);
    expect(body).toMatchObject({ notes: 'stop too tight', tags: ['baseline', 'fast'], pinned: true });
    await page.getByRole('button', { name: 'Pinned' }).click();
    await expect.poll(() => page.locator('tbody tr').count()).toBe(1);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('deletes a backtest after a question', async () => {
    const id = await seedBacktest(dashboard.platform, { date_range: MONTH, leverage: 2 });
    const { page, findings, problems, close } = await dashboard.open('/backtests');
    const row = page.locator('tbody tr', { has: page.getByTitle(`ema_crossover, ${id}`) });
    await row.getByRole('button', { name: 'Delete' }).click();
    expect(await findings()).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the backtest' }).click();
    await expect.poll(() => row.count()).toBe(0);
    expect((await dashboard.platform.get(`/api/v1/backtests/${id}`)).status).toBe(410);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('shows name, profit and drawdown at 375 px without scrolling, and the status as its icon', async () => {
    const { page, isTooWide, close } = await dashboard.open('/backtests', { size: 'phone' });
    await page.getByRole('link', { name: 'supertrend' }).waitFor();
    for (const name of ['Backtest', 'Profit %', 'Drawdown %']) {
      const { x, width } = (await page.getByRole('columnheader', { name }).boundingBox())!;
      expect(x, name).toBeGreaterThanOrEqual(0);
      expect(x + width, name).toBeLessThanOrEqual(375 - 12);
    }
    const status = page.locator('tbody .status').first();
    expect((await status.boundingBox())!.width).toBeLessThanOrEqual(20);
    expect(await isTooWide()).toBe(false);
    await close();
  });
});
