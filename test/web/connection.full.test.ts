import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { accessClaims, openIssuerKey, signToken } from '../../src/local/issuer-key.ts';
import { hasChromium, launchChromium } from './support/chromium.ts';
import { openPage, startDashboard } from './support/dashboard.ts';
import { startProxy } from './support/proxy.ts';
import { openSections } from './support/sections.ts';
import { seedBacktest } from './support/seed.ts';
import { seedHyperopt } from './support/seed-hyperopt.ts';

const MONTH = { start: '2024-01-01T00:00:00Z', end: '2024-02-01T00:00:00Z' };

describe.skipIf(!hasChromium)('a connection that breaks', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  test('a service that stops leaves the last data with their age, and fresh ones when it is back', async () => {
    const home = mkdtempSync(join(tmpdir(), 'touchstone-restart-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const before = await startDashboard(inject('dashboard'), { home });
    await seedBacktest(before.platform, { date_range: MONTH });
    const { backend_url, strategy_service_url, data_collection_url } = before.platform.info;
    const [backend, strategy, dataCollection] = [backend_url, strategy_service_url, data_collection_url].map(
      (url) => Number(new URL(url).port),
    ) as [number, number, number];
    const { page, close } = await openPage(browser, before.url, '/favicon.svg');
    // The page polls every 20 s, and up to 60 s apart after errors: its clock is put forward.
    await page.clock.install();
    await page.goto(`${before.url}/backtests`);
    const rows = page.locator('tbody tr');
    await expect.poll(() => rows.count()).toBe(1);
    await before.stop();

    const notice = page.getByRole('status').filter({ hasText: 'Not up to date' });
    const later = async (isReached: () => Promise<boolean>) =>
      expect.poll(async () => (await isReached()) || (await page.clock.fastForward(5_000))).toBe(true);
    await later(() => notice.isVisible());
    expect(await notice.textContent()).toMatch(/the last data are from .*Touchstone does not answer/);
    expect(await rows.count()).toBe(1);

    const ports = { backend, strategy, dataCollection };
    const after = await startDashboard(inject('dashboard'), { home, ports });
    onTestFinished(() => after.stop());
    await seedBacktest(after.platform, { date_range: MONTH, strategy: 'supertrend' });
    // Nobody presses "Try again": the page comes back by itself.
    await later(async () => (await rows.count()) === 2);
    await notice.waitFor({ state: 'detached' });
    await close();
  });

  test('a stream that breaks goes on after the last event, without a trial lost or repeated', async () => {
    const dashboard = await startDashboard(inject('dashboard'));
    onTestFinished(() => dashboard.stop());
    const proxy = await startProxy(Number(new URL(dashboard.url).port));
    onTestFinished(() => proxy.stop());
    const id = await seedHyperopt(dashboard.platform, { n_trials: 5_000 });
    const { page, problems, close } = await openPage(browser, proxy.url, '/favicon.svg');
    const lastIds: (string | undefined)[] = [];
    page.on('request', (request) => {
      if (/\/hyperopt\/.*\/events$/.test(request.url())) lastIds.push(request.headers()['last-event-id']);
    });
    await page.goto(`${proxy.url}/hyperopt/${id}?tab=trials`);
    const table = page.getByRole('table').first();
    const rows = async () => Number(await table.getAttribute('aria-rowcount'));
    for (let cut = 0; cut < 3; cut++) {
      // While the stream is broken the rows come from the list: each connection must bring some before it is cut.
      await page.getByText('Live', { exact: true }).waitFor();
      const before = await rows();
      await expect.poll(rows).toBeGreaterThan(before);
      const seen = lastIds.length;
      proxy.cut();
      await expect.poll(() => lastIds.length).toBeGreaterThan(seen);
    }
    // More trials than run meanwhile: the job ends here.
    await dashboard.platform.strategy.post(`/api/v1/hyperopt/${id}/cancel`);
    await dashboard.platform.until(id, 'cancelled');
    await page.getByText('cancelled', { exact: true }).first().waitFor();
    const { trials } = (await dashboard.platform.strategy.get(`/api/v1/hyperopt/${id}`)).body;
    const finished = trials.complete + trials.pruned + trials.failed;
    expect(finished).toBeGreaterThan(3);
    await expect.poll(() => table.getAttribute('aria-rowcount')).toBe(String(finished + 1));
    // Ids of the stream are the places in the order of the ends: each connection continues later than the one before.
    const continued = lastIds.slice(1).map((lastId) => Number(lastId ?? 0));
    expect(continued.length).toBeGreaterThanOrEqual(3);
    expect(continued).toEqual([...continued].sort((a, b) => a - b));
    expect(continued.at(-1)).toBeGreaterThan(0);
    expect((await problems()).filter((problem) => !problem.includes('ERR_'))).toEqual([]);
    await close();
  });

  test('a token that ends meanwhile is asked for, and the page is where it was', async () => {
    const home = mkdtempSync(join(tmpdir(), 'touchstone-ended-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const dashboard = await startDashboard(inject('dashboard'), { home, auth: true });
    onTestFinished(() => dashboard.stop());
    const tokenOf = (lifetime: number) =>
      signToken(
        openIssuerKey(home),
        accessClaims({ user: 'ada', role: 'researcher', lifetime, now: Date.now() }),
      );
    const path = '/backtests?strategy=supertrend&varying=true';
    const { page, problems, findings, close } = await openPage(browser, dashboard.url, path, {
      token: tokenOf(600),
    });
    await page.getByText('No backtest passes these filters').waitFor();
    // The token of the session ends: the next call has none, as after its lifetime.
    await page.evaluate((token) => sessionStorage.setItem('touchstone.token', token), tokenOf(-1));
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    expect(await findings()).toEqual([]);
    await page.getByLabel('Or paste a token').fill(tokenOf(600));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('No backtest passes these filters').waitFor();
    expect(page.url()).toBe(`${dashboard.url}${path}`);

    // What was typed into a form outlives the token too, until it is sent.
    await page.goto(`${dashboard.url}/backtests/new?strategy=ema_crossover`);
    const fast = page.getByRole('textbox', { name: 'fast' });
    await openSections(page);
    await fast.fill('8');
    await page.evaluate((token) => sessionStorage.setItem('touchstone.token', token), tokenOf(-1));
    const run = page.getByRole('button', { name: 'Run the backtest' });
    await run.click();
    await page.getByLabel('Or paste a token').fill(tokenOf(600));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Your values from before are back.').waitFor();
    expect(await fast.inputValue()).toBe('8');
    expect(await page.getByText(/Authorization: Bearer/).count()).toBe(0);
    await page.getByRole('button', { name: 'curl' }).click();
    await page.getByText(/Authorization: Bearer/).waitFor();
    await run.click();
    await page.waitForURL(/\/backtests\/bt-/);
    await page.goto(`${dashboard.url}/backtests/new?strategy=ema_crossover`);
    await openSections(page);
    await fast.waitFor();
    expect(await fast.inputValue()).toBe('');
    expect(await problems()).toEqual([]);
    await close();
  });
});
