import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedBacktest } from './support/seed.ts';

describe.skipIf(!hasChromium)('command palette, shortcuts and audit trail', () => {
  let dashboard: Dashboard;
  let job: string;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    job = await seedBacktest(dashboard.platform, {}, { experiment_name: 'Averages' });
  });
  afterAll(() => dashboard?.stop());

  test('goes to a page, a strategy, a job and an id by keyboard', async () => {
    const { page, problems, findings, close } = await dashboard.open('/data');
    await page.getByRole('button', { name: 'Go to' }).focus();
    const go = async (text: string, option: RegExp) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Page, strategy, job or id' }).fill(text);
      await page.getByRole('option', { name: option }).first().waitFor();
      await page.getByRole('option', { name: option, selected: true }).waitFor();
      await page.keyboard.press('Enter');
    };
    await go('chall', /^Challenges/);
    await page.waitForURL('**/challenges');
    await go('ema_cross', /^ema_crossover Strategy/);
    await page.waitForURL('**/strategies/ema_crossover');
    await go('Averages', /^ema_crossover, Averages/);
    await page.waitForURL(`**/backtests/${job}`);
    await go('co-123', /^co-123/);
    await page.waitForURL('**/data?collection=co-123');

    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: /^Home/, selected: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.getByRole('option', { name: /^Backtests/, selected: true }).waitFor();
    expect(await findings()).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Page, strategy' }).waitFor({ state: 'detached' });
    expect(await problems()).toEqual([]);
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
