/**
 * Screenshots of every page of a seeded platform, in the folder `dashboard` of the docs, at three widths, dark and light:
 * `npm run screenshots`.
 * `--only <name>` makes those whose name starts so; `--url <address> --path <path>` those of a page of a running platform.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildDashboard } from './support/build.ts';
import { launchChromium } from './support/chromium.ts';
import { openPage, SIZES, startDashboard } from './support/dashboard.ts';
import { type PageToSee, pagesToSee, seed } from './support/pages.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    url: { type: 'string' },
    path: { type: 'string', default: '/' },
    out: { type: 'string', default: join(import.meta.dirname, '../../docs/dashboard') },
  },
});

/** Widths and themes of each page. */
const VIEWS = (['wide', 'desktop', 'phone'] as const).flatMap((size) =>
  (['dark', 'light'] as const).map((theme) => ({ size, theme })),
);

async function take(url: string, pages: readonly PageToSee[]): Promise<void> {
  const browser = await launchChromium();
  mkdirSync(values.out, { recursive: true });
  try {
    for (const { name, path, ready } of pages.filter((each) => each.name.startsWith(values.only))) {
      for (const view of VIEWS) {
        const { page, close, problems } = await openPage(browser, url, path, view);
        await page.locator(ready).first().waitFor();
        // Parts below the fold load when they come into view.
        const height = await page.evaluate(() => document.documentElement.scrollHeight);
        await page.setViewportSize({ width: SIZES[view.size][0], height });
        await page.waitForFunction(() => document.querySelector('.skeleton') === null);
        const file = `${name}-${SIZES[view.size][0]}-${view.theme}.png`;
        await page.screenshot({ path: join(values.out, file), fullPage: true });
        for (const problem of await problems()) console.log(`${file}: ${problem}`);
        await close();
      }
      console.log(name);
    }
  } finally {
    await browser.close();
  }
}

if (values.url) {
  await take(values.url, [{ name: values.only || 'page', path: values.path, ready: 'main h1' }]);
} else {
  const dashboard = await startDashboard(await buildDashboard());
  try {
    await take(dashboard.url, pagesToSee(await seed(dashboard.platform)));
  } finally {
    await dashboard.stop();
  }
}
