import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runScript } from '../support/command.ts';
import { hasChromium } from './support/chromium.ts';
import { HEADINGS, HOSTILE, reportFileScene } from './support/report-file.ts';

describe.skipIf(!hasChromium)('a report as one file', () => {
  const scene = reportFileScene();

  test('the command saves the bytes of the export, which are the same each time', async () => {
    const out = join(scene.home, 'saved.html');
    const { out: printed, err } = await runScript(scene.home, 'bin/touchstone.ts', [
      'report',
      scene.job,
      '--html',
      '--out',
      out,
    ]);
    expect(printed, err).toContain(`Saved ${out}`);
    expect(await readFile(out, 'utf8')).toBe(scene.html);
    expect(scene.html).not.toContain(HOSTILE);
  });

  test.each([
    { size: 'desktop', theme: 'dark' },
    { size: 'phone', theme: 'light' },
  ] as const)('opens from the disk without a request, violation or finding: $size, $theme', async (view) => {
    const { page, problems, findings, isTooWide, layoutShift, close } = await scene.open('report.html', view);
    await page.locator('.chart-candles canvas').first().waitFor();
    await expect.poll(() => page.locator('h2').allTextContents()).toEqual(expect.arrayContaining(HEADINGS));
    expect(await page.getByText(HOSTILE).count()).toBe(1);
    expect(await page.locator('dt').allTextContents()).toEqual(
      expect.arrayContaining(['Trades with another exit, shifted, unmatched']),
    );
    if (view.theme === 'dark') await page.getByRole('button', { name: 'Dark' }).click();
    expect(await page.locator('html').getAttribute('data-theme')).toBe(view.theme);
    expect(await problems()).toEqual([]);
    expect(await findings()).toEqual([]);
    expect(await isTooWide()).toBe(false);
    expect(await layoutShift()).toBeLessThan(0.05);
    await close();
  });
});
