import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeService } from '../runtime/data-proxy-server.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** `touchstone proxy` as a process. */

const home = mkdtempSync(join(tmpdir(), 'touchstone-proxy-'));
let service: FakeService;
beforeAll(async () => {
  service = await FakeService.start();
});
afterAll(async () => {
  await service.stop();
  rmSync(home, { recursive: true, force: true });
});

async function proxy(event: string, env: Record<string, string> = {}, input = '') {
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
}
const atService = () => ({ DATA_COLLECTION_URL: service.url });

const freshness = { operation: 'check-freshness', params: { symbols: ['BTC/USDT:USDT'] } };

describe('touchstone proxy', () => {
  it.each([
    ['a safe result with an error', freshness, 200],
    ['a rejected operation', { operation: 'drop_tables' }, 400],
    ['an error with safe: false', { ...freshness, safe: false }, 503],
  ])('touchstone proxy exits with 1 for %s', async (_, event, statusCode) => {
    service.behaviours = [{ status: 503, body: {} }];
    const { code, out } = await proxy(JSON.stringify(event), atService());
    expect(JSON.parse(out).statusCode).toBe(statusCode);
    expect(code).toBe(1);
  });

  it('touchstone proxy prints the error of an event that is not JSON', async () => {
    const { code, out, err } = await proxy('{operation: health}', atService());
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^The event is not JSON: .+ For example: touchstone proxy/);
    expect(err).not.toContain('    at ');
  });
});

describe('touchstone proxy with a running platform', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform({ exchange: 'kraken' });
  });
  afterAll(() => platform.stop());

  it('touchstone proxy does not use the platform when service discovery is configured', async () => {
    const noNames = `import dns from 'node:dns';
      dns.lookup = (name, options, done) => {
        process.stderr.write('looked up ' + name);
        done(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }));
      };`;
    const { code, out, err } = await proxy(JSON.stringify(freshness), {
      TOUCHSTONE_HOME: platform.home,
      SERVICE_DISCOVERY_NAMESPACE: 'trading.internal',
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(noNames)}`,
    });
    expect(err).toContain('looked up data-collection.trading.internal');
    expect(JSON.parse(out).body.data.result).toEqual({
      all_fresh: false,
      stale_symbols: [],
      error: 'Data collection could not be reached (1 attempt)',
    });
    expect(code).toBe(1);
  });
});
