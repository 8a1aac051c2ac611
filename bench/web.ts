import { rmSync } from 'node:fs';
import { loadavg } from 'node:os';
import type { Browser, Page } from 'playwright-core';
import { StaticFiles } from '#runtime/static-files.ts';
import { startTestPlatform } from '../test/support/platform.ts';
import { buildDashboard } from '../test/web/support/build.ts';
import { launchChromium } from '../test/web/support/chromium.ts';
import { seedBacktest } from '../test/web/support/seed.ts';
import { seedHyperopt } from '../test/web/support/seed-hyperopt.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { median } from './support/measure.ts';
import { scaled } from './support/quick.ts';
import { answerCoverage, answerReport, replayTrials, SIZES } from './support/web-data.ts';
import { type Frames, framesOf, recordFrames } from './support/web-frames.ts';

const SIZE = { width: 1280, height: 900 };
const CHART = '.chart-pane canvas';
const CANDLES = '.chart-candles canvas';
const TRADES = '.report-trades';
const ROW = `${TRADES} tr[aria-rowindex]`;
const MAP = '.cover-map tr[aria-rowindex]';
/** Inputs of a measurement; a frame has at most one. */
const INPUTS = scaled(120, 8);
/** Targets of frames in ms, on two idle cores. A display shows a frame each 16.7 ms. */
const TARGETS = { median: 17, p95: 50 } as const;

/** Opens a page with the recorder. */
async function open(
  browser: Browser,
  url: string,
  prepare: (page: Page) => Promise<void> = async () => {},
): Promise<Page> {
  const page = await (await browser.newContext({ viewport: SIZE, colorScheme: 'dark' })).newPage();
  await prepare(page);
  await page.addInitScript(recordFrames, [CHART, CANDLES, ROW, MAP]);
  await page.goto(url);
  return page;
}

const close = (page: Page) => page.context().close();

function quantile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
}

/** Moves the mouse from one point to another, one step for each input. */
async function move(page: Page, from: readonly [number, number], to: readonly [number, number]) {
  for (let i = 0; i <= INPUTS; i++) {
    const at = i / INPUTS;
    await page.mouse.move(from[0] + (to[0] - from[0]) * at, from[1] + (to[1] - from[1]) * at);
  }
}

async function boxOf(page: Page, selector: string) {
  const element = page.locator(selector).first();
  await element.scrollIntoViewIfNeeded();
  return (await element.boundingBox())!;
}

/** Moves the mouse over an element from its left to its right. */
async function hover(page: Page, selector: string): Promise<void> {
  const { x, y, width, height } = await boxOf(page, selector);
  await move(page, [x + width * 0.1, y + height / 2], [x + width * 0.9, y + height / 2]);
}

/** Drags an element to the left and back to the right. */
async function drag(page: Page, selector: string): Promise<void> {
  const { x, y, width, height } = await boxOf(page, selector);
  const ends = [0.7, 0.4].map((at) => [x + width * at, y + height / 2] as const);
  await page.mouse.move(...ends[0]!);
  await page.mouse.down();
  await move(page, ends[0]!, ends[1]!);
  await move(page, ends[1]!, ends[0]!);
  await page.mouse.up();
}

async function scroll(page: Page, selector: string, pixels: number): Promise<void> {
  const { x, y, width, height } = await boxOf(page, selector);
  await page.mouse.move(x + width / 2, y + height / 2);
  for (let i = 0; i < INPUTS; i++) await page.mouse.wheel(0, pixels);
}

