import { afterAll, beforeAll, describe, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { pagesToSee, type Seeded, seed } from './support/pages.ts';
import { walk } from './support/walk.ts';

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
    const pages = pagesToSee(seeded).filter(({ isState }) => !isState);
    await walk(dashboard, pages, view);
  });
});
