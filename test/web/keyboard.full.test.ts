import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { type Seeded, seed } from './support/pages.ts';

/** A button that opens a dialog or a popover, by page. */
const OPENERS = [
  ['/', 'anonymous', '[popover]:popover-open'],
  ['/backtests', 'Columns', 'dialog[open]'],
  ['/backtests', 'Note and tags', 'dialog[open]'],
  ['/backtests/new', 'Pairs: ', '[popover]:popover-open'],
  ['/backtests/{backtest}', 'Export', '[popover]:popover-open'],
  ['/backtests/{backtest}', 'Share', 'dialog[open]'],
  ['/backtests/{backtest}', 'Register', 'dialog[open]'],
  ['/strategies/ema_crossover/versions/2', 'Promote', 'dialog[open]'],
  ['/challenges', 'New challenge', 'dialog[open]'],
  ['/challenges/{challenge}', 'Roll back', 'dialog[open]'],
  ['/data', 'Collect candles', 'dialog[open]'],
  ['/data', 'Import files', 'dialog[open]'],
] as const;

describe.skipIf(!hasChromium)('by keyboard alone', () => {
  let dashboard: Dashboard;
  let seeded: Seeded;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    seeded = await seed(dashboard.platform);
  });
  afterAll(() => dashboard?.stop());

  test('arrow keys lead through a list of trades, and Enter selects', async () => {
    const { page, close } = await dashboard.open(`/backtests/${seeded.backtest}`);
    const rows = page.getByRole('region', { name: 'List of trades' }).locator('tr[aria-rowindex]');
    await rows.nth(3).waitFor();
    expect(await page.locator('.report-trades tr[tabindex="0"]').count()).toBe(1);
    const index = () => page.evaluate(() => document.activeElement?.getAttribute('aria-rowindex'));
    await page.locator('.report-trades tr[tabindex="0"]').focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(index).toBe('3');
    await page.keyboard.press('End');
    const { trades } = (await dashboard.platform.get(`/api/v1/backtests/${seeded.backtest}/report-data`))
      .body;
    await expect.poll(index).toBe(String(trades.total + 1));
    await page.keyboard.press('Home');
    await expect.poll(index).toBe('2');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/trade=2\b/);
    await close();
  });

  test.each([
    { size: 'desktop', theme: 'dark' },
    { size: 'desktop', theme: 'light' },
    { size: 'phone', theme: 'dark' },
    { size: 'phone', theme: 'light' },
  ] as const)(
    'dialogs and popovers open, hold no fault, and give the focus back: $size, $theme',
    async (view) => {
      for (const [path, name, open] of OPENERS) {
        const filled = path.replace(/\{(\w+)\}/, (_, key: keyof Seeded) => seeded[key]);
        const { page, problems, findings, isTooWide, close } = await dashboard.open(filled, view);
        const opener = page.getByRole('button', { name }).first();
        await opener.focus();
        await page.keyboard.press('Enter');
        const opened = page.locator(open);
        await opened.waitFor();
        const isInside = await page.evaluate(
          () => document.activeElement?.closest('dialog, [popover]') !== null,
        );
        const seen = {
          isInside: isInside || open !== 'dialog[open]',
          findings: await findings(),
          problems: await problems(),
          isTooWide: await isTooWide(),
        };
        expect(seen, `${path} ${name}`).toEqual({
          ...{ isInside: true, isTooWide: false },
          ...{ findings: [], problems: [] },
        });
        await page.keyboard.press('Escape');
        await opened.waitFor({ state: 'hidden' });
        expect(
          await opener.evaluate((element) => element === document.activeElement),
          `${path} ${name}`,
        ).toBe(true);
        await close();
      }
    },
  );
});
