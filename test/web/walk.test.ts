import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { pagesToSee, type Seeded, seed } from './support/pages.ts';

describe.skipIf(!hasChromium)('a walk through every page', () => {
  let dashboard: Dashboard;
  let seeded: Seeded;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    seeded = await seed(dashboard.platform);
  });
  afterAll(() => dashboard?.stop());

  test.each([
    { size: 'desktop', theme: 'dark' },
    { size: 'phone', theme: 'light' },
  ] as const)('no violation, finding or layout shift: $size, $theme', async (view) => {
    for (const { name, path, ready } of pagesToSee(seeded)) {
      const { page, problems, findings, layoutShift, isTooWide, close } = await dashboard.open(path, view);
      await page.locator(ready).first().waitFor();
      const seen = {
        problems: await problems(),
        findings: await findings(),
        isTooWide: await isTooWide(),
        isShifted: (await layoutShift()) >= 0.05,
      };
      expect(seen, name).toEqual({ problems: [], findings: [], isTooWide: false, isShifted: false });
      await close();
    }
  });
});
