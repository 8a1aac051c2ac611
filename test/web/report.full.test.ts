import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedBacktest } from './support/seed.ts';

describe.skipIf(!hasChromium)('what can be done with a backtest', () => {
  let dashboard: Dashboard;
  let id: string;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    id = await seedBacktest(dashboard.platform);
  });
  afterAll(() => dashboard?.stop());

  test('an unfinished backtest shows its step, and Cancel ends it', async () => {
    // Without slots the job waits.
    const full = await startDashboard(inject('dashboard'), { concurrency: 0 });
    onTestFinished(() => full.stop());
    const { body: job } = await full.platform.post('/api/v1/backtests', {
      config: { strategy: 'supertrend' },
    });
    const { page, problems, findings, close } = await full.open(`/backtests/${job.job_id}`);
    await page.getByRole('progressbar', { name: 'Progress of the backtest' }).waitFor();
    expect(await page.locator('[aria-current="step"]').count()).toBe(1);
    expect(await findings()).toEqual([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('This backtest was cancelled').waitFor();
    expect((await full.platform.get(`/api/v1/backtests/${job.job_id}`)).body.status).toBe('cancelled');
    expect(await problems()).toEqual([]);
    await close();
  });

  test('a backtest without trades says so', async () => {
    const none = await seedBacktest(dashboard.platform, {
      strategy: 'rsi_mean_reversion',
      pairs: ['BTC/USDT:USDT'],
      date_range: { start: '2024-01-01T00:00:00Z', end: '2024-01-01T06:00:00Z' },
    });
    const { page, problems, findings, close } = await dashboard.open(`/backtests/${none}`);
    await page.getByText('This backtest made no trade').waitFor();
    await page.getByText('The entry conditions were never met.').waitFor();
    expect(await findings()).toEqual([]);
    expect(await problems()).toEqual([]);
    await close();
    const poor = await seedBacktest(dashboard.platform, {
      date_range: { start: '2024-01-01T00:00:00Z', end: '2024-02-01T00:00:00Z' },
      tradable_balance_ratio: 0.0001,
      slippage_model: { impact: 1 },
    });
    const other = await dashboard.open(`/backtests/${poor}`);
    await other.page.getByText(/gave \d+ entry signals, and none became a trade/).waitFor();
    await other.page.getByText('0 (–)', { exact: true }).waitFor();
    expect(await other.problems()).toEqual([]);
    await other.close();
  });

  test('every number of the report is on its page', async () => {
    const run = await seedBacktest(dashboard.platform, {
      date_range: { start: '2024-01-01T00:00:00Z', end: '2024-05-01T00:00:00Z' },
      slippage_model: { spread: 'corwin_schultz', impact: 1, participation: 0.0005 },
      robustness: { cost_sweep: true, random_entries: 19, permutations: 19, capacity: true },
    });
    const { page, problems, findings, isTooWide, close } = await dashboard.open(`/backtests/${run}`);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('heading', { name: 'Times of the task', exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Regimes', exact: true }).waitFor();
    await page.getByRole('heading', { name: 'Capacity, wallets in USDT', exact: true }).waitFor();
    expect(await findings()).toEqual([]);
    expect(await isTooWide()).toBe(false);
    const shown = numbersIn((await page.locator('body').ariaSnapshot()).replaceAll('"', ''));
    const { body } = await dashboard.platform.get(`/api/v1/backtests/${run}/report-data?trades=false`);
    const { settings, trades, definitions, schema_version, ...report } = body;
    // Only the rows in view of a long table are drawn.
    for (const name of ['day', 'week']) report.periods[name].length = 5;
    const minutes = Object.keys(definitions).filter((name) => definitions[name].unit === 'minutes');
    const missing = leavesOf(report).filter(
      ([path, number]) => !minutes.includes(path.split('.').at(-1)!) && !isAmong(number, shown),
    );
    expect(missing).toEqual([]);
    expect(leavesOf(report).length).toBeGreaterThan(400);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('informative series that the strategy read are listed, and only for such a strategy', async () => {
    // The hours of 2024 are stored by the other backtest.
    const filtered = await seedBacktest(dashboard.platform, {
      strategy: 'rsi_mean_reversion',
      pairs: ['BTC/USDT:USDT'],
      timeframe: '15m',
      date_range: { start: '2024-02-01T00:00:00Z', end: '2024-02-08T00:00:00Z' },
    });
    const { page, problems, findings, close } = await dashboard.open(`/backtests/${filtered}`);
    const table = page.getByRole('region', { name: 'Series that the strategy read' });
    await table.scrollIntoViewIfNeeded();
    const row = table.locator('tr[aria-rowindex]').first();
    await expect.poll(() => row.textContent()).toMatch(/^BTC\/USDT.*1hstored\d+0/);
    expect(await findings()).toEqual([]);
    expect(await problems()).toEqual([]);
    await close();
    const plain = await dashboard.open(`/backtests/${id}`);
    await plain.page.getByRole('region', { name: 'List of trades' }).waitFor();
    expect(await plain.page.getByRole('region', { name: 'Series that the strategy read' }).count()).toBe(0);
    await plain.close();
  });

  test('an unknown backtest shows message, code and correlation id', async () => {
    const { page, close } = await dashboard.open('/backtests/bt-01UNKNOWN');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(/RES001 · correlation id/);
    await close();
  });

  test('a threshold that the backtest misses is named in the form, then a registration succeeds', async () => {
    const { page, problems, findings, close } = await dashboard.open(`/backtests/${id}`);
    await page.getByRole('button', { name: 'Register' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Sharpe ratio, at least').fill('99');
    expect(await findings()).toEqual([]);
    await dialog.getByRole('button', { name: 'Register' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByRole('alert').textContent()).toContain('VAL005');
    await dialog.getByLabel('Sharpe ratio, at least').fill('-99');
    await dialog.getByRole('button', { name: 'Register' }).click();
    await dialog.getByRole('status').waitFor();
    const { body } = await dashboard.platform.get('/api/v1/models/ema_crossover/versions/1');
    expect(body.backtest_run_id).toBe(id);
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await problems()).toEqual([]);
    await close();
  });

  test.each([
    ['Trades as CSV', /\.csv$/, /^id,pair,side,/],
    ['Report as JSON', /\.json$/, /"schema_version"/],
    ['Trades as Parquet', /\.parquet$/, /^PAR1/],
  ])('export saves %s', async (title, name, content) => {
    const { page, problems, close } = await dashboard.open(`/backtests/${id}`);
    await page.getByRole('button', { name: 'Export' }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: title }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toMatch(name);
    const [start] = await file.createReadStream().then((stream) => once(stream, 'data'));
    expect((start as Buffer).toString('latin1').slice(0, 500)).toMatch(content);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('zooming out loads candles to the start of the run, with the cursor over them', async () => {
    const { page, problems, close } = await dashboard.open(`/backtests/${id}`);
    const url = page.url();
    // Answers to this page end with it: only those of the next one are read.
    await page.goto('about:blank');
    let loaded = 0;
    page.on('response', async (response) => {
      if (response.url().includes('/candles?')) loaded += (await response.json()).count;
    });
    await page.goto(url);
    const chart = page.getByRole('region', { name: 'Candles' }).getByRole('img');
    await chart.locator('canvas').first().waitFor();
    await chart.focus();
    await chart.hover();
    await expect
      .poll(async () => {
        await page.keyboard.press('-');
        return loaded;
      })
      .toBe(366 * 24);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('equity keeps the zoom between days and candles', async () => {
    const { page, problems, close } = await dashboard.open(`/backtests/${id}`);
    const equity = page.getByRole('region', { name: 'Equity', exact: true });
    await equity.getByRole('img').locator('canvas').first().waitFor();
    await equity.getByRole('button', { name: 'Zoom in' }).click();
    const isZoomed = async () =>
      (await equity.getByRole('button', { name: 'Reset the zoom' }).getAttribute('aria-disabled')) ===
      'false';
    await expect.poll(isZoomed).toBe(true);
    for (const resolution of ['Candles', 'Daily']) {
      const before = await equity.locator('.report-points').textContent();
      await equity.getByRole('button', { name: resolution, exact: true }).click();
      await expect.poll(() => equity.locator('.report-points').textContent()).not.toBe(before);
      expect(await isZoomed()).toBe(true);
    }
    await equity.getByRole('button', { name: 'Reset the zoom' }).click();
    await expect.poll(isZoomed).toBe(false);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('trades with long tags load in the smaller pages that the service asks for', async () => {
    const { page, close } = await dashboard.open('/backtests');
    const limits = new Set<string>();
    await page.route('**/trades?*', async (route) => {
      const limit = new URL(route.request().url()).searchParams.get('limit')!;
      limits.add(limit);
      if (Number(limit) <= 20) return route.continue();
      const message =
        'limit must be at most 20: these trades have long tags or many orders, and the page would exceed 5 MB';
      const detail = {
        code: 'VAL005',
        message,
        field: 'limit',
        context: { value: Number(limit), min: 1, max: 20 },
      };
      return route.fulfill({ status: 400, json: { detail } });
    });
    await page.goto(`${dashboard.url}/backtests/${id}`);
    const { total_trades } = (await dashboard.platform.get(`/api/v1/backtests/${id}`)).body.result;
    expect(total_trades).toBeGreaterThan(20);
    // Rows without a position stand for trades that load.
    await page.getByRole('region', { name: 'Trades' }).locator('tr[aria-rowindex]').nth(1).waitFor();
    await expect.poll(() => [...limits]).toEqual(['5000', '20']);
    expect(await page.getByText('VAL005').count()).toBe(0);
    await close();
  });

  test('a chart zooms by its buttons and by two fingers, and keeps the zoom under its table', async () => {
    const { page, context, problems, close } = await dashboard.open(`/backtests/${id}`);
    const equity = page.getByRole('region', { name: 'Equity', exact: true });
    const chart = equity.getByRole('img');
    await chart.locator('canvas').first().waitFor();
    const reset = equity.getByRole('button', { name: 'Reset the zoom' });
    const isZoomed = () => expect.poll(async () => (await reset.getAttribute('aria-disabled')) === 'false');
    await isZoomed().toBe(false);
    await equity.getByRole('button', { name: 'Zoom in' }).click();
    await isZoomed().toBe(true);
    await chart.focus();
    await page.keyboard.press('t');
    await equity.getByRole('table').waitFor();
    await page.keyboard.press('t');
    await equity.getByRole('table').waitFor({ state: 'detached' });
    expect(await chart.evaluate((element) => element === document.activeElement)).toBe(true);
    await isZoomed().toBe(true);
    await reset.click();
    await isZoomed().toBe(false);

    const plot = (await chart.locator('.u-over').first().boundingBox())!;
    const fingers = await context.newCDPSession(page);
    await fingers.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 2 });
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...shares: number[]) =>
      fingers.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: shares.map((share) => ({
          x: plot.x + plot.width * share,
          y: plot.y + plot.height / 2,
        })),
      });
    await touch('touchStart', 0.4, 0.6);
    await touch('touchMove', 0.2, 0.8);
    await touch('touchEnd');
    await isZoomed().toBe(true);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('a grant with an invalid principal is rejected at its field; a valid one is stored', async () => {
    const { page, problems, close } = await dashboard.open(`/backtests/${id}`);
    await page.getByRole('button', { name: 'Share' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Add' }).click();
    const principal = dialog.getByLabel('Principal');
    await principal.fill('ada');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expect.poll(() => principal.getAttribute('aria-invalid')).toBe('true');
    await principal.fill('user:ada');
    await dialog.getByLabel('Access').selectOption('write');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { body } = await dashboard.platform.get(`/api/v1/backtests/${id}/sharing`);
    expect(body.shared_with).toEqual([{ principal: 'user:ada', level: 'write' }]);
    expect(await problems()).toEqual([]);
    await close();
  });
});

/** Numbers in a text with the count of their decimals. */
function numbersIn(text: string): readonly (readonly [number, number])[] {
  return [...text.matchAll(/−?\d[\d,]*(?:\.(\d+))?/g)].map(([found, decimals = '']) => [
    Number(found.replaceAll(',', '').replace('−', '-')),
    decimals.length,
  ]);
}

/** True if the number is shown, rounded, with at least two significant figures. */
function isAmong(number: number, shown: ReturnType<typeof numbersIn>): boolean {
  return shown.some(([each, decimals]) => {
    const error = Math.abs(Math.abs(each) - Math.abs(number));
    return error <= 0.500001 * 10 ** -decimals && error <= Math.max(Math.abs(number) * 0.05, 1e-9);
  });
}

/** Numbers of an object with their dotted paths. */
function leavesOf(value: unknown, path = ''): readonly (readonly [string, number])[] {
  if (typeof value === 'number') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => leavesOf(each, path ? `${path}.${name}` : name));
}
