import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { busyOverview } from './support/overview.ts';

describe.skipIf(!hasChromium)('the dashboard in a browser', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
  });
  afterAll(() => dashboard?.stop());

  test('home shows the health of every dependency, and what to do where there is nothing', async () => {
    const { page, problems, close } = await dashboard.open('/');
    await page.getByRole('heading', { name: 'Backtests', exact: true }).waitFor();
    await page.getByText('healthy').first().waitFor();
    await page.getByText('Nothing runs').waitFor();
    await page.getByText('No candles are stored').waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test.each(['desktop', 'phone'] as const)(
    'home shows what moves, waits and is missing: %s',
    async (size) => {
      const opened = await dashboard.open('/favicon.svg', { size });
      const { page, findings, isTooWide, layoutShift, close } = opened;
      const answer = Promise.withResolvers<void>();
      await page.route('**/api/v1/overview', async (route) => {
        await answer.promise;
        await route.fulfill({ json: busyOverview() });
      });
      await page.goto(dashboard.url);
      const head = page.getByRole('heading', { name: 'Health' });
      await page.getByText('healthy').first().waitFor();
      const before = await head.boundingBox();
      answer.resolve();
      await page.getByRole('progressbar').first().waitFor();
      // Nothing moves when the data come.
      expect(await head.boundingBox()).toEqual(before);
      expect(await layoutShift()).toBeLessThan(0.05);
      expect(await findings()).toEqual([]);
      expect(await isTooWide()).toBe(false);
      const rowsOf = (name: string) =>
        page.getByRole('region', { name: `Content of ${name}`, exact: true }).getByRole('listitem');
      const moving = await rowsOf('Running and waiting').allInnerTexts();
      expect(moving.join()).toContain('42 %');
      const ended = (await rowsOf('Ended last').allInnerTexts()).join();
      expect(ended).toContain('−3.46 %');
      // Those that wait for somebody come first.
      const challenges = await rowsOf('Challenges').allInnerTexts();
      expect(challenges.map((text) => text.includes('waits for'))).toEqual([true, true, false]);
      await page.getByText('Not read in time: Collections.').first().waitFor();
      await page.getByText('Not read in time: Freshness.').waitFor();
      await close();
    },
  );

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
