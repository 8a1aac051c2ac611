import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runScript } from '../support/command.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Release policy in commands that run in separate processes. */

const home = mkdtempSync(join(tmpdir(), 'touchstone-cli-policy-'));
let platform: TestPlatform;
let run: string;

beforeAll(async () => {
  platform = await startTestPlatform({ home, releasePolicy: { minTrades: 2, lookAheadCertificate: true } });
  // The strategy buys once.
  const job = await platform.run({ strategy: 'buy_and_hold', pairs: ['BTC/USDT:USDT'], timeframe: '1h' });
  run = job.job_id;
}, 60_000);
afterAll(async () => {
  await platform?.stop();
  rmSync(home, { recursive: true, force: true });
});

const touchstone = (...args: string[]) => runScript(home, 'bin/touchstone.ts', args);
const M = 'buy_and_hold';

describe('release policy in commands', () => {
  it('register prints the checks that a version misses', async () => {
    const { code, out } = await touchstone('register', M, '--run', run);
    expect(code).toBe(0);
    expect(out).toContain('It fails the release policy');
    expect(out).toMatch(/min_trades +│ failed +│ +1 │ +2 │ 1 trade; at least 2 are required/);
    expect(out).not.toContain('Warning:');
    // Staging the version would be rejected.
    expect(out).not.toContain('Next:');
  });
});
