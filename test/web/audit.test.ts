import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { csvCell } from '../../web/src/pages/audit/csv.ts';
import { auditQuery, readAuditSearch } from '../../web/src/pages/audit/search.ts';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedBacktest, seedChallenge, seedProduction, seedStaged } from './support/seed.ts';

const MONTH = { start: '2024-01-01T00:00:00Z', end: '2024-02-01T00:00:00Z' };

test('a range of days is sent with its last day inside, and the day of an old link is such a range', () => {
  const days = { from: '2026-11-20T00:00:00Z', to: '2026-12-01T00:00:00.000Z', routine: false };
  expect(auditQuery(readAuditSearch({ from: '2026-11-20', to: '2026-11-30' }))).toEqual(days);
  const one = { from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00.000Z', routine: false };
  expect(auditQuery(readAuditSearch({ day: '2026-11-20' }))).toEqual(one);
  expect(auditQuery(readAuditSearch({ from: 'yesterday', to: '2026-99-99' }))).toEqual({ routine: false });
});

test.each([
  [null, ''],
  ['plain', 'plain'],
  ['a "b", c', '"a ""b"", c"'],
  ['two\nlines', '"two\nlines"'],
  ['=HYPERLINK("http://x")', `"'=HYPERLINK(""http://x"")"`],
  ['@SUM(1)', "'@SUM(1)"],
  [200, '200'],
])('cell of %j', (value, cell) => {
  expect(csvCell(value)).toBe(cell);
});

describe.skipIf(!hasChromium)('the audit page', () => {
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'));
    const { platform } = dashboard;
    await seedProduction(platform, await seedBacktest(platform, { date_range: MONTH }));
    const faster = await seedBacktest(platform, { date_range: MONTH, params: { fast: 12 } });
    await seedChallenge(platform, await seedStaged(platform, faster));
  });
  afterAll(() => dashboard?.stop());

  test('shows model and version, hides routine calls until they are asked for, and saves what it lists', async () => {
    const { page, findings, problems, close } = await dashboard.open('/audit');
    const rows = page.getByRole('region', { name: 'Audit trail' }).locator('tbody tr');
    const promotion = rows.filter({ hasText: 'promoteVersion' });
    await promotion.waitFor();
    expect(await promotion.locator('td').nth(4).textContent()).toBe('ema_crossover');
    expect(await promotion.locator('td').nth(5).textContent()).toBe('1');
    expect(await rows.filter({ hasText: 'logTrades' }).count()).toBe(0);
    expect(await findings()).toEqual([]);
    const shown = await rows.count();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const lines = (await text(await (await saved).createReadStream())).trimEnd().split('\r\n');
    expect(lines).toHaveLength(shown + 1);
    expect(lines[0]).toMatch(
      /^at,ended_at,outcome,status,code,operation,principal,roles,model_name,version,/,
    );
    expect(lines.join()).not.toContain('logTrades');
    await page.getByRole('button', { name: 'Routine calls' }).click();
    await page.waitForURL(/routine=true/);
    await expect.poll(() => rows.filter({ hasText: 'logTrades' }).count()).toBe(6);
    // Before the platform was there: a range without a call.
    await page.getByLabel('From, UTC day').fill('2024-01-01');
    await page.getByLabel('To, UTC day').fill('2024-01-10');
    await page.getByText('No call passes these filters').waitFor();
    expect(page.url()).toContain('from=2024-01-01&to=2024-01-10');
    await page.getByLabel('To, UTC day').fill('2024-03-10');
    await page.getByText(/at most 31 days apart/).waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });
});
