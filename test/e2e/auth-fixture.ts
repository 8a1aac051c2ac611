import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Platform of `npm start -- --auth`, and a token of the command line for viewer and each of these roles. */
export function authFixture(roles: readonly string[]) {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-auth-'));
  const tokens = new Map<string, string>();
  const fixture = {
    platform: undefined as unknown as TestPlatform,
    home,
    /** Token of each role. */
    tokens,
    async touchstone(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
      const child = spawn(process.execPath, ['bin/touchstone.ts', ...args], {
        env: { TOUCHSTONE_HOME: home, NO_COLOR: '1', TMPDIR: tmpdir(), ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const [out, err] = [text(child.stdout), text(child.stderr)];
      const [code] = await once(child, 'close');
      return { code: code as number | null, out: await out, err: await err };
    },
    bearer: (role: string) => ({ authorization: `Bearer ${tokens.get(role)}` }),
  };
  beforeAll(async () => {
    const issue = async (role: string) => {
      const args = ['token', '--role', role, '--user', `${role}@example.com`];
      const { code, out, err } = await fixture.touchstone(args);
      expect([code, err]).toEqual([0, '']);
      tokens.set(role, out.trim());
    };
    // The first token precedes the platform: the key belongs to the data folder.
    await issue('viewer');
    await Promise.all(roles.map(issue));
    fixture.platform = await startTestPlatform({ home, auth: true });
  }, 60_000);
  afterAll(async () => {
    await fixture.platform?.stop();
    rmSync(home, { recursive: true, force: true });
  });
  return fixture;
}
