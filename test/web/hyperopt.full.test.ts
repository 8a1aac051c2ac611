import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { runScript } from '../support/command.ts';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedHyperopt } from './support/seed-hyperopt.ts';

/** A search from its form to a registered version. */
describe.skipIf(!hasChromium)('hyperopt in the browser', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
  });
  afterAll(() => dashboard?.stop());

  test('an error of the API stands at its field, and the focus goes there', async () => {
    const { page, problems, findings, close } = await dashboard.open('/hyperopt/new?strategy=ema_crossover');
    await page.getByLabel('Search', { exact: true }).selectOption('search');
    await page.getByRole('button', { name: 'Start the search' }).click();
    const field = page.locator('fieldset[data-invalid]');
    await field.getByText('search is empty').waitFor();
    expect(await page.evaluate(() => document.activeElement?.closest('[data-invalid]') !== null)).toBe(true);
    expect(await findings()).toEqual([]);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('a number out of its bounds is not sent', async () => {
    const { page, close } = await dashboard.open('/hyperopt/new');
    await page.getByLabel('Trials').fill('0');
    await page.getByText('Must be at least 1').waitFor();
    await page.getByRole('button', { name: 'Start the search' }).click();
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('n_trials');
    expect(new URL(page.url()).pathname).toBe('/hyperopt/new');
    await close();
  });

  test('form to live view, cancel, resume, result, registered version', async () => {
    const { page, problems, close } = await dashboard.open('/hyperopt/new?strategy=ema_crossover');
    await page.getByLabel('Trials').fill('400');
    await page.locator('input[name="date_range.start"]').fill('2024-01-01');
    await page.locator('input[name="date_range.end"]').fill('2024-07-01');
    await page.getByRole('button', { name: 'Start the search' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Cancel the search' }).click();
    await page.getByRole('button', { name: 'Resume as a new job' }).click();
    await page.getByText('its finished trials are not run again').waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1)!;
    await dashboard.platform.until(id, 'completed');
    await page.getByRole('button', { name: 'Register the best' }).click();
    await dialog.getByRole('button', { name: 'Backtest the best' }).click();
    await dialog.getByRole('button', { name: 'Register', exact: true }).click();
    await dialog.getByRole('status').filter({ hasText: 'registered' }).waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test('a stream that breaks goes on without loss', async () => {
    const id = await seedHyperopt(dashboard.platform, { n_trials: 120 });
    const { page, context, close } = await dashboard.open('/hyperopt');
    await context.setOffline(false);
    await page.goto(`${dashboard.url}/hyperopt/${id}?tab=trials`);
    await page
      .getByText(/Live|completed/)
      .first()
      .waitFor();
    await context.setOffline(true);
    await dashboard.platform.until(id, 'completed');
    await context.setOffline(false);
    await page.getByRole('heading', { name: 'Trials (120)' }).waitFor();
    await close();
  });

  test('ranges, axes and trial are in the URL', async () => {
    const id = await seedHyperopt(dashboard.platform);
    await dashboard.platform.until(id, 'completed');
    const { page, problems, close } = await dashboard.open(`/hyperopt/${id}?tab=parameters&keep=fast:0..0.5`);
    await page.getByRole('button', { name: /^fast .* remove$/ }).waitFor();
    const box = (await page.locator('.own-canvas.draggable').boundingBox())!;
    await page.mouse.move(box.x + 56, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 56, box.y + 160, { steps: 5 });
    await page.mouse.up();
    expect(new URL(page.url()).searchParams.get('keep')).toMatch(/^fast:0\.\d+\.\.0\.\d+$/);
    await page.getByLabel('Parameter', { exact: true }).selectOption('slow');
    await page.waitForURL(/param=slow/);
    await page.getByRole('tab', { name: 'Trials' }).click();
    await page.locator('tr.pick').first().click();
    await page.waitForURL(/trial=\d+/);
    await page.reload();
    await page.getByRole('heading', { name: /^Trial \d+$/ }).waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test('a search is repeated with what it collects', async () => {
    const search = await seedHyperopt(dashboard.platform, { n_trials: 1, collect: 'never' });
    const { page, problems, close } = await dashboard.open(`/hyperopt/new?from=${search}`);
    await page.getByText('Nothing is changed.').waitFor();
    const field = page.getByRole('combobox', { name: 'Collect candles before the run' });
    expect(await field.inputValue()).toBe('never');
    expect(await problems()).toEqual([]);
    await close();
  });

  test('a run of the best is repeated as it was, also where it replaced what the search had', async () => {
    const { platform } = dashboard;
    const search = await seedHyperopt(platform, {
      n_trials: 20,
      slippage_model: { impact: 1 },
      position_stacking: true,
      margin_mode: 'cross',
      available_capital: 500,
    });
    await platform.until(search, 'completed');
    const replaced = { slippage_model: {}, position_stacking: false, margin_mode: 'isolated' };
    const best = await platform.run(
      { strategy: 'ema_crossover', ...replaced, tradable_balance_ratio: 0.5 },
      { hyperopt_job_id: search },
    );
    expect(best.config).not.toHaveProperty('slippage_model');
    const { page, problems, close } = await dashboard.open(`/backtests/new?from=${best.job_id}`);
    await page.getByText('Nothing is changed.').waitFor();
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await page.waitForURL(/\/backtests\/bt-/);
    const again = await platform.until(page.url().split('/').at(-1)!, 'completed');
    expect(again.config).toEqual(best.config);
    expect(again.found_by).toEqual(best.found_by);
    expect(again.warnings).toEqual(best.warnings);
    expect(await problems()).toEqual([]);
    await close();
    const args = ['rerun', best.job_id, '--json'];
    const { out, err } = await runScript(platform.home, 'bin/touchstone.ts', args);
    expect(err).toBe('');
    expect(JSON.parse(out).job.config).toEqual(best.config);
  });
});
