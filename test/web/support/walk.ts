import { expect } from 'vitest';
import type { Dashboard, OpenOptions } from './dashboard.ts';
import type { PageToSee } from './pages.ts';

/** Opens each page and expects no violation of the policy, no finding of axe-core, no sideways scroll, no cut text and no layout shift. */
export async function walk(
  dashboard: Dashboard,
  pages: readonly PageToSee[],
  view: OpenOptions,
): Promise<void> {
  for (const { name, path, ready } of pages) {
    const { page, problems, findings, layoutShift, isTooWide, cutTexts, close } = await dashboard.open(
      path,
      view,
    );
    await page.locator(ready).first().waitFor();
    const seen = {
      problems: await problems(),
      findings: await findings(),
      isTooWide: await isTooWide(),
      cutTexts: await cutTexts(),
      isShifted: (await layoutShift()) >= 0.05,
    };
    const good = { problems: [], findings: [], isTooWide: false, cutTexts: [], isShifted: false };
    expect(seen, name).toEqual(good);
    await close();
  }
}
