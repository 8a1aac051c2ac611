import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';

describe.skipIf(!hasChromium)('command palette', () => {
  let dashboard: Dashboard;
  let job: string;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    const { body } = await dashboard.platform.post('/api/v1/backtests', {
      config: { strategy: 'ema_crossover' },
      experiment_name: 'Averages',
    });
    job = body.job_id;
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
});
