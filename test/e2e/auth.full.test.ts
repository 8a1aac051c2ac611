import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { authFixture } from './auth-fixture.ts';

/** Commands for tokens and sharing: their effects on a platform with tokens, and their usage errors. */

const fixture = authFixture(['researcher', 'admin']);
const { tokens, touchstone, bearer } = fixture;

it.each([
  [['token', '--role', 'king'], /Allowed choices are viewer, researcher, approver, admin/],
  [['share', 'bt-1', '--revoke-all', '--with', 'ada'], /--revoke-all revokes every grant/],
  [['token'], /--role/],
  [['token', '--role', 'admin', '--user', 'a b'], /letters, digits/],
  [['token', '--role', 'admin', '--minutes', '0'], /integer from 1 to 1440/],
  [['token', '--role', 'admin', '--group', 'a b'], /letters, digits/],
  [['share', 'bt-1', '--write'], /--write needs --with/],
  [['--url', 'http://127.0.0.1:1', 'share', 'ho-1'], /--strategy-url/],
])('touchstone %j prints the invalid option and the valid values', async (args, message) => {
  const { code, out, err } = await touchstone(args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(message);
});

describe('platform with tokens', () => {
  it('touchstone share grants and revokes access, and touchstone transfer changes the owner', async () => {
    const as = (role: string) => ({ TOUCHSTONE_TOKEN: tokens.get(role)! });
    const submitted = await fixture.platform.request('/api/v1/backtests', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer('researcher') },
      body: JSON.stringify({
        config: { strategy: 'buy_and_hold', date_range: { start: '2026-03-01', end: '2026-03-08' } },
      }),
    });
    const { job_id: id } = (await submitted.json()) as { job_id: string };
    const jobs = async () => (await touchstone(['jobs'], as('viewer'))).out;
    expect(await jobs()).toContain('No backtests.');
    const unshared = await touchstone(['share', id], as('researcher'));
    expect([unshared.code, unshared.out]).toEqual([0, `${id}: owner researcher@example.com, not shared\n`]);
    const given = ['--with', 'viewer@example.com', '--with', 'group:desk', '--write'];
    const shared = await touchstone(['share', id, ...given], as('researcher'));
    expect(shared.out).toMatch(
      /user:viewer@example\.com +│ read and change[\s\S]*group:desk +│ read and change/,
    );
    expect(await jobs()).toContain(id);
    const on = await touchstone(['share', id, '--with', 'everyone'], as('viewer'));
    expect([on.code, on.out]).toEqual([1, '']);
    expect(on.err).toContain('AUTH004');
    const back = await touchstone(
      ['share', id, '--with', 'group:desk', '--revoke', 'viewer@example.com'],
      as('researcher'),
    );
    expect(back.out).toMatch(/shared with:[\s\S]*group:desk +│ read +│/);
    expect(back.out).not.toContain('viewer@');
    expect(await jobs()).toContain('No backtests.');
    expect((await touchstone(['share', id, '--revoke-all'], as('admin'))).out).toContain('not shared');
    await touchstone(['cancel', id], as('researcher'));
    expect((await touchstone(['transfer', id, '--to', 'ada'], as('researcher'))).err).toContain('AUTH004');
    const transferred = await touchstone(['transfer', id, '--to', 'ada'], as('admin'));
    expect([transferred.code, transferred.out]).toEqual([0, `${id}: owner ada, not shared\n`]);
    const unknown = await touchstone(['share', 'ema_crossover', '--with', 'ada'], as('researcher'));
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('RES002')]);
  });

  it('touchstone proxy sends the token to data collection', async () => {
    const event = '{"operation":"symbols"}';
    const rejected = await touchstone(['proxy', event]);
    expect(rejected.code).toBe(1);
    const { code, out } = await touchstone(['proxy', event], { TOUCHSTONE_TOKEN: tokens.get('viewer')! });
    expect([code, JSON.parse(out)]).toMatchObject([0, { statusCode: 200 }]);
  });
});

describe('issuer key', () => {
  it('token of another data folder is rejected', async () => {
    const other = mkdtempSync(join(tmpdir(), 'touchstone-auth-'));
    const { out } = await touchstone(['token', '--role', 'admin'], { TOUCHSTONE_HOME: other });
    const answer = await fixture.platform.request('/api/v1/backtests', {
      headers: { authorization: `Bearer ${out.trim()}` },
    });
    rmSync(other, { recursive: true });
    expect([answer.status, await answer.json()]).toMatchObject([
      401,
      { detail: { code: 'AUTH002', context: { reason: 'key' } } },
    ]);
  });
});

it('npm start -- --auth prints where tokens come from and rejects unknown options', async () => {
  const start = async (...args: string[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-auth-'));
    const child = spawn(process.execPath, ['bin/local.ts', ...args], {
      env: {
        TOUCHSTONE_HOME: folder,
        TMPDIR: tmpdir(),
        BACKEND_PORT: '0',
        STRATEGY_PORT: '0',
        DATA_COLLECTION_PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      out += chunk;
      if (out.includes('TOUCHSTONE_TOKEN')) child.kill('SIGTERM');
    });
    const err = text(child.stderr);
    const [code] = await once(child, 'close');
    rmSync(folder, { recursive: true, force: true });
    return { code, out, err: await err };
  };
  const started = await start('--auth');
  expect([started.code, started.err]).toEqual([0, '']);
  expect(started.out).toContain(
    'export TOUCHSTONE_TOKEN=$(npx --no-install touchstone token --role researcher)',
  );
  expect(await start('--aut')).toMatchObject({ code: 2, err: expect.stringContaining("'--aut'") });
}, 30_000);
