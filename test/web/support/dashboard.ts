import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, BrowserContext, ConsoleMessage, Page } from 'playwright-core';
import { StaticFiles } from '#runtime/static-files.ts';
import { startTestPlatform, type TestPlatform, type TestPlatformOptions } from '../../support/platform.ts';
import { openChromium } from './chromium.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const SIZES = { desktop: [1280, 900], wide: [1920, 1080], phone: [375, 812] } as const;

/** Time for a state that a busy machine reaches late, ms. It only ends a test that would fail. */
export const PATIENCE_MS = 120_000;

export interface OpenOptions {
  readonly size?: keyof typeof SIZES;
  readonly theme?: 'dark' | 'light';
  /** True: a device with a touch screen and without a mouse. */
  readonly isTouched?: boolean;
  /** Token of the session, as `touchstone open` passes it. */
  readonly token?: string;
}

/** A page of the dashboard in a context of its own. */
export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Violations of the content policy and of Trusted Types, faults and error messages of the page so far. */
  problems(): Promise<string[]>;
  /** Findings of axe-core in the page as it stands, one line each. */
  findings(): Promise<string[]>;
  /** Layout shift since the page was opened: the largest session of shifts, as Chrome defines CLS. */
  layoutShift(): Promise<number>;
  /** Texts of charts that reach beyond their canvas, so that a part of them is not seen. */
  cutTexts(): Promise<string[]>;
  /** True if the page scrolls sideways. */
  isTooWide(): Promise<boolean>;
  /** Changes the theme of the system, and waits until all colours have changed. */
  changeTheme(theme: 'dark' | 'light'): Promise<void>;
  close(): Promise<void>;
}

export interface Dashboard {
  readonly platform: TestPlatform;
  readonly url: string;
  /** Opens a path, or a whole URL. */
  open(path: string, options?: OpenOptions): Promise<OpenPage>;
  stop(): Promise<void>;
}

/** A platform that serves the dashboard of `folder`, and a browser. */
export async function startDashboard(folder: string, options: TestPlatformOptions = {}): Promise<Dashboard> {
  const files = await StaticFiles.read(folder);
  const platform = await startTestPlatform({ dashboard: () => ({ status: 'ready', files }), ...options });
  const browser = await openChromium();
  const url = platform.info.backend_url;
  return {
    platform,
    url,
    open: (path, open) => openPage(browser, url, path, open),
    stop: async () => {
      await browser.close();
      await platform.stop();
    },
  };
}

/** Opens a page of a running platform. */
export async function openPage(
  browser: Browser,
  url: string,
  path: string,
  { size = 'desktop', theme = 'dark', token, isTouched = false }: OpenOptions = {},
): Promise<OpenPage> {
  const [width, height] = SIZES[size];
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    hasTouch: isTouched,
    isMobile: isTouched,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url });
  const page = await context.newPage();
  const address = new URL(path, url).href;
  // A file is all that it may load.
  const base = address.startsWith('file:') ? address : url;
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`fault: ${error.message}`));
  page.on('console', (message) => {
    if (isFault(message)) faults.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(base) && !request.url().startsWith('data:')) {
      faults.push(`request to another host: ${request.url()}`);
    }
  });
  await page.addInitScript(observe);
  await page.addInitScript(observeTexts);
  await page.goto(`${address}${token ? `#token=${token}` : ''}`);
  return {
    page,
    context,
    problems: async () => [...(await page.evaluate(() => window.observed.violations)), ...faults],
    findings: () => findingsOf(page),
    layoutShift: () => page.evaluate(() => window.observed.layoutShift()),
    cutTexts: () => page.evaluate(() => window.observed.cutTexts()),
    isTooWide: () =>
      page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth),
    changeTheme: async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await page.evaluate(async () => {
        const transitions = document.getAnimations().filter((each) => each instanceof CSSTransition);
        await Promise.allSettled(transitions.map(({ finished }) => finished));
      });
    },
    close: () => context.close(),
  };
}

/** Chromium also logs responses with an error status, which pages handle. */
function isFault(message: ConsoleMessage): boolean {
  return message.type() === 'error' && !message.text().startsWith('Failed to load resource');
}

declare global {
  interface Window {
    observed: { violations: string[]; layoutShift(): number; cutTexts(): string[] };
    axe: { run(): Promise<AxeResults> };
  }
}

/**
 * Runs in the page before its own scripts: watches the texts that plots and own canvases draw. The candle library cuts labels
 * at the ends of its axes on purpose.
 */
function observeTexts(): void {
  const cut: { canvas: HTMLCanvasElement; width: number; text: string }[] = [];
  const draw = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
    draw.call(this, text, x, y, ...rest);
    const { actualBoundingBoxLeft: left, actualBoundingBoxRight: right } = this.measureText(text);
    const { canvas } = this;
    const transform = this.getTransform();
    const ends = [x - left, x + right].map((end) => transform.transformPoint({ x: end, y }).x);
    // Smoothing may reach one pixel further.
    if (Math.min(...ends) < -1 || Math.max(...ends) > canvas.width + 1)
      cut.push({ canvas, width: canvas.width, text });
  };
  window.observed.cutTexts = () =>
    cut
      .filter(
        // What was drawn for another size of the canvas is gone.
        ({ canvas, width }) => width === canvas.width && canvas.closest('.uplot, .own-canvas') !== null,
      )
      .map(({ text }) => text);
}

/** Runs in the page before its own scripts. */
function observe(): void {
  const violations: string[] = [];
  const shifts: { at: number; value: number }[] = [];
  document.addEventListener('securitypolicyviolation', (event) =>
    violations.push(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
  );
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & {
      value: number;
      hadRecentInput: boolean;
    })[]) {
      if (!entry.hadRecentInput) shifts.push({ at: entry.startTime, value: entry.value });
    }
  }).observe({ type: 'layout-shift', buffered: true });
  window.observed = {
    violations,
    cutTexts: () => [],
    layoutShift: () => {
      // https://web.dev/articles/cls: sessions of at most 5 s with gaps of less than 1 s.
      let most = 0;
      let session = { start: 0, last: 0, sum: 0 };
      for (const { at, value } of shifts) {
        const isSame = at - session.last < 1_000 && at - session.start < 5_000;
        session = isSame
          ? { ...session, last: at, sum: session.sum + value }
          : { start: at, last: at, sum: value };
        most = Math.max(most, session.sum);
      }
      return most;
    },
  };
}

async function findingsOf(page: Page): Promise<string[]> {
  // Evaluated, since the policy refuses a script tag.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  );
}
