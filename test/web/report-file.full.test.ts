import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { StaticFiles } from '#runtime/static-files.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { strategyFolder } from '../support/strategies.ts';
import { hasChromium } from './support/chromium.ts';
import { HEADINGS, HOSTILE, reportFileScene } from './support/report-file.ts';
import { seedBacktest } from './support/seed.ts';

describe('a report of many trades as one file', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    const files = await StaticFiles.read(inject('dashboard'));
    platform = await startTestPlatform({ dashboard: () => ({ status: 'ready', files }) });
  });
  afterAll(() => platform?.stop());

  test('10,000 trades take at most 1.5 MB', async () => {
    const job = await seedBacktest(platform, {
      pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT', 'SOL/USDT:USDT'],
      timeframe: '5m',
      params: { fast: 5, slow: 50 },
    });
    const { body } = await platform.get(`/api/v1/backtests/${job}`);
    const trades: number = body.result.total_trades;
    expect(trades).toBeGreaterThan(9_000);
    const file = await fetch(`${platform.info.backend_url}/api/v1/backtests/${job}/export?format=html`);
    // For each trade, because the number of trades is not exactly 10,000.
    expect(((await file.arrayBuffer()).byteLength / trades) * 10_000).toBeLessThan(1_500_000);
  });
});

/** Two trades of a strategy with hostile texts. */
const TAGGED = `export default {
  name: 'hostile_tags', description: ${JSON.stringify(HOSTILE)}, timeframe: '1h', pairs: ['BTC/USDT:USDT'],
  stakeAmount: 100, parameters: {}, startupCandles: () => 1, stoploss: -0.99,
  indicators: () => ({}),
  signals(candles) {
    const [enterLong, enterTag, exitLong] = [0, 0, 0].map(() => new Uint8Array(candles.timestamp.length));
    enterLong[10] = enterLong[30] = enterTag[10] = exitLong[20] = exitLong[40] = 1;
    enterTag[30] = 2;
    return { enterLong, enterTag, exitLong, tags: ['', ${JSON.stringify(HOSTILE)}, '<!-- " '] };
  },
};
`;

describe.skipIf(!hasChromium)('what a report as one file shows', () => {
  const { folder, add } = strategyFolder();
  add('hostile_tags.ts', TAGGED);
  const scene = reportFileScene({ strategiesDirectory: folder });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('tags and descriptions of a strategy are text', async () => {
    const job = await seedBacktest(scene.dashboard.platform, {
      strategy: 'hostile_tags',
      pairs: ['BTC/USDT:USDT'],
      params: {},
    });
    const html = await scene.exported(job);
    expect(html).not.toContain('<img src=x');
    await scene.save('tags.html', html);
    const { page, problems, close } = await scene.open('tags.html');
    await page.getByRole('tab', { name: 'Enter tag' }).click();
    await page.getByRole('tabpanel').getByText(HOSTILE).waitFor();
    expect(await page.locator('img[src=x]').count()).toBe(0);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('the largest trade is selected, and another one shows its candles or that the file has none', async () => {
    const { page, problems, close } = await scene.open('report.html');
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
    const { page, close } = await scene.open('report.html', { theme: 'light' });
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
    const none = await seedBacktest(scene.dashboard.platform, {
      date_range: { start: '2024-01-01T00:00:00Z', end: '2024-01-02T00:00:00Z' },
    });
    const small = await scene.exported(none);
    expect(small).not.toContain('id="candles"');
    expect(Buffer.byteLength(small)).toBeLessThan(250_000);
    await scene.save('small.html', small);
    const { page, problems, close } = await scene.open('small.html');
    await page.getByText('This backtest made no trade').waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test('a file that is cut off says so', async () => {
    await scene.save('cut.html', scene.html.replace(/(id="data">.{2000})[^<]*/, '$1'));
    const { page, close } = await scene.open('cut.html');
    await page.getByText('The file is damaged or incomplete').waitFor();
    await close();
  });
});
