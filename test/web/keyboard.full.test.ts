import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { pagesToSee, type Seeded, seed } from './support/pages.ts';

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
] as const;

/** Presses Tab until each stop of the page was reached. Returns stops that were not, and those without a visible focus. */
async function tabThrough(page: Page): Promise<{ unreached: string[]; invisible: string[] }> {
  const count = await page.evaluate(() => {
    const stops = 'a[href], button, input, select, textarea, summary, [tabindex]';
    const isStop = (element: HTMLElement) =>
      element.tabIndex >= 0 &&
      !element.matches(':disabled, [type="radio"]:not(:checked)') &&
      element.checkVisibility({ visibilityProperty: true });
    // An open dialog is all that there is.
    const root = document.querySelector('dialog[open]') ?? document;
    const waiting = new Set([...root.querySelectorAll<HTMLElement>(stops)].filter(isStop));
    const invisible: string[] = [];
    const name = (element: Element) => element.outerHTML.slice(0, 120);
    Object.assign(window, {
      reached: () => ({ unreached: [...waiting].filter((each) => each.isConnected).map(name), invisible }),
    });
    document.addEventListener('focusin', ({ target }) => {
      const element = target as HTMLElement;
      waiting.delete(element);
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
      const isShown =
        (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1) || boxShadow !== 'none';
      if (!isShown || !element.matches(':focus-visible')) invisible.push(name(element));
    });
    return waiting.size;
  });
  const read = () => page.evaluate(() => (window as any).reached());
  // A field for a date has several stops of its own.
  for (let pressed = 0; pressed < 2 * count + 40; pressed++) {
    await page.keyboard.press('Tab');
    if (pressed % 10 === 9 && (await read()).unreached.length === 0) break;
  }
  return read();
}

describe.skipIf(!hasChromium)('by keyboard alone', () => {
  let dashboard: Dashboard;
  let seeded: Seeded;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    seeded = await seed(dashboard.platform);
  });
  afterAll(() => dashboard?.stop());

  test('Tab reaches every control of every page, with a visible focus', async () => {
    for (const { name, path, ready } of pagesToSee(seeded)) {
      const { page, close } = await dashboard.open(path);
      await page.locator(ready).first().waitFor();
      await page.waitForLoadState('networkidle');
      expect(await tabThrough(page), name).toEqual({ unreached: [], invisible: [] });
      await close();
    }
  });

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

  test('each chart has a name with figures, and T shows its numbers', async () => {
    let charts = 0;
    for (const { name, path, ready } of pagesToSee(seeded)) {
      const { page, close } = await dashboard.open(path);
      await page.locator(ready).first().waitFor();
      const unnamed = await page.evaluate(() =>
        [...document.querySelectorAll('canvas')]
          .filter((canvas) => !/\d/.test(canvas.closest('[aria-label]')?.getAttribute('aria-label') ?? ''))
          .map((canvas) => canvas.closest('[class]')?.outerHTML.slice(0, 120)),
      );
      expect(unnamed, name).toEqual([]);
      for (const frame of await page.locator('figure.chart-frame').all()) {
        charts += 1;
        await frame.getByRole('img').first().focus();
        await page.keyboard.press('t');
        await frame.getByRole('table').first().waitFor();
      }
      await close();
    }
    expect(charts).toBeGreaterThan(5);
  });

  test.each(['desktop', 'phone'] as const)(
    'dialogs and popovers open, have no finding in either theme, and give the focus back: %s',
    async (size) => {
      for (const [path, name, open] of OPENERS) {
        const filled = path.replace(/\{(\w+)\}/, (_, key: keyof Seeded) => seeded[key]);
        const { page, problems, findings, isTooWide, changeTheme, close } = await dashboard.open(filled, {
          size,
        });
        const opener = page.getByRole('button', { name }).first();
        await opener.focus();
        await page.keyboard.press('Enter');
        const opened = page.locator(open);
        await opened.waitFor();
        const isInside = await page.evaluate(
          () => document.activeElement?.closest('dialog, [popover]') !== null,
        );
        const dark = await findings();
        await changeTheme('light');
        const seen = {
          isInside: isInside || open !== 'dialog[open]',
          findings: [...dark, ...(await findings())],
          problems: await problems(),
          isTooWide: await isTooWide(),
        };
        expect(seen, `${path} ${name}`).toEqual({
          isInside: true,
          isTooWide: false,
          findings: [],
          problems: [],
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

  test('nothing moves for those who prefer less motion', async () => {
    const { page, close } = await dashboard.open('/favicon.svg');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    // Without a response the placeholders stay.
    for (const path of ['/', '/backtests', '/data']) {
      await page.route('**/api/v1/**', () => {});
      await page.goto(`${dashboard.url}${path}`);
      await page.locator('.skeleton-row, .skeleton').first().waitFor();
      const longest = await page.evaluate(() =>
        Math.max(
          0,
          ...document.getAnimations().map((each) => Number(each.effect?.getComputedTiming().activeDuration)),
        ),
      );
      expect(longest, path).toBeLessThan(1);
      await page.unroute('**/api/v1/**');
    }
    await close();
  });
});
