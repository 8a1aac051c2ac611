import { expect } from 'vitest';
import type { Dashboard, OpenOptions } from './dashboard.ts';
import type { PageToSee } from './pages.ts';

/** Opens each page and expects no violation of the policy, no finding of axe-core, no sideways scroll and no layout shift. */
export async function walk(
  dashboard: Dashboard,
  pages: readonly PageToSee[],
  view: OpenOptions,
): Promise<void> {
  for (const { name, path, ready } of pages) {
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
}
