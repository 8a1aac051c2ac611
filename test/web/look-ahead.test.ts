import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { runHyperopt } from '../support/hyperopt-jobs.ts';
import { SEER_MARKET, seerFolder } from '../support/seer.ts';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';

describe.skipIf(!hasChromium)('a run with a found look-ahead bias', () => {
  const strategiesDirectory = seerFolder();
  let dashboard: Dashboard;
  let leak: any;
  let clean: any;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'), { strategiesDirectory });
    const { platform } = dashboard;
    leak = await platform.run({ strategy: 'seer', ...SEER_MARKET });
    clean = await platform.run({ strategy: 'ema_crossover', ...SEER_MARKET });
  });
  afterAll(() => dashboard?.stop());

  test('is marked in the list, struck through, and sorted after the clean run', async () => {
    const { page, problems, findings, close } = await dashboard.open('/backtests?sort=total_profit_pct');
    const rows = page.getByRole('row').filter({ has: page.getByRole('checkbox', { name: /^Pick / }) });
    await expect.poll(() => rows.count()).toBe(2);
    const row = page.getByRole('row').filter({ hasText: 'seer' });
    await row.getByText('look-ahead found').waitFor();
    const profit = `+${leak.result.total_profit_pct.toFixed(2)}`;
    expect(await row.locator('s').first().textContent()).toContain(profit);
    expect(await page.getByRole('row').filter({ hasText: 'ema_crossover' }).locator('s').count()).toBe(0);
    // The leak earned more, and the list begins with the highest profit.
    expect(leak.result.total_profit_pct).toBeGreaterThan(clean.result.total_profit_pct);
    expect(await rows.first().textContent()).toContain('ema_crossover');
    for (const each of [rows.first(), rows.last()]) expect(await each.textContent()).toContain('sim');
    expect(await findings()).toEqual([]);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('is marked on the home page, and never the best of a comparison', async () => {
    const home = await dashboard.open('/');
    const item = home.page.getByRole('listitem').filter({ hasText: 'seer' });
    await item.getByText('look-ahead found').waitFor();
    expect(await item.locator('s').count()).toBe(1);
    await home.close();
    const { page, findings, close } = await dashboard.open(`/compare?ids=${leak.job_id},${clean.job_id}`);
    const row = page.getByRole('row', { name: /^Total profit % / });
    await row.waitFor();
    expect(await row.locator('td').first().locator('s').count()).toBe(1);
    expect(await row.getByRole('img', { name: 'best' }).count()).toBe(0);
    expect(await page.getByText('look-ahead found').count()).toBeGreaterThan(0);
    expect(await findings()).toEqual([]);
    await close();
  });

  test('is registered with the reason of a waiver only', async () => {
    const { page, close } = await dashboard.open(`/backtests/${leak.job_id}`);
    await page.getByRole('button', { name: 'Register' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Register' }).click();
    await dialog.getByText(/Not registered: look-ahead bias was found/).waitFor();
    await dialog.getByLabel('Reason to waive look-ahead found').fill('A demonstration');
    await dialog.getByRole('button', { name: 'Register' }).click();
    await dialog.getByText('look_ahead is waived').waitFor();
    await close();
    const model = await dashboard.open('/strategies/seer');
    const version = model.page.getByRole('row').filter({ hasText: 'v1' });
    await version.getByText('look-ahead found').waitFor();
    expect(await version.getByText('sim').count()).toBe(1);
    expect(await version.locator('s').count()).toBe(5);
    await model.close();
  });

  test('marks a search and its trials, and offers no best trial', async () => {
    const request = {
      strategy: 'seer',
      ...SEER_MARKET,
      models: 'none',
      n_trials: 3,
      backtest_period_days: 10,
    };
    const { job } = await runHyperopt(dashboard.platform, request);
    const { page, findings, close } = await dashboard.open(`/hyperopt/${job.job_id}?tab=trials`);
    await page.getByRole('alert').getByText('look-ahead found').waitFor();
    expect(await page.getByRole('button', { name: 'Register the best' }).count()).toBe(0);
    await expect.poll(() => page.getByRole('table').locator('s').count()).toBeGreaterThan(0);
    expect(await findings()).toEqual([]);
    await close();
    const trial = await dashboard.open(`/hyperopt/${job.job_id}?tab=trials&trial=0`);
    // The value, and the worst, median and best window.
    await expect.poll(() => trial.page.locator('dl.parameters').first().locator('s').count()).toBe(4);
    await trial.close();
    const list = await dashboard.open('/hyperopt');
    const row = list.page.getByRole('row').filter({ hasText: 'seer' });
    await row.getByText('look-ahead found').waitFor();
    expect(await row.locator('s').count()).toBe(1);
    await list.close();
  });
});
