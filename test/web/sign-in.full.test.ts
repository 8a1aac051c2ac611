import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { accessClaims, openIssuerKey, signToken, type TokenOptions } from '../../src/local/issuer-key.ts';
import { hasChromium } from './support/chromium.ts';
import { type Dashboard, startDashboard } from './support/dashboard.ts';
import { type IdentityProvider, startIdentityProvider } from './support/identity-provider.ts';
import { seedBacktest, seedStaged } from './support/seed.ts';

const ROLES = ['viewer', 'researcher', 'approver', 'admin'] as const;

/** A button of a page, and the role that it needs. */
const BUTTONS = [
  ['/data', 'Collect candles', 'researcher'],
  ['/challenges', 'New challenge', 'researcher'],
  ['/strategies/ema_crossover', 'Register a backtest', 'researcher'],
  ['/strategies/ema_crossover/versions/1', 'Promote', 'approver'],
] as const;

describe.skipIf(!hasChromium)('a signed-in user', () => {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-roles-'));
  const tokenOf = (role: TokenOptions['role'], { user = `${role}@desk`, lifetime = 600 } = {}) =>
    signToken(openIssuerKey(home), accessClaims({ user, role, lifetime, now: Date.now() }));
  let dashboard: Dashboard;
  let provider: IdentityProvider;
  beforeAll(async () => {
    dashboard = await startDashboard(inject('dashboard'), {
      home,
      auth: true,
      rules: { fourEyesRequired: true },
      token: tokenOf('researcher'),
    });
    provider = await startIdentityProvider(home, { user: 'ada', role: 'approver' });
    const { platform } = dashboard;
    expect(await seedStaged(platform, await seedBacktest(platform))).toBe('1');
    const shared = await platform.request('/api/v1/models/ema_crossover/sharing', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ shared_with: [{ principal: 'everyone', level: 'write' }] }),
    });
    expect(shared.status).toBe(200);
  });
  afterAll(async () => {
    await provider?.stop();
    await dashboard?.stop();
    rmSync(home, { recursive: true, force: true });
  });

  test.each(ROLES)(
    'as %s may press what the role allows; other buttons say which role is needed',
    async (role) => {
      const { page, problems, findings, close } = await dashboard.open('/', { token: tokenOf(role) });
      await page.getByRole('button', { name: `${role}@desk` }).click();
      await page.getByText(`Role: ${role}`).waitFor();
      for (const [path, name, needed] of BUTTONS) {
        await page.goto(`${dashboard.url}${path}`);
        // Roles are known.
        await page.getByRole('button', { name: `${role}@desk` }).waitFor();
        const mayPress = ROLES.indexOf(role) >= ROLES.indexOf(needed);
        const button = page
          .getByRole('button', {
            name: mayPress ? new RegExp(`^${name}$`) : new RegExp(`^${name} ?: Needs the role ${needed}$`),
          })
          .first();
        await button.focus();
        await page.keyboard.press('Enter');
        if (mayPress) await page.getByRole('dialog').waitFor();
        const seen = {
          dialogs: await page.getByRole('dialog').count(),
          off: await button.getAttribute('aria-disabled'),
        };
        expect(seen, path).toEqual({ dialogs: mayPress ? 1 : 0, off: String(!mayPress) });
        expect(await findings(), path).toEqual([]);
      }
      await page.goto(`${dashboard.url}/audit`);
      await (role === 'admin'
        ? page.getByRole('region', { name: 'Audit trail' })
        : page.getByText('Needs the role admin')
      ).waitFor();
      expect(await problems()).toEqual([]);
      await close();
    },
  );

  test('cannot promote what they registered; another approver can', async () => {
    const path = '/strategies/ema_crossover/versions/1';
    const promote = async (user: string) => {
      const opened = await dashboard.open(path, { token: tokenOf('approver', { user }) });
      await opened.page.getByRole('button', { name: 'Promote' }).click();
      const dialog = opened.page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Promote' }).click();
      return { ...opened, dialog };
    };
    const own = await promote('researcher@desk');
    await own.dialog.getByRole('alert').getByText('ask another approver').waitFor();
    await own.dialog.getByText('AUTH004').waitFor();
    expect(await own.findings()).toEqual([]);
    await own.close();

    const other = await promote('approver@desk');
    await other.dialog.waitFor({ state: 'detached' });
    await other.page.locator('[aria-current="step"]', { hasText: 'Production' }).waitFor();
    expect(await other.problems()).toEqual([]);
    await other.close();
  });

  test('a token that has ended is asked for again', async () => {
    const { page, close } = await dashboard.open('/', { token: tokenOf('viewer', { lifetime: -60 }) });
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor();
    await page.getByLabel('Or paste a token').fill(tokenOf('viewer', { lifetime: -60 }));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This token has ended').waitFor();
    await close();
  });

  test('a link with a token that has ended leaves a good one in its place', async () => {
    const { page, close } = await dashboard.open('/nowhere', { token: tokenOf('viewer') });
    await page.getByRole('button', { name: 'viewer@desk' }).waitFor();
    await page.goto('about:blank');
    await page.goto(`${dashboard.url}/nowhere#token=${tokenOf('admin', { lifetime: -60 })}`);
    await page.getByRole('button', { name: 'viewer@desk' }).waitFor();
    expect(page.url()).toBe(`${dashboard.url}/nowhere`);
    await close();
  });

  test.each([
    'http://[',
    '//elsewhere.example/x',
    '/.//elsewhere.example/x',
    'javascript:alert(1)',
    '/sign-in',
  ])('the sign-in leads to no other place: %s', async (to) => {
    const { page, problems, close } = await dashboard.open(`/sign-in?to=${encodeURIComponent(to)}`);
    await page.getByLabel('Or paste a token').fill(tokenOf('viewer'));
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'viewer@desk' }).waitFor();
    await page.getByRole('heading', { name: 'Sign in', exact: true }).waitFor({ state: 'detached' });
    const { origin, pathname } = new URL(page.url());
    expect(origin).toBe(dashboard.url);
    expect(['/', '/elsewhere.example/x']).toContain(pathname);
    expect(await problems()).toEqual([]);
    await close();
  });

  test('a response that this tab did not ask for signs nobody in', async () => {
    const { page, close } = await dashboard.open('/favicon.svg');
    await provider.use(page);
    await page.goto(`${dashboard.url}/sign-in?code=stolen&state=forged`);
    await page.getByText('This tab did not begin the sign-in').waitFor();
    await close();
  });

  test('a rejected refresh asks for a sign-in', async () => {
    const { page, close } = await dashboard.open('/favicon.svg');
    await provider.use(page);
    await page.goto(`${dashboard.url}/nowhere`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'ada' }).waitFor();
    provider.rejectsRefresh = true;
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    provider.rejectsRefresh = false;
    await close();
  });
});
