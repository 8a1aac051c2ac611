import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedBacktest } from './support/seed.ts';

/** The strategy of the section "Position adjustment" in docs/writing-strategies.md. */
const SOURCE = /```ts\n([^`]+name: 'my_ladder'[^`]+)```/.exec(
  readFileSync(new URL('../../docs/writing-strategies.md', import.meta.url), 'utf8'),
)![1]!;

describe.skipIf(!hasChromium)('the report of a run with adjusted trades and protections', () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-adjusted-'));
  writeFileSync(join(folder, 'my_ladder.ts'), SOURCE);
  let dashboard: Dashboard;
  let id: string;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'), { strategiesDirectory: folder });
    id = await seedBacktest(dashboard.platform, {
      strategy: 'my_ladder',
      date_range: { start: '2024-01-01T00:00:00Z', end: '2024-04-01T00:00:00Z' },
      protections: [{ method: 'CooldownPeriod', stop_duration_candles: 2 }],
    });
  });
  afterAll(async () => {
    await dashboard?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('an adjusted trade lists its orders below its candles', async () => {
    const { items } = (await dashboard.platform.get(`/api/v1/backtests/${id}/trades?limit=1000`)).body;
    const adjusted = items.find(({ orders }: any) => orders);
    const { page, problems, findings, close } = await dashboard.open(`/backtests/${id}?trade=${adjusted.id}`);
    const orders = page.getByRole('region', { name: `Orders of trade ${adjusted.id}` });
    const rows = orders.locator('tr[aria-rowindex]');
    await rows.first().waitFor();
    const texts = await rows.filter({ hasText: /entry|exit/ }).allTextContents();
    expect(texts).toHaveLength(adjusted.orders.length);
    for (const [index, { side, tag, amount, placed_at, filled_at }] of adjusted.orders.entries()) {
      const [placed, filled] = [placed_at, filled_at].map((time) => time.slice(0, 16).replace('T', ' '));
      expect(texts[index]).toContain(`${placed}${filled}`);
      expect(texts[index]).toContain(side);
      expect(texts[index]).toContain(tag ?? '–');
      // Three figures of an amount of bitcoin, which is below 0.001.
      expect(texts[index]).toContain(String(Number(amount.toPrecision(3))));
    }
    await page.locator('.chart-candles canvas').first().waitFor();
    expect(await findings()).toEqual([]);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('locks are listed with reason, pair and times', async () => {
    const { locks } = (await dashboard.platform.get(`/api/v1/backtests/${id}/report-data?trades=false`)).body;
    const { page, problems, findings, close } = await dashboard.open(`/backtests/${id}`);
    await page.getByRole('heading', { name: `Locks by protections, ${locks.total}` }).waitFor();
    const row = page.getByRole('region', { name: 'Locks' }).locator('tr[aria-rowindex]').filter({
      hasText: 'CooldownPeriod: a trade was closed',
    });
    await row.first().scrollIntoViewIfNeeded();
    expect(await row.first().textContent()).toMatch(/^(BTC|ETH)\/USDT.*2024-.*2024-.*both$/);
    expect(await findings()).toEqual([]);
    expect(await problems()).toEqual([]);
    await close();
  });
});
