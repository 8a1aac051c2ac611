import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Operation } from '#contract/values/operation.ts';
import { accessClaims, openIssuerKey, signToken } from '../../src/local/issuer-key.ts';
import { runScript } from '../support/command.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Audit trail in a terminal, of a platform with tokens. */

type Role = Exclude<Operation['access'], 'public'>;

const home = mkdtempSync(join(tmpdir(), 'touchstone-audit-'));
const tokenOf = (user: string, role: Role) =>
  signToken(openIssuerKey(home), accessClaims({ user, role, lifetime: 600, now: Date.now() }));

let platform: TestPlatform;
beforeAll(async () => {
  // Jobs stay pending: only their submission is tested.
  platform = await startTestPlatform({ home, auth: true, concurrency: 0 });
  const config = { strategy: 'buy_and_hold', date_range: { start: '2026-03-01', end: '2026-03-08' } };
  const callers = [
    ['eve', 'viewer'],
    ['ada', 'researcher'],
    ['ada', 'researcher'],
  ] as const;
  for (const [user, role] of callers) {
    const response = await platform.request('/api/v1/backtests', {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokenOf(user, role)}`,
        'content-type': 'application/json',
        'X-Correlation-ID': `submitBacktest-${user}`,
      },
      body: JSON.stringify({ config }),
    });
    expect(response.status).toBe(user === 'eve' ? 403 : 201);
  }
}, 30_000);
afterAll(async () => {
  await platform?.stop();
  rmSync(home, { recursive: true, force: true });
});

it('touchstone audit prints the trail as a table, to admins only', async () => {
  const run = (role: Role, ...args: string[]) =>
    runScript(home, 'bin/touchstone.ts', ['audit', ...args], { TOUCHSTONE_TOKEN: tokenOf('auditor', role) });
  const { code, out, err } = await run('admin', '--operation', 'submitBacktest', '--user', 'eve');
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/Time \(UTC\).*User.*Role.*Operation.*Resource.*Outcome/);
  expect(out).toMatch(
    /eve.*viewer.*submitBacktest.*backtests -.*refused AUTH004.*127\.0\.0\.1.*submitBacktest-eve/,
  );
  const rejected = await run('approver');
  expect([rejected.code, rejected.out]).toEqual([1, '']);
  expect(rejected.err).toMatch(/AUTH004/);
  expect((await run('admin', '--resource', 'nothing')).out).toBe('No calls match.\n');
  expect((await run('admin', '--limit', '2')).out).toContain('More exist');
}, 30_000);
