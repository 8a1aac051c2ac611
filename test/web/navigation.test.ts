import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedBacktest } from './support/seed.ts';

const MONTH = { start: '2024-01-01T00:00:00Z', end: '2024-02-01T00:00:00Z' };

describe.skipIf(!hasChromium)('the frame of every page', () => {
  let dashboard: Dashboard;
  let id: string;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    id = await seedBacktest(dashboard.platform, { date_range: MONTH });
  });
  afterAll(() => dashboard?.stop());

  test.each(['/', '/backtests', '/backtests/new', '/audit', '/sign-in'])(
    'the first Tab of %s reaches the link that skips to the page',
    async (path) => {
      for (const size of ['desktop', 'phone'] as const) {
        const { page, close } = await dashboard.open(path, { size });
        await page.locator('main h1').first().waitFor();
        await page.keyboard.press('Tab');
        const skip = page.getByRole('link', { name: 'Skip to the page' });
        expect(await skip.evaluate((link) => link === document.activeElement)).toBe(true);
        expect((await skip.boundingBox())!.y).toBeGreaterThanOrEqual(0);
        await page.keyboard.press('Enter');
        await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('page');
        await close();
      }
    },
  );

  /** Pixels between a popover and its button: 0 where they overlap in that direction. */
  async function distances(popover: Locator, button: Locator) {
    const [a, b] = [(await popover.boundingBox())!, (await button.boundingBox())!];
    const between = (from: number, to: number, start: number, end: number) =>
      Math.round(Math.max(0, start - to, from - end) * 100) / 100;
    return {
      x: between(a.x, a.x + a.width, b.x, b.x + b.width),
      y: between(a.y, a.y + a.height, b.y, b.y + b.height),
    };
  }

  test.each(['desktop', 'phone'] as const)(
    'popovers open at their buttons and inside of the window: %s',
    async (size) => {
      const { page, close } = await dashboard.open(`/backtests/${id}`, { size });
      const open = page.locator('[popover]:popover-open');
      const expectAt = async (button: Locator) => {
        await expect.poll(() => distances(open, button)).toEqual({ x: 0, y: 6 });
        const { x, y, width, height } = (await open.boundingBox())!;
        const window = page.viewportSize()!;
        expect(Math.min(x, y, window.width - x - width, window.height - y - height)).toBeGreaterThanOrEqual(
          0,
        );
      };
      const tile = page.getByRole('region', { name: 'Key figures' }).getByRole('button').nth(1);
      // A script opens it, so the browser knows no button of it.
      await tile.hover();
      await expectAt(tile);
      await page.mouse.move(0, 0);
      await expect.poll(() => open.count()).toBe(0);
      for (const name of ['anonymous', 'Export']) {
        await page.getByRole('button', { name }).click();
        await expectAt(page.getByRole('button', { name }));
        await page.mouse.wheel(0, 30);
        await expectAt(page.getByRole('button', { name }));
        await page.keyboard.press('Escape');
      }
      await close();
    },
  );

  test('on a phone a button lists every page, by keyboard as well', async () => {
    const { page, findings, problems, isTooWide, close } = await dashboard.open('/backtests', {
      size: 'phone',
    });
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await page.getByRole('heading', { name: 'Backtests' }).waitFor();
    expect(await pages.getByRole('link', { name: 'Audit' }).isVisible()).toBe(false);
    await pages.getByRole('button', { name: 'Pages' }).focus();
    await page.keyboard.press('Enter');
    await pages.getByRole('link', { name: 'Audit' }).waitFor();
    expect(await pages.getByRole('link').allInnerTexts()).toEqual(
      expect.arrayContaining(['Home', 'Backtests', 'Strategies', 'Hyperopt', 'Challenges', 'Data', 'Audit']),
    );
    expect(await findings()).toEqual([]);
    expect(await isTooWide()).toBe(false);
    await page.keyboard.press('Escape');
    expect(await pages.getByRole('link', { name: 'Audit' }).isVisible()).toBe(false);
    await pages.getByRole('button', { name: 'Pages' }).click();
    await pages.getByRole('link', { name: 'Audit' }).click();
    await page.waitForURL('**/audit');
    expect(await pages.getByRole('link', { name: 'Home' }).isVisible()).toBe(false);
    await page.getByRole('heading', { name: 'Audit', exact: true }).waitFor();
    // The bar is one line, and the page begins below it.
    expect((await page.locator('main h1').boundingBox())!.y).toBeLessThan(100);
    const [bar, menu] = [page.locator('header.top'), pages];
    expect((await bar.boundingBox())!.y).toBe((await menu.boundingBox())!.y);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('on a wide screen every page is in view, without a button', async () => {
    const { page, close } = await dashboard.open('/backtests');
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await pages.getByRole('link', { name: 'Audit' }).waitFor();
    expect(await pages.getByRole('button').count()).toBe(0);
    await close();
  });

  test('a platform that does not answer is one banner, and the page comes back by itself', async () => {
    const opened = await dashboard.open('/favicon.svg');
    const { page, findings, close } = opened;
    await page.clock.install();
    await page.goto(dashboard.url);
    await page.getByText('healthy').first().waitFor();
    await page.route('**/services/**', (route) => route.abort());
    await page.goto(`${dashboard.url}/backtests/${id}`);
    const banner = page.getByRole('status').filter({ hasText: 'Touchstone does not answer' });
    const later = (isReached: () => Promise<boolean>) =>
      expect
        .poll(async () => {
          const isDone = await isReached();
          if (!isDone) await page.clock.fastForward(5_000);
          return isDone;
        })
        .toBe(true);
    await later(() => banner.isVisible());
    await page.goto(dashboard.url);
    await later(() => banner.isVisible());
    await later(async () => (await page.getByText('Not loaded yet').count()) > 1);
    expect(await page.getByText('Touchstone does not answer').count()).toBe(1);
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(1);
    expect(await findings()).toEqual([]);
    await page.unroute('**/services/**');
    await later(async () => !(await banner.isVisible()));
    await later(async () => (await page.getByText('Not loaded yet').count()) === 0);
    await page.getByText('healthy').first().waitFor();
    await close();
  });
});