/** Presses keys on the chart of a canvas, `times` over. */
async function press(page: Page, selector: string, keys: readonly string[], times = 1): Promise<void> {
  const chart = page.locator('.chart-body', { has: page.locator(selector) }).first();
  await chart.focus();
  for (let i = 0; i < times; i++) {
    for (const key of keys) {
      await page.keyboard.press(key);
      // The next key starts from the view that this one leads to.
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
  }
}

/** The machine's own bound: frames of a page that does nothing, and of one that fills a canvas of the size of a chart. */
async function boundOf(browser: Browser, fills: boolean): Promise<Frames> {
  const page = await open(browser, 'about:blank');
  await page.evaluate((isFilling) => {
    if (!isFilling) return;
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [1_100, 320];
    document.body.append(canvas);
    const context = canvas.getContext('2d')!;
    const draw = () => {
      context.fillStyle = '#101418';
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.beginPath();
      // As many lines as uPlot draws for any number of points: several for each column of pixels.
      for (let i = 0; i < canvas.width * 4; i++) context.lineTo(i / 4, 160 + 150 * Math.sin(i * i));
      context.strokeStyle = '#4aa3ff';
      context.stroke();
      requestAnimationFrame(draw);
    };
    draw();
  }, fills);
  const frames = await framesOf(page, () => move(page, [100, 100], [1_000, 300]));
  await close(page);
  return frames;
}

/** Median and 95th percentile of frames, the median with its ratio to the bound. */
function rowsOf(label: string, { intervals, blockedMs }: Frames, boundMs: number): Measurement[] {
  const middle = median(intervals);
  const worst = quantile(intervals, 0.95);
  const load = `load average ${loadavg()[0]!.toFixed(1)}`;
  return [
    {
      label: `${label}, frame`,
      value: middle,
      unit: 'ms',
      target: { atMost: TARGETS.median },
      detail: `${(middle / boundMs).toFixed(2)} of the bound, ${intervals.length} frames, blocked ${blockedMs.toFixed(0)} ms; ${load}`,
    },
    { label: `${label}, p95`, value: worst, unit: 'ms', target: { atMost: TARGETS.p95 } },
  ];
}

/** Time to the first element of a selector, and total blocking time until then and two seconds later. */
async function loadOf(page: Page, label: string, selector: string): Promise<Measurement> {
  await page.locator(selector).first().waitFor();
  await page.waitForTimeout(2_000);
  const { seen, blocked } = await page.evaluate(() => ({
    seen: window.frames_.seen,
    blocked: window.frames_.blocked(),
  }));
  return {
    label: `${label}, time until it shows`,
    value: seen[selector]!,
    unit: 'ms',
    detail: `total blocking time of the page ${blocked.toFixed(0)} ms; load average ${loadavg()[0]!.toFixed(1)}`,
  };
}

async function reportRows(page: Page, boundMs: number): Promise<Measurement[]> {
  const measure = async (label: string, act: () => Promise<void>) =>
    rowsOf(label, await framesOf(page, act), boundMs);
  const loads = [
    await loadOf(page, `equity of ${SIZES.points} points`, CHART),
    await loadOf(page, `table of ${SIZES.trades} trades`, ROW),
    await loadOf(page, `${SIZES.candles} candles`, CANDLES),
  ];
  await press(page, CHART, ['Escape']);
  const equity = [
    ...(await measure('equity hovered', () => hover(page, CHART))),
    ...(await measure('equity zoomed in and out', () =>
      press(page, CHART, ['+', '+', '-', '-'], INPUTS / 4),
    )),
    ...(await measure('equity zoomed and reset', () => press(page, CHART, ['+', 'Escape'], INPUTS / 2))),
  ];
  // From the first 165 candles to 2,640, and from there to all 100,000.
  await press(page, CANDLES, ['-'], 4);
  const near = await measure('candles panned at 2,600', () => drag(page, CANDLES));
  await press(page, CANDLES, ['-'], 6);
  await press(page, CANDLES, ['ArrowLeft'], 3);
  const far = await measure('candles and trades panned, all in view', () => drag(page, CANDLES));
  const table = [
    ...(await measure('trade rows scrolled', () => scroll(page, `${TRADES} .virtual`, 300))),
    ...(await measure('trade rows sorted', async () => {
      const titles = page.locator(`${TRADES} thead button`);
      for (let i = 0; i < 24; i++) await titles.nth(i % 6).click();
    })),
  ];
  return [...loads, ...equity, ...near, ...far, ...table];
}

async function replayRows(page: Page, boundMs: number): Promise<Measurement[]> {
  await page.waitForFunction(() => 'replay' in window);
  const frames = await framesOf(page, async () => {
    await page.evaluate(() => window.replay());
    await page.waitForFunction(
      (sent) => document.documentElement.dataset.replayed === String(sent),
      SIZES.trials,
    );
  });
  await page
    .getByText(/1,000 finished/)
    .first()
    .waitFor();
  return rowsOf(`${SIZES.trials} trials replayed`, frames, boundMs);
}

export default {
  name: 'web',
  description: 'frames of the dashboard in headless Chromium, over the real pages with generated answers',
  async run() {
    const folder = await buildDashboard();
    const files = await StaticFiles.read(folder);
    const platform = await startTestPlatform({ dashboard: () => ({ status: 'ready', files }) });
    const browser = await launchChromium();
    try {
      const url = platform.info.backend_url;
      const backtest = await seedBacktest(platform);
      const hyperopt = await seedHyperopt(platform);
      await platform.until(hyperopt, 'completed');
      const idle = await boundOf(browser, false);
      const filling = await boundOf(browser, true);
      const boundMs = median(filling.intervals);
      const rows: Measurement[] = [
        ...rowsOf('bound: an empty page', idle, boundMs),
        ...rowsOf('bound: a canvas filled and stroked', filling, boundMs),
      ];
      const end = Date.UTC(2025, 0) / 1_000;
      const report = await open(browser, `${url}/backtests/${backtest}?candles=true`, (page) =>
        answerReport(page, end),
      );
      rows.push(...(await reportRows(report, boundMs)));
      await close(report);
      const replay = await open(browser, `${url}/hyperopt/${hyperopt}`, async (page) => {
        await page.addInitScript(replayTrials, SIZES.trials);
      });
      rows.push(...(await replayRows(replay, boundMs)));
      await close(replay);
      const data = await open(browser, `${url}/data`, answerCoverage);
      rows.push(await loadOf(data, `coverage of ${SIZES.series} series`, MAP));
      const scrolled = await framesOf(data, () => scroll(data, '.cover-map', 120));
      rows.push(...rowsOf('coverage scrolled', scrolled, boundMs));
      await close(data);
      return rows;
    } finally {
      await browser.close();
      await platform.stop();
      rmSync(folder, { recursive: true });
    }
  },
} satisfies Bench;
