import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';

describe.skipIf(!hasChromium)('the dashboard in a browser', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
  });
  afterAll(() => dashboard?.stop());

  test('home shows the health of every dependency', async () => {
    const { page, problems, close } = await dashboard.open('/');
    await page.getByRole('heading', { name: 'Backtests', exact: true }).waitFor();
    await page.getByText('healthy').first().waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test('an address that names no page says so', async () => {
    const { page, problems, close } = await dashboard.open('/nowhere');
    await page.getByRole('heading', { name: 'No such page' }).waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test.each(['dark', 'light'] as const)('axe-core finds nothing in %s', async (theme) => {
    for (const size of ['desktop', 'phone'] as const) {
      const { page, findings, isTooWide, close } = await dashboard.open('/', { theme, size });
      await page.getByText('healthy').first().waitFor();
      expect(await findings()).toEqual([]);
      expect(await isTooWide()).toBe(false);
      await close();
    }
  });

  test('the chosen theme is kept', async () => {
    const { page, close } = await dashboard.open('/', { theme: 'dark' });
    await page.getByRole('button', { name: 'Light theme' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Dark theme' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('light');
    await close();
  });
});
