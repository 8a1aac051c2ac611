import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, it } from 'vitest';

/** Usage errors of the commands for tokens and sharing. */

const home = mkdtempSync(join(tmpdir(), 'touchstone-auth-'));
async function touchstone(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, ['bin/touchstone.ts', ...args], {
    env: { TOUCHSTONE_HOME: home, NO_COLOR: '1', TMPDIR: tmpdir(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = [text(child.stdout), text(child.stderr)];
  const [code] = await once(child, 'close');
  return { code: code as number | null, out: await out, err: await err };
}

afterAll(() => rmSync(home, { recursive: true, force: true }));

it.each([
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
