import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedBacktest, seedProduction, seedStaged, seedVersion } from './support/seed.ts';

describe.skipIf(!hasChromium)('versions of a strategy', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'), {
      rules: { rollbackReasonRequired: true },
    });
    await seedVersion(dashboard.platform, await seedBacktest(dashboard.platform));
    await seedVersion(dashboard.platform, await seedBacktest(dashboard.platform, { params: { fast: 12 } }));
  });
  afterAll(() => dashboard?.stop());

  const productionOf = async () =>
    (await dashboard.platform.get('/api/v1/models/ema_crossover/production')).body.version;
  const open = (version: string) => dashboard.open(`/strategies/ema_crossover/versions/${version}`);

  test('are staged after their check list, promoted, and rolled back with a reason', async () => {
    for (const version of ['1', '2']) {
      const { page, problems, findings, close } = await open(version);
      await page.getByRole('button', { name: 'Stage' }).click();
      const stage = page.getByRole('dialog');
      await stage.getByRole('button', { name: 'Run the check list only' }).click();
      await stage.locator('.check-list li').first().waitFor();
      expect(await findings()).toEqual([]);
      await stage.getByRole('button', { name: 'Stage', exact: true }).click();
      await stage.waitFor({ state: 'detached' });
      await dashboard.platform.validated('ema_crossover', version);
      await page.getByRole('button', { name: 'Promote' }).click();
      const promote = page.getByRole('dialog');
      await promote.getByText(/^Check list of the staging/).waitFor();
      if (version === '2') {
        // What decides it: the verdict on the backtests, both figures, what was changed, the trades.
        const figures = promote.getByRole('region', { name: 'Figures' });
        await figures.getByText('v1 (champion)').waitFor();
        await promote.getByText(/^Confidence .* trades$/).waitFor();
        const changed = promote.getByRole('region', { name: 'Changed settings' });
        expect(await changed.locator('dt').allTextContents()).toEqual(['params.fast']);
        await promote.getByRole('link', { name: 'Trades and report of v2' }).waitFor();
      }
      await promote.getByLabel('Comment').fill('Release of the week');
      expect(await findings()).toEqual([]);
      await promote.getByRole('button', { name: 'Promote' }).click();
      await promote.waitFor({ state: 'detached' });
      await page.locator('[aria-current="step"]', { hasText: 'Production' }).waitFor();
      expect(await productionOf()).toBe(version);
      expect(await problems()).toEqual([]);
      await close();
    }
    const { page, problems, close } = await open('1');
    await page.getByRole('button', { name: 'Roll back' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await dialog.locator('.field-error').waitFor();
    await dialog.getByLabel('Reason').fill('Losses since the release');
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await productionOf()).toBe('1');
    await page.goto(`${dashboard.url}/strategies/ema_crossover`);
    await page.getByText('“Losses since the release”', { exact: true }).waitFor();
    // The champion against the other version, without a choice.
    expect(await page.getByLabel('Champion', { exact: true }).inputValue()).toBe('1');
    expect(await page.getByLabel('Challenger', { exact: true }).inputValue()).toBe('2');
    await page.getByRole('region', { name: 'Metrics of both versions' }).waitFor();
    await page.goto(`${dashboard.url}/strategies/ema_crossover/versions/2`);
    await page.getByRole('heading', { name: 'Difference to the champion, v1' }).waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test('are registered from the page of their strategy, which leads to the new one', async () => {
    const { page, problems, findings, close } = await dashboard.open('/strategies/ema_crossover');
    await page.getByRole('button', { name: 'Register a backtest' }).click();
    const dialog = page.getByRole('dialog');
    const newest = dialog.getByRole('region', { name: 'Newest backtests' }).locator('tbody tr').first();
    expect(await findings()).toEqual([]);
    await newest.focus();
    await page.keyboard.press('Enter');
    await dialog.getByLabel('Description').fill('Registered twice');
    await dialog.getByRole('button', { name: 'Register', exact: true }).click();
    const link = dialog.getByRole('link', { name: /^Open version \d+$/ });
    await link.waitFor();
    expect(await findings()).toEqual([]);
    const version = (await link.textContent())!.replace('Open version ', '');
    await link.click();
    await page.getByRole('heading', { name: `ema_crossover v${version}` }).waitFor();
    await page.getByText('Registered twice').waitFor();
    await page.locator('[aria-current="step"]', { hasText: 'None' }).waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(await problems()).toEqual([]);
    await close();
  });

  test('a strategy without a version says what to do, an unknown one is an error', async () => {
    const { page, problems, findings, close } = await dashboard.open('/strategies/supertrend');
    await page.getByText('No version is registered').waitFor();
    expect(await findings()).toEqual([]);
    await page.getByRole('link', { name: 'New backtest' }).click();
    await page.waitForURL('**/backtests/new?strategy=supertrend');
    await page.goto(`${dashboard.url}/strategies/nowhere`);
    await page.getByRole('alert').getByText('RES002').waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test('the catalog keeps its filters and order in the URL', async () => {
    await seedStaged(dashboard.platform, await seedBacktest(dashboard.platform));
    const { page, problems, close } = await dashboard.open('/strategies?stage=Staging&sort_field=evil');
    const rows = page.getByRole('region', { name: 'Versions in the catalog' }).locator('tbody tr');
    await rows.first().waitFor();
    for (const text of await rows.allTextContents()) expect(text).toContain('Staging');
    await page.getByRole('button', { name: 'Sharpe' }).click();
    await page.waitForURL(/sort_field=sharpe&sort_order=desc/);
    await page.getByLabel('Sharpe ratio, at least').fill('99');
    await page.getByText('No version passes these filters').waitFor();
    await page.waitForURL(/min_sharpe=.*99/);
    await page.getByLabel('Sharpe ratio, at least').fill('many');
    await page.getByText('min_sharpe must be a number').waitFor();
    await page.getByLabel('Sharpe ratio, at least').fill('');
    await rows.first().waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });
});

describe.skipIf(!hasChromium)('a version whose model changes meanwhile', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
  });
  afterAll(() => dashboard?.stop());

  test('a promotion that another change preceded is rejected in words', async () => {
    const { platform } = dashboard;
    const backtest = await seedBacktest(platform);
    const first = await seedProduction(platform, backtest);
    const second = await seedProduction(platform, backtest);
    const third = await seedStaged(platform, backtest);
    const { page, close } = await dashboard.open(`/strategies/ema_crossover/versions/${third}`);
    await page.getByRole('button', { name: 'Promote' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`v${second}`, { exact: true }).waitFor();
    // Meanwhile another user rolls back.
    await platform.post('/api/v1/models/ema_crossover/rollback', { version: first, reason: 'First' });
    await dialog.getByRole('button', { name: 'Promote' }).click();
    await dialog.getByRole('alert').getByText('RES005').waitFor();
    const { body } = await platform.get('/api/v1/models/ema_crossover/production');
    expect(body.version).toBe(first);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Promote');
    await close();
  });
});

describe.skipIf(!hasChromium)('a version that misses the release policy', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'), {
      rules: { releasePolicy: { minTrades: 100_000, lookAheadCertificate: false } },
    });
    await seedVersion(dashboard.platform, await seedBacktest(dashboard.platform));
  });
  afterAll(() => dashboard?.stop());

  test('is rejected with the failed check, which an admin waives with a reason', async () => {
    const { page, problems, findings, close } = await dashboard.open('/strategies/ema_crossover/versions/1');
    await page.getByRole('button', { name: 'Stage' }).click();
    const dialog = page.getByRole('dialog');
    const stage = dialog.getByRole('button', { name: 'Stage', exact: true });
    await stage.click();
    await dialog.getByRole('alert').getByText('RES005').waitFor();
    await dialog.locator('.check-list li', { hasText: 'failed' }).first().waitFor();
    expect(await findings()).toEqual([]);
    for (const box of await dialog.getByRole('checkbox').all()) await box.check();
    await dialog.getByLabel('Reason of the waiver').fill('A trial with few trades');
    await stage.click();
    await dialog.waitFor({ state: 'detached' });
    await page.locator('[aria-current="step"]', { hasText: 'Staging' }).waitFor();
    await page.getByText('“A trial with few trades”').waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });
});
