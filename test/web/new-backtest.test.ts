import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedBacktest } from './support/seed.ts';

const MONTH = { start: '2024-01-01T00:00:00Z', end: '2024-02-01T00:00:00Z' };

describe.skipIf(!hasChromium)('the folded form of a backtest', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
  });
  afterAll(() => dashboard?.stop());

  const section = (page: Page, name: string) => page.getByRole('group', { name, exact: true });
  const fold = (page: Page, name: string) => section(page, name).locator('summary').first();
  const isOpen = (page: Page, name: string) => section(page, name).evaluate((each: any) => each.open);
  const openOnes = (page: Page) =>
    page.locator('details.fold[open] > summary h2').evaluateAll((all) => all.map((each) => each.textContent));

  test('strategy, market, period and one button are on top, everything else is folded and opens by keyboard', async () => {
    const { page, findings, problems, close } = await dashboard.open('/backtests/new?strategy=ema_crossover');
    await page.getByRole('combobox', { name: 'Strategy' }).waitFor();
    expect(await page.getByRole('button', { name: 'Run the backtest' }).count()).toBe(1);
    expect(await openOnes(page)).toEqual([]);
    const visible = await page
      .locator('form :is(input, select)')
      .evaluateAll((all) =>
        all.filter((each) => each.checkVisibility()).map((each) => each.getAttribute('name')),
      );
    expect(visible).toEqual([
      'config.strategy',
      'config.timeframe',
      'config.date_range.start',
      'config.date_range.end',
    ]);
    expect(await fold(page, 'Account and costs').textContent()).toBe('Account and costsDefaults');
    await page.getByRole('button', { name: 'Open all' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'fast' }).fill('8');
    await fold(page, 'Parameters').getByText('fast 8').waitFor();
    expect(await findings()).toEqual([]);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('a run again opens what differs from the defaults, and the folds name it', async () => {
    const id = await seedBacktest(dashboard.platform, {
      date_range: MONTH,
      fee: 0.001,
      trailing: { positive: 0.02 },
    });
    const { page, findings, close } = await dashboard.open(`/backtests/new?from=${id}`);
    await expect
      .poll(() => fold(page, 'Account and costs').textContent())
      .toBe('Account and costsfee per side 0.001');
    expect(await openOnes(page)).toEqual(['Account and costs', 'Exits and fills']);
    expect(await fold(page, 'Exits and fills').textContent()).toContain('trailing distance 0.02');
    // Who closes a section finds it closed.
    await fold(page, 'Account and costs').click();
    await page.getByRole('textbox', { name: 'Trailing distance' }).fill('0.03');
    await fold(page, 'Exits and fills').getByText('trailing distance 0.03').waitFor();
    expect(await isOpen(page, 'Account and costs')).toBe(false);
    expect(await findings()).toEqual([]);
    await close();
  });

  test('a field that is not valid, for the page or for the platform, opens its section and gets the focus', async () => {
    const { page, close } = await dashboard.open('/backtests/new?strategy=ema_crossover');
    const focused = () => page.evaluate(() => document.activeElement?.getAttribute('name'));
    const run = page.getByRole('button', { name: 'Run the backtest' });
    await fold(page, 'Account and costs').click();
    await page.getByRole('textbox', { name: 'Fee per side' }).fill('much');
    await fold(page, 'Account and costs').click();
    await expect.poll(() => isOpen(page, 'Account and costs')).toBe(false);
    await run.click();
    await expect.poll(() => isOpen(page, 'Account and costs')).toBe(true);
    expect(await focused()).toBe('config.fee');
    await page.getByRole('textbox', { name: 'Fee per side' }).fill('');
    await fold(page, 'Account and costs').click();
    await expect.poll(() => isOpen(page, 'Account and costs')).toBe(false);
    // The form cannot send a value of another type: the request is changed on its way, the response is the platform's.
    await page.route('**/api/v1/backtests', (route) => {
      const { config } = route.request().postDataJSON();
      return route.continue({ postData: JSON.stringify({ config: { ...config, seed: 'dice' } }) });
    });
    await run.click();
    await expect.poll(() => isOpen(page, 'Exits and fills')).toBe(true);
    await expect.poll(focused).toBe('config.seed');
    expect(await openOnes(page)).toEqual(['Exits and fills']);
    await close();
  });
});
