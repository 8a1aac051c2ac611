import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedBacktest, seedChallenge, seedProduction, seedStaged } from './support/seed.ts';

describe.skipIf(!hasChromium)('a challenge', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    const { platform } = dashboard;
    await seedProduction(platform, await seedBacktest(platform));
    await seedStaged(platform, await seedBacktest(platform, { params: { fast: 12 } }));
  });
  afterAll(() => dashboard?.stop());

  const statusOf = async (id: string) =>
    (await dashboard.platform.strategy.get(`/api/v1/challenges/${id}`)).body.status;

  test('is started from the list', async () => {
    const { page, problems, findings, close } = await dashboard.open('/challenges');
    await page.getByRole('button', { name: 'New challenge' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Strategy').selectOption('ema_crossover');
    await dialog.getByLabel('Challenger', { exact: true }).selectOption('2');
    await dialog.getByText('Rollback, approval and analysis').click();
    await dialog.getByLabel('Trades that count').selectOption('Those of assigned keys');
    expect(await findings()).toEqual([]);
    await dialog.getByRole('button', { name: 'Start the challenge' }).click();
    await page.getByRole('heading', { name: 'ema_crossover: v1 against v2' }).waitFor();
    const { body } = await dashboard.platform.strategy.get('/api/v1/challenges');
    expect(body.items[0]).toMatchObject({ status: 'active', require_assignment: true });
    await page.getByText('Nothing to compare yet: neither version has a closed trade').waitFor();
    // Without trades no figure stands for one.
    expect(await page.getByRole('region', { name: 'Verdict' }).textContent()).not.toContain('0.000');
    await page.getByText('No trade was logged yet').waitFor();
    await page.getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('A trial');
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('heading', { name: 'Stages: rolled back' }).waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test('is held, resumed and rolled back', async () => {
    const id = await seedChallenge(dashboard.platform, '2');
    const { page, problems, close } = await dashboard.open(`/challenges/${id}`);
    const confirm = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name, exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await page.locator('.chart-frame canvas').first().waitFor();
    const improvement = page.locator('.conditions li', { hasText: 'Improvement' });
    // The champion's mean is nearly zero: a percentage of it is no good news.
    expect(await improvement.textContent()).toMatch(/needs over 10 %; not meaningful$/);
    expect(await improvement.getAttribute('class')).toBe('muted');
    await page.getByText(/^Too early to decide: 60 of 100 trades/).waitFor();
    const drawdown = page.getByRole('row', { name: /^Drawdown of the challenger/ });
    expect(await drawdown.textContent()).toContain('no limit');
    const trades = page.getByRole('region', { name: 'Trades of the challenge' }).getByRole('row');
    await trades.first().waitFor();
    // A page of 20 and the head.
    expect(await trades.count()).toBe(21);
    await confirm('Hold');
    await page.getByText('On hold since').waitFor();
    await confirm('Resume');
    await page.getByRole('button', { name: 'Hold', exact: true }).waitFor();
    expect(await statusOf(id)).toBe('active');
    await confirm('Roll back');
    await page.getByRole('heading', { name: 'Stages: rolled back' }).waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test('is promoted when the challenger has won', async () => {
    const id = await seedChallenge(dashboard.platform, '2', { isWon: true });
    expect(await statusOf(id)).toBe('completed');
    const { page, problems, close } = await dashboard.open(`/challenges/${id}`);
    await page.getByRole('button', { name: 'Promote the challenger' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Promote the challenger' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { body } = await dashboard.platform.get('/api/v1/models/ema_crossover/production');
    expect(body.version).toBe('2');
    expect(await problems()).toEqual([]);
    await close();
  });
});
