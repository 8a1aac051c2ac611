import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedBacktest } from './support/seed.ts';

describe.skipIf(!hasChromium)('command palette, shortcuts and audit trail', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    await seedBacktest(dashboard.platform, {}, { experiment_name: 'Averages' });
  });
  afterAll(() => dashboard?.stop());

  test('Enter before the search has ended does not lead to a job of the search before', async () => {
    const { page, close } = await dashboard.open('/data');
    await page.getByRole('button', { name: 'Go to' }).click();
    await page.getByRole('option', { name: /Averages/ }).waitFor();
    await page.route('**/api/v1/backtests?*', () => {});
    await page.getByRole('combobox', { name: 'Page, strategy, job or id' }).fill('nothing of that name');
    await page.getByText('Nothing found').first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Go to' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/data');
    await close();
  });

  test('copies the link to the page with what is chosen on it', async () => {
    const { page, close } = await dashboard.open('/strategies/ema_crossover', { size: 'phone' });
    await page.getByRole('button', { name: 'Go to' }).waitFor();
    await page.goto(`${dashboard.url}/audit`);
    await page.getByLabel('Outcome').selectOption('failed');
    await page.waitForURL('**/audit?outcome=failed');
    await page.getByRole('button', { name: 'Copy link' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      `${dashboard.url}/audit?outcome=failed`,
    );
    await close();
  });

  test('? lists the shortcuts, G and a letter opens a page, and neither while typing', async () => {
    const { page, findings, close } = await dashboard.open('/audit', { size: 'phone', theme: 'light' });
    await page.getByLabel('Who', { exact: true }).focus();
    await page.keyboard.type('?gb');
    await page.getByText('No call passes these filters').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('heading', { name: 'Audit' }).click();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Shortcuts' }).waitFor();
    expect(await findings()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await page.waitForURL('**/backtests');
    await close();
  });

  test('audit trail keeps filters and the selected call in the URL', async () => {
    const { page, findings, close } = await dashboard.open('/audit');
    await page.getByLabel('Operation').selectOption('submitBacktest');
    await page.waitForURL('**/audit?operation=submitBacktest');
    await page
      .getByRole('row', { name: /submitBacktest/ })
      .first()
      .click();
    await page.getByLabel('Request').getByText('ema_crossover').waitFor();
    expect(await findings()).toEqual([]);
    const { href } = new URL(page.url());
    expect(href).toContain('entry=');
    await close();

    const again = await dashboard.open(href.slice(dashboard.url.length), { size: 'phone' });
    await again.page.getByLabel('Request').getByText('ema_crossover').waitFor();
    expect(await again.isTooWide()).toBe(false);
    await again.page.getByLabel('Outcome').selectOption('failed');
    await again.page.getByText('No call passes these filters').waitFor();
    expect(await again.problems()).toEqual([]);
    await again.close();
  });
});
