import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { accessClaims, openIssuerKey, signToken, type TokenOptions } from '../../src/local/issuer-key.ts';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';

describe.skipIf(!hasChromium)('the data page for each role', () => {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-data-page-'));
  let dashboard: Dashboard;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'), { home, auth: true });
  });
  afterAll(async () => {
    await dashboard?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  const tokenOf = (role: TokenOptions['role']) =>
    signToken(openIssuerKey(home), accessClaims({ user: role, role, lifetime: 600, now: Date.now() }));

  test('viewer sees why nothing can be collected, researcher collects', async () => {
    const viewer = await dashboard.open('/data', { token: tokenOf('viewer') });
    await viewer.page.getByText('No candles of sim are stored yet').waitFor();
    const collect = viewer.page.getByTitle('Needs the role researcher').first();
    await collect.waitFor();
    expect(await collect.isDisabled()).toBe(true);
    expect(await viewer.findings()).toEqual([]);
    await viewer.close();

    const researcher = await dashboard.open('/data?collect=ADA/USDT:USDT+1d&from=2026-01-01', {
      token: tokenOf('researcher'),
    });
    await researcher.page.getByRole('button', { name: 'Start the collection' }).click();
    await researcher.page.getByLabel('Selected collection').getByText('completed').waitFor();
    expect(await researcher.problems()).toEqual([]);
    await researcher.close();
  });

  test('failed request shows its message and another try', async () => {
    const { page, findings, close } = await dashboard.open('/favicon.svg');
    await page.route('**/api/v1/coverage*', (route) => route.abort());
    await page.goto(`${dashboard.url}/data#token=${tokenOf('viewer')}`);
    await page.getByText('This could not be loaded').waitFor();
    await page.getByText('Touchstone does not answer').waitFor();
    expect(await findings()).toEqual([]);
    await page.unroute('**/api/v1/coverage*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Coverage' }).waitFor();
    await close();
  });
});
