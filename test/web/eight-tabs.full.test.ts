import type { BrowserContext, Page, Request } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, PATIENCE_MS, startDashboard } from './support/dashboard.ts';
import { seedBacktest } from './support/seed.ts';
import { seedHyperopt } from './support/seed-hyperopt.ts';

/** Streams of jobs that the pages of a context hold. */
function watchStreams(context: BrowserContext) {
  const open = new Map<Request, Page>();
  let most = 0;
  const isStream = (request: Request) => request.url().endsWith('/api/v1/events');
  context.on('request', (request) => {
    if (!isStream(request)) return;
    const page = request.frame().page();
    open.set(request, page);
    page.once('close', () => open.delete(request));
    most = Math.max(most, open.size);
  });
  context.on('requestfinished', (request) => void open.delete(request));
  context.on('requestfailed', (request) => void open.delete(request));
  return {
    most: () => most,
    /** The only stream, once there is one that is not `before`. */
    one: async (before?: Request) =>
      vi.waitUntil(
        () => {
          const [request, ...others] = open.keys();
          return request && others.length === 0 && request !== before ? request : undefined;
        },
        { timeout: PATIENCE_MS },
      ),
  };
}

/** Makes a page believe that it is hidden, as behind another tab. */
async function hide(page: Page): Promise<void> {
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  });
}

/** A call of the page that was answered: those that it made before have been sent. */
const answered = (page: Page) => page.evaluate(() => fetch('/config.json').then(() => undefined));

/** Intervals of polling in which the next poll must happen. */
const POLLS = 5;

describe.skipIf(!hasChromium)('eight tabs of a browser', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    // Something moves all the time: one process runs less than these trials, however long a busy machine takes for the tests.
    await seedHyperopt(dashboard.platform, { n_trials: 10_000, workers: 1 });
  });
  afterAll(() => dashboard?.stop());

  test('a tab polls while there is no stream, and hardly while there is one', async () => {
    const { url } = dashboard;
    const isList = (address: string) => /\/api\/v1\/hyperopt\?/.test(address);
    const openList = async (isRefused: boolean) => {
      const opened = await dashboard.open('/favicon.svg');
      const { page } = opened;
      await page.clock.install();
      if (isRefused) {
        await page.route('**/api/v1/events', (route) => route.fulfill({ status: 404, json: {} }));
      }
      const answer = page.waitForResponse('**/api/v1/events');
      await page.goto(`${url}/hyperopt`);
      await page.locator('tbody tr').first().waitFor();
      await answer;
      return opened;
    };
    const polling = await openList(true);
    const { page: refused } = polling;
    for (let times = 0; times < 3; times += 1) {
      let isPolled = false;
      const polled = refused
        .waitForResponse((response) => isList(response.url()))
        .then(() => {
          isPolled = true;
        });
      // The next poll is planned once the page has taken the last answer, which a busy machine delays.
      for (let run = 0; run < POLLS && !isPolled; run += 1) {
        await refused.clock.runFor(2_000);
        await answered(refused);
      }
      await polled;
    }
    await polling.close();

    const { page, close } = await openList(false);
    await page.clock.runFor(1_000);
    let count = 0;
    page.on('request', (request) => {
      if (isList(request.url())) count += 1;
    });
    for (let times = 0; times < 6; times += 1) {
      await page.clock.runFor(2_000);
      await answered(page);
    }
    expect(count).toBeLessThanOrEqual(2);
    await close();
  });

  test('hold one stream, which another tab takes over', { timeout: 3 * PATIENCE_MS }, async () => {
    const { platform, url } = dashboard;
    const opened = await dashboard.open('/favicon.svg');
    const { context } = opened;
    const streams = watchStreams(context);
    const pages = [opened.page];
    while (pages.length < 8) pages.push(await context.newPage());
    for (const page of pages) await page.goto(url);
    for (const page of pages) await page.getByText('running').first().waitFor();

    const first = await streams.one();
    const holder = first.frame().page();
    // The others hear it: a tab that opens later begins a stream anew.
    const waiting = () => holder.evaluate(async () => (await navigator.locks.query()).pending?.length);
    await expect.poll(waiting).toBe(pages.length - 1);

    // A job of the command line appears in every tab.
    const job = await seedBacktest(platform, { params: { fast: 9 } });
    for (const page of pages) await page.locator(`a[href*="${job}"]`).first().waitFor();

    await holder.close();
    const second = await streams.one(first);
    expect(second.frame().page()).not.toBe(holder);
    // It continues where the other ended.
    expect(await second.headerValue('last-event-id')).toMatch(/^\d{13},.*ho-/);

    await hide(second.frame().page());
    const third = await streams.one(second);
    expect(third.frame().page()).not.toBe(second.frame().page());
    expect(await third.headerValue('last-event-id')).toMatch(/^\d{13},.*ho-/);

    // Also while tabs were opened and closed.
    expect(streams.most()).toBe(1);
    await opened.close();
  });
});
