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
  it('touchstone proxy prints only the envelope as indented JSON; handler metrics go to stderr', async () => {
    service.behaviours = [{ status: 200, body: { all_fresh: true, stale_symbols: [] } }];
    const { code, out, err } = await proxy(JSON.stringify(freshness), atService());
    const envelope = {
      statusCode: 200,
      body: {
        success: true,
        data: { operation: 'check-freshness', result: { all_fresh: true, stale_symbols: [] } },
      },
    };
    expect(out).toBe(`${JSON.stringify(envelope, null, 2)}\n`);
    expect(JSON.parse(err)).toMatchObject({ operation: 'check-freshness', ProxyErrors: 0 });
    expect(code).toBe(0);
  });

  it('touchstone proxy reads an API Gateway event from stdin and prints its string body', async () => {
    service.behaviours = [{ status: 200, body: { all_fresh: true, stale_symbols: [] } }];
    const event = { requestContext: { requestId: 'gw-1' }, body: JSON.stringify(freshness) };
    const { code, out } = await proxy('-', atService(), JSON.stringify(event));
    expect(JSON.parse(JSON.parse(out).body)).toMatchObject({ success: true });
    expect(code).toBe(0);
  });

  it('touchstone proxy starts a temporary platform when none runs', async () => {
    const { code, out } = await proxy('{"operation":"symbols"}');
    expect(JSON.parse(out).body.data.result).toEqual({ exchange: 'sim', symbols: [], count: 0 });
    expect(code).toBe(0);
  });
});

describe('touchstone proxy with a running platform', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform({ exchange: 'kraken' });
  });
  afterAll(() => platform.stop());

  it('touchstone proxy uses the data collection of the platform', async () => {
    const { out } = await proxy('{"operation":"symbols"}', { TOUCHSTONE_HOME: platform.home });
    expect(JSON.parse(out).body.data.result.exchange).toBe('kraken');
  });
});
