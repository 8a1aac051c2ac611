import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { accessClaims, openIssuerKey, signToken, type TokenOptions } from '../../src/local/issuer-key.ts';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { seedBacktest, seedStaged } from './support/seed.ts';

describe.skipIf(!hasChromium)('four eyes in the browser', () => {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-approvals-'));
  const tokenOf = (role: TokenOptions['role']) =>
    signToken(
      openIssuerKey(home),
      accessClaims({ user: `${role}@desk`, role, lifetime: 600, now: Date.now() }),
    );
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'), {
      home,
      auth: true,
      rules: { fourEyesRequired: true },
      token: tokenOf('researcher'),
    });
    const { platform } = dashboard;
    await seedStaged(platform, await seedBacktest(platform));
    await seedStaged(platform, await seedBacktest(platform, { params: { fast: 12 } }));
    const shared = await platform.request('/api/v1/models/ema_crossover/sharing', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ shared_with: [{ principal: 'everyone', level: 'write' }] }),
    });
    expect(shared.status).toBe(200);
  });
  afterAll(async () => {
    await dashboard?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  const openAs = (role: TokenOptions['role'], path: string) => dashboard.open(path, { token: tokenOf(role) });

  async function request(version: string, reason: string) {
    const { page, problems, findings, close } = await openAs(
      'researcher',
      `/strategies/ema_crossover/versions/${version}`,
    );
    await page.getByRole('button', { name: 'Request promotion' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill(reason);
    expect(await findings()).toEqual([]);
    await dialog.getByRole('button', { name: 'Request promotion' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await problems()).toEqual([]);
    await close();
  }

  test('one user requests a promotion, another one approves it with the evidence in view', async () => {
    await request('1', 'Ready since Monday');
    const { page, problems, findings, close } = await openAs('approver', '/');
    const waiting = page.getByRole('region', { name: 'Waiting for you' });
    await waiting.getByRole('link', { name: 'Promote ema_crossover v1' }).waitFor();
    await waiting.getByText('“Ready since Monday”').waitFor();
    expect(await findings()).toEqual([]);
    await waiting.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('region', { name: 'Figures' }).waitFor();
    await dialog.getByText(/^Check list of the staging/).waitFor();
    expect(await findings()).toEqual([]);
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await dialog.waitFor({ state: 'detached' });
    await waiting.getByText('Nothing waits for you').waitFor();
    await page.goto(`${dashboard.url}/strategies/ema_crossover`);
    await page.getByRole('region', { name: 'In Production' }).getByRole('link', { name: 'v1' }).waitFor();
    await page.getByRole('region', { name: 'Requests for approval' }).getByText('approved').waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });

  test('a request is declined with a reason, which its author reads', async () => {
    await request('2', 'It trades more');
    const approver = await openAs('approver', '/strategies/ema_crossover');
    const requests = approver.page.getByRole('region', { name: 'Requests for approval' });
    await requests.getByRole('button', { name: 'Decline' }).click();
    const dialog = approver.page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Decline' }).click();
    await dialog.locator('.field-error').waitFor();
    await dialog.getByLabel('Reason').fill('Its profit factor is below 1');
    await dialog.getByRole('button', { name: 'Decline' }).click();
    await dialog.waitFor({ state: 'detached' });
    await approver.close();
    const author = await openAs('researcher', '/strategies/ema_crossover');
    const theirs = author.page.getByRole('region', { name: 'Requests for approval' });
    await theirs.getByText('“Its profit factor is below 1”').waitFor();
    expect(await author.problems()).toEqual([]);
    await author.close();
  });

  test('a version leaves Production without a successor, with a reason', async () => {
    const { page, problems, findings, close } = await openAs('approver', '/strategies/ema_crossover');
    const production = page.getByRole('region', { name: 'In Production' });
    await production.getByRole('button', { name: 'Stop', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await dialog.locator('.field-error').waitFor();
    await dialog.getByLabel('Reason').fill('Losses since Tuesday');
    expect(await findings()).toEqual([]);
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await dialog.waitFor({ state: 'detached' });
    await production.getByText('No version is in Production').waitFor();
    await production.getByText('“Losses since Tuesday”', { exact: false }).first().waitFor();
    await page.getByText('Release policy: 1 requirement').click();
    await page.getByText('Promoted or approved by another user').waitFor();
    await page.getByLabel('Changes').selectOption('production');
    const history = page.getByRole('region', { name: 'History' });
    await history.getByText('stop v1').waitFor();
    expect(await history.getByText('register').count()).toBe(0);
    await page.goto(`${dashboard.url}/strategies/ema_crossover/versions/1`);
    await page.getByText('Stopped: Losses since Tuesday').waitFor();
    expect(await problems()).toEqual([]);
    await close();
  });
});
