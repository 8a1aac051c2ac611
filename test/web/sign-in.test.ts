import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { accessClaims, openIssuerKey, signToken, type TokenOptions } from '../../src/local/issuer-key.ts';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { type IdentityProvider, startIdentityProvider } from './support/identity-provider.ts';

describe.skipIf(!hasChromium)('sign-in', () => {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-sign-in-'));
  let dashboard: Dashboard;
  let provider: IdentityProvider;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'), { home, auth: true });
    provider = await startIdentityProvider(home, { user: 'ada', role: 'approver' });
  });
  afterAll(async () => {
    await provider?.stop();
    await dashboard?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  const tokenOf = (role: TokenOptions['role'], lifetime = 600) =>
    signToken(openIssuerKey(home), accessClaims({ user: `${role}@desk`, role, lifetime, now: Date.now() }));

  test('a token in the address signs in, and leaves the address', async () => {
    const { page, problems, close } = await dashboard.open('/nowhere', { token: tokenOf('researcher') });
    await page.getByRole('button', { name: 'researcher@desk' }).click();
    await page.getByText('Role: researcher').waitFor();
    expect(page.url()).toBe(`${dashboard.url}/nowhere`);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('without a token a page asks for one, and goes on to where the user wanted', async () => {
    const { page, problems, findings, close } = await dashboard.open('/nowhere?tab=2');
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    await page.getByText('npx --no-install touchstone open --role viewer').waitFor();
    expect(await findings()).toEqual([]);
    await page.getByLabel('Or paste a token').fill('no token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This is not a token').waitFor();
    await page.getByLabel('Or paste a token').fill(`${tokenOf('viewer').slice(0, -4)}AAAA`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The platform does not accept this token').waitFor();
    await page.getByLabel('Or paste a token').fill(tokenOf('viewer'));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'viewer@desk' }).waitFor();
    expect(page.url()).toBe(`${dashboard.url}/nowhere?tab=2`);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('an identity provider signs in by code and PKCE, and out with the refresh token revoked', async () => {
    const { page, problems, close } = await dashboard.open('/favicon.svg');
    await provider.use(page);
    await page.goto(`${dashboard.url}/nowhere?tab=2`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'ada' }).click();
    await page.getByText('Role: approver').waitFor();
    expect(page.url()).toBe(`${dashboard.url}/nowhere?tab=2`);
    expect(await page.evaluate(() => JSON.stringify([sessionStorage, localStorage]))).not.toContain('eyJ');
    expect(provider.calls).toEqual(['authorization_code']);
    // A new page has no access token in memory: it refreshes once for all of its calls.
    await page.reload();
    await page.getByRole('button', { name: 'ada' }).waitFor();
    expect(provider.calls).toEqual(['authorization_code', 'refresh_token']);
    await page.getByRole('button', { name: 'ada' }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    expect(provider.calls).toEqual(['authorization_code', 'refresh_token', 'revoked']);
    expect((await problems()).filter((problem) => !problem.startsWith('request to another host'))).toEqual(
      [],
    );
    await close();
  });
});
