import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll } from 'vitest';
import { FakeService } from '../runtime/data-proxy-server.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

export const freshness = { operation: 'check-freshness', params: { symbols: ['BTC/USDT:USDT'] } };

/** `touchstone proxy` as a process with a data folder of its own, and a fake data collection service. */
export function proxyFixture() {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-proxy-'));
  const fixture = {
    service: undefined as unknown as FakeService,
    async proxy(event: string, env: Record<string, string> = {}, input = '') {
      const child = spawn(process.execPath, ['bin/touchstone.ts', 'proxy', event], {
        env: { TOUCHSTONE_HOME: home, NO_COLOR: '1', TMPDIR: tmpdir(), MAX_RETRIES: '0', ...env },
      });
      child.stdin.end(input);
      const [out, err, code] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        new Promise<number | null>((resolve) => child.once('close', resolve)),
      ]);
      return { code, out, err };
    },
    atService: () => ({ DATA_COLLECTION_URL: fixture.service.url }),
  };
  beforeAll(async () => {
    fixture.service = await FakeService.start();
  });
  afterAll(async () => {
    await fixture.service.stop();
    rmSync(home, { recursive: true, force: true });
  });
  return fixture;
}

/** Running platform on kraken, for the tests of a suite. */
export function krakenFixture() {
  const fixture = { platform: undefined as unknown as TestPlatform };
  beforeAll(async () => {
    fixture.platform = await startTestPlatform({ exchange: 'kraken' });
  });
  afterAll(() => fixture.platform.stop());
  return fixture;
}
