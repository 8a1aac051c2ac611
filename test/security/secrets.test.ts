import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { openDataFolder } from '#adapters/local/data-folder.ts';
import { TaskRunner } from '#adapters/processes/task-runner.ts';
import { LocalEnv } from '#contract/env/env.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import { readEnv } from '#runtime/env.ts';
import { withServiceTokens } from '#runtime/fixed-tokens.ts';
import { openIssuerKey } from '../../src/local/issuer-key.ts';

const timingSafeEqual = vi.hoisted(() => vi.fn());
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>();
  timingSafeEqual.mockImplementation(crypto.timingSafeEqual);
  return { ...crypto, timingSafeEqual };
});

const folder = mkdtempSync(join(tmpdir(), 'touchstone-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.unstubAllEnvs());

describe('service token', () => {
  const TOKEN = 'a-token-of-24-characters';
  const authenticate = withServiceTokens([TOKEN], withoutIdentityProvider({ enforced: true }));

  it.each([
    '',
    'Bearer',
    'Bearer ',
    `Bearer ${TOKEN.slice(0, -1)}`,
    `Bearer ${TOKEN}x`,
    `Bearer ${'b'.repeat(TOKEN.length)}`,
    `Bearer ${'x'.repeat(10_000)}`,
    `bearer ${TOKEN}`,
    TOKEN,
    'Bearer undefined',
  ])('%j is rejected by a comparison in constant time', async (sent) => {
    timingSafeEqual.mockClear();
    await expect(authenticate(sent)).rejects.toMatchObject({ code: 'AUTH002' });
    const [[one, other]] = timingSafeEqual.mock.calls as [[Buffer, Buffer]];
    expect([one.length, other.length]).toEqual([32, 32]);
  });

  it('valid token is accepted; without a configured token every token is rejected', async () => {
    expect((await authenticate(`Bearer ${TOKEN}`)).id).toBe('service');
    const none = withServiceTokens([undefined], withoutIdentityProvider({ enforced: true }));
    await expect(none('Bearer undefined')).rejects.toMatchObject({ code: 'AUTH002' });
  });
});

it('issuer key and its folder are readable only by their owner', () => {
  const home = join(folder, 'home');
  openIssuerKey(home);
  const file = join(home, 'issuer-key.pem');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(home).mode & 0o077).toBe(0);
  expect(readFileSync(file, 'utf8')).toContain('PRIVATE KEY');
  const data = openDataFolder(join(folder, 'data'));
  expect(statSync(data.path).mode & 0o077).toBe(0);
  data.release();
});

it('task gets its own environment without variables of the platform', async () => {
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret-of-the-platform');
  vi.stubEnv('TOUCHSTONE_TOKEN', 'secret-of-the-person');
  const entry = join(folder, 'print.mjs');
  writeFileSync(entry, 'console.log(JSON.stringify(process.env));');
  const output: string[] = [];
  const runner = new TaskRunner({
    environment: { LOG_LEVEL: 'WARN' },
    temporary: join(folder, 'tasks'),
    limits: { taskMs: 60_000, loadMs: 60_000, stallMs: 60_000 },
    onStall: () => {},
    onOutput: (_, line) => output.push(line),
    onCrash: ({ stderr }) => expect.unreachable(stderr),
  });
  const environment = { JOB_ID: 'bt-1' };
  await runner.run({ entry, environment, signal: new AbortController().signal });
  const { JOB_ID, LOG_LEVEL, TASK_ID, TMPDIR, PWD: _, ...others } = JSON.parse(output[0]!);
  expect([JOB_ID, LOG_LEVEL]).toEqual(['bt-1', 'WARN']);
  expect(TASK_ID).toMatch(/^local-/);
  expect(TMPDIR).toBe(join(folder, 'tasks', TASK_ID));
  expect(Object.keys(others).filter((name) => !['OLDPWD', 'SHLVL', '_'].includes(name))).toEqual([]);
});

it('error for a malformed environment contains names without values', () => {
  const source = { BACKEND_PORT: 'secret', DYNAMODB_ENDPOINT: 'secret' };
  expect(() => readEnv(LocalEnv, source)).toThrow(
    /BACKEND_PORT is malformed.*|DYNAMODB_ENDPOINT is malformed/,
  );
  expect(() => readEnv(LocalEnv, source)).not.toThrow(/secret/);
});
