import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedBacktest } from './support/seed.ts';

const MONTH = { start: '2024-01-01T00:00:00Z', end: '2024-02-01T00:00:00Z' };

describe.skipIf(!hasChromium)('the comparison of backtests', () => {
  let dashboard: Dashboard;
  let ids: readonly string[];
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    ids = [
      await seedBacktest(dashboard.platform, { date_range: MONTH }),
      await seedBacktest(dashboard.platform, { date_range: MONTH, fee: 0.002 }),
      await seedBacktest(dashboard.platform, {
        date_range: { ...MONTH, end: '2024-01-20T00:00:00Z' },
        strategy: 'supertrend',
        protections: [{ method: 'CooldownPeriod', stop_duration_candles: 2 }],
      }),
    ];
  });
  afterAll(() => dashboard?.stop());

  test('compares runs that are picked in the list', async () => {
    const { page, problems, findings, close } = await dashboard.open('/backtests');
    await page.getByRole('checkbox', { name: `Pick ema_crossover, ${ids[0]}` }).check();
    const compare = page.getByRole('button', { name: 'Compare 1' });
    expect(await compare.getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('checkbox', { name: `Pick ema_crossover, ${ids[1]}` }).check();
    await page.getByRole('link', { name: 'Compare 2' }).click();
    await page.getByRole('heading', { name: 'Compare 2 runs' }).waitFor();
    await page
      .getByRole('img', { name: /^Equity and drawdown: A ema_crossover .*, B ema_crossover .*; 31 days$/ })
      .waitFor();
    const settings = page.getByLabel('Setting');
    await settings.getByRole('row', { name: 'fee 0.0005 differs from the baseline: 0.002' }).waitFor();
    await page.getByRole('button', { name: 'Only differences' }).click();
    await expect.poll(() => settings.locator('tbody tr').count()).toBe(1);
    await page.waitForURL(/only=true/);
    expect(await findings()).toEqual([]);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('marks the best value of a row and measures against the baseline', async () => {
    const { page, close } = await dashboard.open(`/compare?ids=${ids.join(',')}`);
    const results = await Promise.all(
      ids.map(async (id) => (await dashboard.platform.get(`/api/v1/backtests/${id}`)).body.result),
    );
    const row = page.getByRole('row', { name: /^Total profit % / });
    await row.waitFor();
    const profits = results.map(({ total_profit_pct }) => total_profit_pct as number);
    const best = profits.indexOf(Math.max(...profits));
    expect(await row.locator('td').nth(best).getByRole('img', { name: 'best' }).count()).toBe(1);
    expect(await row.getByRole('img', { name: 'best' }).count()).toBe(1);
    await page.getByRole('radio', { name: 'Baseline: B' }).check();
    await page.waitForURL(new RegExp(`base=${ids[1]}`));
    const delta = profits[0]! - profits[1]!;
    const text = `${delta > 0 ? '+' : '−'}${Math.abs(delta).toFixed(2)}`;
    await row.locator('td').first().getByText(text, { exact: false }).waitFor();
    await page.getByText('CooldownPeriod stop_duration_candles 2').waitFor();
    await close();
  });

  test('tells spot pairs from the perpetuals of the same names', async () => {
    const spot = await seedBacktest(dashboard.platform, {
      date_range: MONTH,
      trading_mode: 'spot',
      pairs: ['BTC/USDT', 'ETH/USDT'],
    });
    const { page, close } = await dashboard.open(`/compare?ids=${spot},${ids[0]}&only=true`);
    const settings = page.getByLabel('Setting');
    const name = 'trading_mode spot differs from the baseline: futures';
    await settings.getByRole('row', { name }).waitFor();
    const pairs = 'pairs BTC/USDT spot, ETH/USDT spot differs from the baseline: BTC/USDT, ETH/USDT';
    expect(await settings.getByRole('row', { name: pairs }).count()).toBe(1);
    await close();
  });

  test('draws each scale, also of runs with other ranges, and lists a run that is gone', async () => {
    const { page, problems, close } = await dashboard.open(`/compare?ids=${ids.join(',')},bt-gone`);
    await page.getByText('RES001').waitFor();
    for (const scale of ['Absolute', 'Log', '%']) {
      await page.getByRole('button', { name: scale, exact: true }).click();
      await page.locator('.compare-curves canvas').first().waitFor();
    }
    await page.getByRole('button', { name: 'Log', exact: true }).click();
    await page.waitForURL(/scale=log/);
    await page.getByRole('button', { name: 'Table' }).click();
    const last = page.getByRole('row').filter({ hasText: '2024-01-31' });
    await page
      .getByLabel('Equity and drawdown: numbers')
      .evaluate((box) => box.scrollTo(0, box.scrollHeight));
    // The third run ended before: it has no value on the last day.
    await expect.poll(() => last.locator('td').allTextContents()).toMatchObject({ 3: '–' });
    await page.getByRole('button', { name: 'Remove bt-gone' }).click();
    await page.getByRole('heading', { name: 'Compare 3 runs' }).waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });
});
