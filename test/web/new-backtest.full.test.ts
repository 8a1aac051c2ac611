import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { openSections } from './support/sections.ts';
import { seedBacktest, seedVersion } from './support/seed.ts';

const MONTH = { start: '2024-01-01T00:00:00Z', end: '2024-02-01T00:00:00Z' };

describe.skipIf(!hasChromium)('the form of a backtest', () => {
  let dashboard: Dashboard;
  let id: string;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    id = await seedBacktest(dashboard.platform, { date_range: MONTH, fee: 0.001 });
  });
  afterAll(() => dashboard?.stop());

  test('runs a backtest again and shows what differs', async () => {
    const { page, problems, close } = await dashboard.open(`/backtests/new?from=${id}`);
    await page.getByText('Nothing is changed.').waitFor();
    await openSections(page);
    await page.getByRole('textbox', { name: 'fast' }).fill('8');
    const changes = page.locator('dl.defs').filter({ hasText: 'config.params.fast' });
    expect(await changes.textContent()).toContain('config.params.fast20  8');
    await page.getByRole('button', { name: 'curl' }).click();
    expect(await page.getByLabel('Request', { exact: true }).last().textContent()).toMatch(
      /curl -X POST 'http:.*\/backtests'/,
    );
    await page.getByRole('checkbox', { name: 'Sweep costs and delays' }).check();
    await page.getByRole('textbox', { name: 'Random placements of the trades' }).fill('19');
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await page.waitForURL(/\/backtests\/bt-/);
    const { body } = await dashboard.platform.get(`/api/v1/backtests/${page.url().split('/').at(-1)}`);
    const { body: before } = await dashboard.platform.get(`/api/v1/backtests/${id}`);
    expect(body.config).toEqual({
      ...before.config,
      params: { ...before.config.params, fast: 8 },
      robustness: { cost_sweep: true, random_entries: 19 },
    });
    await page.getByText('Max drawdown').first().waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test('shows an error of the service at its field, in both shapes', async () => {
    const { page, findings, close } = await dashboard.open('/backtests/new?strategy=ema_crossover');
    const run = page.getByRole('button', { name: 'Run the backtest' });
    await openSections(page);
    await page.getByRole('combobox', { name: 'Stake' }).selectOption('fixed');
    await page.getByRole('textbox', { name: 'Stake per trade' }).fill('');
    await page.getByText('An amount is needed').waitFor();
    await page.getByRole('textbox', { name: 'Stake per trade' }).fill('5000');
    await run.click();
    const stake = page.locator('.field', { has: page.getByRole('textbox', { name: 'Stake per trade' }) });
    await stake.getByText(/must not exceed config.dry_run_wallet/).waitFor();
    expect(await findings()).toEqual([]);
    // The form cannot send a value of another type: the request is changed on its way, the response is the service's.
    await page.route('**/api/v1/backtests', (route) => {
      const body = route.request().postDataJSON();
      return route.continue({
        postData: JSON.stringify({ ...body, config: { ...body.config, fee: 'much' } }),
      });
    });
    await run.click();
    const fee = page.locator('.field', { has: page.getByRole('textbox', { name: 'Fee per side' }) });
    await fee.locator('.field-error').waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('config.fee');
    await close();
  });

  test('a step of the ROI table that is incomplete, or at the minute of another, is not sent', async () => {
    const { page, close } = await dashboard.open('/backtests/new?strategy=ema_crossover');
    await openSections(page);
    await page.getByRole('combobox', { name: 'Minimal ROI' }).selectOption('own');
    const ratios = page.getByRole('textbox', { name: 'Profit, ratio' });
    await ratios.first().fill('');
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await page.getByText('A step needs a minute and a profit').waitFor();
    await ratios.first().fill('0.1');
    await page.getByRole('button', { name: 'Step', exact: true }).click();
    await page.getByRole('textbox', { name: 'From minute' }).last().fill('0');
    await ratios.last().fill('0.2');
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await page.getByText('Another step begins at this minute').waitFor();
    expect(page.url()).toContain('/backtests/new');
    await close();
  });

  test('takes the protections of a run, and sends none that is incomplete', async () => {
    const { page, problems, findings, close } = await dashboard.open(`/backtests/new?from=${id}`);
    await openSections(page);
    await page.getByRole('combobox', { name: 'Protections' }).selectOption('own');
    await page.getByRole('textbox', { name: 'Lock for' }).fill('');
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await page.getByText('A number of candles is needed').waitFor();
    await page.getByRole('textbox', { name: 'Lock for' }).fill('4');
    await page.getByRole('button', { name: 'Protection', exact: true }).click();
    const second = page.getByRole('group', { name: 'Protection 2' });
    await second.getByRole('combobox', { name: 'Protection 2' }).selectOption('StoplossGuard');
    await second.getByRole('combobox', { name: 'Lock in' }).selectOption('until');
    await second.getByRole('textbox', { name: 'Lock until, UTC' }).fill('25:00');
    await second.getByRole('checkbox', { name: 'Lock the pair only' }).check();
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await second.getByText(/unlock_at must be a time of day in UTC/).waitFor();
    expect(await findings()).toEqual([]);
    await second.getByRole('textbox', { name: 'Lock until, UTC' }).fill('18:00');
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await page.waitForURL(/\/backtests\/bt-/);
    await page.getByRole('heading', { name: /^Locks by protections, \d/ }).waitFor();
    const { body } = await dashboard.platform.get(`/api/v1/backtests/${page.url().split('/').at(-1)}`);
    expect(body.config.protections).toEqual([
      { method: 'CooldownPeriod', stop_duration_candles: 4 },
      { method: 'StoplossGuard', unlock_at: '18:00', only_per_pair: true },
    ]);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('runs spot pairs: the pairs of the strategy lose their settlement currency, and neither leverage nor margin is asked for', async () => {
    const { page, problems, findings, close } = await dashboard.open(`/backtests/new?from=${id}`);
    await openSections(page);
    await page.getByRole('combobox', { name: 'Trading mode' }).selectOption('spot');
    await page.getByRole('textbox', { name: 'Leverage' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('combobox', { name: 'Margin' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Pairs: ' }).click();
    await page.getByRole('checkbox', { name: 'ETH/USDT', exact: true }).check();
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Collect candles before the run' }).selectOption('if_stale');
    expect(await findings()).toEqual([]);
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await page.waitForURL(/\/backtests\/bt-/);
    await page.getByText('Max drawdown').first().waitFor();
    const { body } = await dashboard.platform.get(`/api/v1/backtests/${page.url().split('/').at(-1)}`);
    expect(body.config).toMatchObject({ trading_mode: 'spot', pairs: ['ETH/USDT'], leverage: 1 });
    expect(await page.locator('.report-facts').textContent()).toContain('spot');
    expect(await problems()).toEqual([]);
    await close();
  });

  test('none replaces what a version has', async () => {
    const options = { timeframe_detail: '15m', ignore_entry_after_candles: 2, position_stacking: true };
    const costs = { slippage_model: { impact: 1 }, robustness: { random_entries: 19 } };
    const registered = await seedBacktest(dashboard.platform, { date_range: MONTH, ...options, ...costs });
    const model_version = await seedVersion(dashboard.platform, registered);
    const run = await seedBacktest(dashboard.platform, { date_range: MONTH }, { model_version });
    const { page, problems, findings, close } = await dashboard.open(`/backtests/new?from=${run}`);
    await openSections(page);
    const additions = page.getByRole('textbox', { name: 'Additions to a position' });
    await additions.fill('no');
    await page.getByText('Not a number').waitFor();
    await additions.fill('None');
    await page.getByRole('textbox', { name: 'Detail candles that may enter' }).fill('none');
    await page.getByRole('combobox', { name: 'Trades of a pair at a time' }).selectOption('one');
    await page.getByRole('textbox', { name: 'Impact coefficient' }).fill('');
    await page.getByRole('textbox', { name: 'Random placements of the trades' }).fill('');
    await page.getByRole('combobox', { name: 'Order of events inside a candle' }).selectOption('none');
    expect(await findings()).toEqual([]);
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    const none = { timeframe_detail: null, ignore_entry_after_candles: null, max_adjustments: null };
    expect((await sent).postDataJSON().config).toMatchObject(none);
    await page.waitForURL(/\/backtests\/bt-/);
    const { config } = await dashboard.platform.until(page.url().split('/').at(-1)!, 'completed');
    expect(config.timeframe_detail).toBe(null);
    for (const name of [...Object.keys(options).slice(1), ...Object.keys(costs)])
      expect(config).not.toHaveProperty(name);
    // Repeated, it does not get those of the version again.
    await page.goto(`${dashboard.url}/backtests/new?from=${page.url().split('/').at(-1)}`);
    await page.getByText('Nothing is changed.').waitFor();
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await page.waitForURL(/\/backtests\/bt-/);
    const again = await dashboard.platform.until(page.url().split('/').at(-1)!, 'completed');
    expect(again.config).toEqual(config);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('limits the range to the stored candles until others are to be collected', async () => {
    const { page, close } = await dashboard.open('/backtests/new?strategy=ema_crossover');
    await openSections(page);
    await page.getByRole('button', { name: 'Pairs: ' }).click();
    await page.getByRole('checkbox', { name: 'BTC/USDT:USDT' }).check();
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Timeframe', exact: true }).selectOption('1h');
    await page.getByText(/Stored for every pair: 2023-\d\d-\d\d to 2024-02-01/).waitFor();
    await page.getByLabel('Range, UTC days, end').fill('2024-03-01');
    await page.getByText(/Must be within/).waitFor();
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    expect(page.url()).toContain('/backtests/new');
    await page.getByRole('button', { name: 'Use all of it' }).click();
    expect(await page.getByText(/Must be within/).count()).toBe(0);
    await page.getByLabel('Range, UTC days, end').fill('2024-03-01');
    for (const mode of ['if_stale', 'never']) {
      await page.getByLabel('Collect candles').selectOption(mode);
      expect(await page.getByText(/Must be within/).count()).toBe(0);
    }
    await close();
  });
});
