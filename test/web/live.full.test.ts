import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedHyperopt } from './support/seed-hyperopt.ts';

/** Milliseconds of live data, and between two announcements. */
const TIMES = { live: 10_000, pause: 5_000 } as const;

declare global {
  interface Window {
    /** Times at which a live region got another text. */
    spoken: number[];
  }
}

/** Runs in the page: notes each change of a live region that was there before. */
function listen(): void {
  window.spoken = [];
  new MutationObserver((records) => {
    const live =
      '[aria-live="polite"], [aria-live="assertive"], [role="status"], [role="alert"], [role="log"]';
    const isSpoken = records.some(({ target }) => {
      const element = target instanceof Element ? target : target.parentElement;
      return element?.closest(live);
    });
    if (isSpoken) window.spoken.push(performance.now());
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}

/** Runs in the page: resolves after `duration`. */
function pass(duration: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, duration));
}

describe.skipIf(!hasChromium)('live data', () => {
  let dashboard: Dashboard;
  let job: string;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    // More trials than run meanwhile.
    job = await seedHyperopt(dashboard.platform, { n_trials: 5_000 });
    for (let index = 0; index < 6; index++) {
      await dashboard.platform.post('/api/v1/backtests', {
        config: {
          strategy: 'ema_crossover',
          pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
          timeframe: '1h',
          date_range: { start: '2023-01-01T00:00:00Z', end: '2025-01-01T00:00:00Z' },
          params: { fast: 8 + index },
        },
      });
    }
  });
  afterAll(() => dashboard?.stop());

  test.each(['desktop', 'phone'] as const)(
    'for 10 s in each theme nothing shifts, and live regions speak at most once in 5 s: %s',
    async (size) => {
      const trials = async () => {
        const { body } = await dashboard.platform.strategy.get(`/api/v1/hyperopt/${job}`);
        expect(body.status).toMatch(/pending|running/);
        return body.trials.complete + body.trials.pruned + body.trials.failed;
      };
      await expect.poll(trials).toBeGreaterThan(0);
      const before = await trials();
      const paths = ['/', '/backtests', '/hyperopt', `/hyperopt/${job}`, `/hyperopt/${job}?tab=trials`];
      const opened = await Promise.all(paths.map((path) => dashboard.open(path, { size })));
      for (const { page } of opened) await page.locator('main .status:visible').first().waitFor();
      await Promise.all(opened.map(({ page }) => page.evaluate(listen)));
      for (const theme of ['dark', 'light'] as const) {
        await Promise.all(opened.map(({ changeTheme }) => changeTheme(theme)));
        await Promise.all(opened.map(({ page }) => page.evaluate(pass, TIMES.live)));
      }
      // The pages had something to show, and to say, meanwhile.
      await opened[3]!.page.waitForFunction(() => window.spoken.length >= 2);
      await expect.poll(trials).toBeGreaterThan(before + 3);
      for (const [index, { page, problems, layoutShift, close }] of opened.entries()) {
        const spoken = await page.evaluate(() => window.spoken);
        const pauses = spoken.slice(1).map((at, each) => at - spoken[each]!);
        const shift = await layoutShift();
        const seen = {
          problems: await problems(),
          // Timers end a few milliseconds early or late.
          early: pauses.filter((pause) => pause < TIMES.pause - 50),
          shift: shift < 0.05 ? 0 : shift,
        };
        expect(seen, paths[index]).toEqual({ problems: [], early: [], shift: 0 });
        await close();
      }
    },
  );
});
