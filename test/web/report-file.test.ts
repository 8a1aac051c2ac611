import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { runScript } from '../support/command.ts';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, type OpenOptions, startDashboard } from './support/dashboard.ts';
import { seedBacktest } from './support/seed.ts';

/** Headings of the report, in its order. */
const HEADINGS = [
  ...['Equity and drawdown', 'Monthly returns, %', 'Trades, USDT', 'Distribution of the results'],
  ...['Trades by group, USDT', 'Drawdowns, USDT', 'Costs, USDT', 'Provenance'],
];
/** Ends a script and a title, and runs a script, wherever it is not text. */
const HOSTILE = '</script></title><img src=x onerror=alert(1)>$&';

describe.skipIf(!hasChromium)('a report as one file', () => {
  let dashboard: Dashboard;
  let home: string;
  let job: string;
  let html: string;

  const exported = async (id: string) =>
    (await fetch(`${dashboard.url}/api/v1/backtests/${id}/export?format=html`)).text();
  const open = (file: string, options?: OpenOptions) =>
    dashboard.open(pathToFileURL(join(home, file)).href, options);
  async function save(file: string, text: string): Promise<void> {
    await writeFile(join(home, file), text);
  }

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'touchstone-report-'));
    dashboard = await startDashboard(inject('dashboard'), { home });
    job = await seedBacktest(dashboard.platform, {}, { experiment_name: HOSTILE });
    html = await exported(job);
    await save('report.html', html);
  });
  afterAll(async () => {
    await dashboard?.stop();
    await rm(home, { recursive: true });
  });

  test('the command saves the bytes of the export, which are the same each time', async () => {
    const out = join(home, 'saved.html');
    const { out: printed, err } = await runScript(home, 'bin/touchstone.ts', [
      'report',
      job,
      '--html',
      '--out',
      out,
    ]);
    expect(printed, err).toContain(`Saved ${out}`);
    expect(await readFile(out, 'utf8')).toBe(html);
    expect(html).not.toContain(HOSTILE);
  });

  test.each([
    { size: 'desktop', theme: 'dark' },
    { size: 'phone', theme: 'light' },
  ] as const)('opens from the disk without a request, violation or finding: $size, $theme', async (view) => {
    const { page, problems, findings, isTooWide, layoutShift, close } = await open('report.html', view);
    await page.locator('.chart-candles canvas').first().waitFor();
    await expect.poll(() => page.locator('h2').allTextContents()).toEqual(expect.arrayContaining(HEADINGS));
    expect(await page.getByText(HOSTILE).count()).toBe(1);
    if (view.theme === 'dark') await page.getByRole('button', { name: 'Dark' }).click();
    expect(await page.locator('html').getAttribute('data-theme')).toBe(view.theme);
    expect(await problems()).toEqual([]);
    expect(await findings()).toEqual([]);
    expect(await isTooWide()).toBe(false);
    expect(await layoutShift()).toBeLessThan(0.05);
    await close();
  });

  test('the largest trade is selected, and another one shows its candles or that the file has none', async () => {
    const { page, problems, close } = await open('report.html');
    const trades = page.getByRole('region', { name: 'List of trades' });
    await page.locator('.chart-candles canvas').first().waitFor();
    expect(await trades.locator('tr[aria-selected=true]').count()).toBe(1);
    await trades.getByRole('button', { name: 'Profit', exact: true }).click();
    await trades.locator('tbody tr').nth(2).click();
    await page.locator('.chart-candles canvas').first().waitFor();
    // The smallest results are in the middle of the order.
    await trades.evaluate((box) => box.scrollTo(0, box.scrollHeight * 0.4));
    await trades.locator('tbody tr').nth(6).click();
    await page.getByText('This file has no candles here').waitFor();
    await page.getByLabel('Side', { exact: true }).selectOption('long');
    await expect.poll(() => trades.getByText('↓ short').count()).toBe(0);
    await page.getByRole('button', { name: 'Market', exact: true }).click();
    await page.getByRole('button', { name: 'Market', exact: true, pressed: true }).waitFor();
    expect(await page.getByRole('button', { name: 'Candles', exact: true }).isDisabled()).toBe(true);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('prints all sections on A4', async () => {
    const { page, close } = await open('report.html', { theme: 'light' });
    await page.locator('.chart-candles canvas').first().waitFor();
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
    expect(pdf).toMatch(/MediaBox \[0 0 594\.\d+ 841\.\d+\]/);
    expect(Number(/\/Count (\d+)/.exec(pdf)![1])).toBeGreaterThan(1);
    await page.emulateMedia({ media: 'print' });
    for (const heading of HEADINGS) {
      expect(await page.getByRole('heading', { name: heading }).first().isVisible(), heading).toBe(true);
    }
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false);
    await close();
  });

  test('a report without trades has no library for candles and at most 250 KB', async () => {
    const none = await seedBacktest(dashboard.platform, {
      date_range: { start: '2024-01-01T00:00:00Z', end: '2024-01-02T00:00:00Z' },
    });
    const small = await exported(none);
    expect(small).not.toContain('id="candles"');
    expect(Buffer.byteLength(small)).toBeLessThan(250_000);
    await save('small.html', small);
    const { page, problems, close } = await open('small.html');
    await page.getByText('This backtest made no trade').waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test('a file that is cut off says so', async () => {
    await save('cut.html', html.replace(/(id="data">.{2000})[^<]*/, '$1'));
    const { page, close } = await open('cut.html');
    await page.getByText('The file is damaged or incomplete').waitFor();
    await close();
  });
});
