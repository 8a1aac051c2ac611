import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { plant, plantedMarket, symbolOf } from '../e2e/universe-fixture.ts';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';

/** Holds each pair that it may. */
const STRATEGY = `
export default {
  name: 'holder', description: 'Is always in.', timeframe: '1h', pairs: ['BTC/USDT:USDT'], stakeAmount: 50,
  parameters: {}, startupCandles: () => 2, stoploss: -0.9, orderTypes: { entry: 'market', exit: 'market' },
  indicators: () => ({}),
  signals: ({ timestamp }) => ({ enterLong: new Uint8Array(timestamp.length).fill(1) }),
};
`;
const CONFIG = {
  strategy: 'holder',
  exchange: 'kraken',
  date_range: { start: '2026-02-04T00:00:00.000Z', end: '2026-02-24T00:00:00.000Z' },
  order_types: { entry: 'limit', exit: 'limit' },
  universe: { rule: 'top_volume', n: 6, lookback_days: 7, rebalance: 'daily', min_age_days: 10 },
};

describe.skipIf(!hasChromium)('a universe in the browser', () => {
  const strategies = mkdtempSync(join(tmpdir(), 'touchstone-web-universe-'));
  let dashboard: Dashboard;
  beforeAll(async () => {
    writeFileSync(join(strategies, 'holder.ts'), STRATEGY);
    dashboard = await startDashboard(inject('dashboard'), { strategiesDirectory: strategies });
    await plant(dashboard.platform, 'kraken', plantedMarket());
  });
  afterAll(async () => {
    await dashboard?.stop();
    rmSync(strategies, { recursive: true, force: true });
  });

  test('run is repeated with another haircut; the report says who was in and what a delisting closed', async () => {
    const { job_id } = await dashboard.platform.run(CONFIG);
    const { page, problems, findings, close } = await dashboard.open(`/backtests/new?from=${job_id}`);
    const size = page.getByRole('textbox', { name: 'Largest pairs by volume' });
    expect(await size.inputValue()).toBe('6');
    // Another number is typed where the first one was deleted: the other fields stay.
    await size.fill('');
    await page.getByRole('textbox', { name: 'Days of volume' }).waitFor({ state: 'detached' });
    await size.fill('6');
    await page.getByRole('textbox', { name: 'Delisting haircut' }).fill('0.2');
    expect(await findings()).toEqual([]);
    await page.getByRole('button', { name: 'Run the backtest' }).click();
    await page.waitForURL(/\/backtests\/bt-/);
    await page.getByRole('heading', { name: /^Universe, \d of 7 pairs were in/ }).waitFor();
    await page.getByText('Trades closed by a delisting: 1.').waitFor();
    const members = page.getByRole('region', { name: 'Pairs that were in' });
    expect(await members.textContent()).toContain('DEAD');
    const added = page.getByRole('region', { name: 'What survivorship would have added' });
    expect(await added.textContent()).toContain('Pairs that survived');
    expect(await findings()).toEqual([]);
    const id = page.url().split('/').at(-1);
    const { body: report } = await dashboard.platform.get(`/api/v1/backtests/${id}/report-data`);
    expect(report.settings.universe).toMatchObject({ ...CONFIG.universe, delisting_haircut: 0.2 });
    // The run had limit orders, its strategy has market orders.
    expect(report.settings.order_types).toBeUndefined();
    const closed = report.trades.items.find(({ exit_reason }: any) => exit_reason === 'delisted');
    const { close: last } = plantedMarket()[symbolOf('DEAD')]!.at(-1)!;
    expect(closed.exit_price).toBeCloseTo(last * 0.8, 8);
    expect(await problems()).toEqual([]);
    await close();
  });
});
