import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Disk with less free space than the reserve for recording the end of running jobs. */

const MORE_THAN_ANY_DISK_MB = 1_000_000_000;
const SHORT = {
  code: 'DATA005',
  message: expect.stringMatching(
    /^The disk of the data folder has \d+ MB free; new work needs 1000000000 MB\./,
  ),
  context: { free_mb: expect.any(Number), min_free_mb: MORE_THAN_ANY_DISK_MB },
};

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform({ minFreeDiskMb: MORE_THAN_ANY_DISK_MB });
});
afterAll(() => platform.stop());

it.each([
  ['backtest', () => platform.post('/api/v1/backtests', { config: { strategy: 'ema_crossover' } })],
  ['hyperopt job', () => platform.strategy.post('/api/v1/hyperopt', { strategy: 'ema_crossover' })],
  [
    'collection',
    async () => {
      const response = await fetch(`${platform.info.data_collection_url}/api/v1/collections`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ symbols: ['BTC/USDT:USDT'], timeframe: '1h' }),
      });
      return { status: response.status, body: (await response.json()) as any };
    },
  ],
])('platform with a full disk rejects a %s', async (_, start) => {
  const { status, body } = await start();
  expect([status, body.detail]).toEqual([503, { ...SHORT, field: '' }]);
});

it('platform with a full disk stores nothing of a rejected request and responds to reads', async () => {
  expect(await platform.get('/api/v1/backtests')).toMatchObject({ status: 200, body: { items: [] } });
});

it.each(['backend_url', 'strategy_service_url', 'data_collection_url'] as const)(
  'health at %s is degraded with the full disk as its reason',
  async (service) => {
    const response = await fetch(`${platform.info[service]}/api/v1/health`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: 'degraded', reason: SHORT.message });
  },
);

it.skipIf(!existsSync('/dev/full'))('platform whose log is on a full disk goes on without it', async () => {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-log-'));
  const full = openSync('/dev/full', 'w');
  const ports = ['--backend-port', '0', '--data-collection-port', '0', '--strategy-port', '0'];
  const child = spawn(process.execPath, ['bin/local.ts', ...ports], {
    env: { TOUCHSTONE_HOME: home },
    stdio: ['ignore', full, full],
  });
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
    rmSync(home, { recursive: true });
  });
  const file = join(home, 'platform.json');
  await expect.poll(() => existsSync(file) || child.exitCode !== null).toBe(true);
  const { backend_url } = JSON.parse(readFileSync(file, 'utf8'));
  // Each is a line of the log.
  for (let i = 0; i < 3; i++) expect((await fetch(`${backend_url}/api/v1/strategies`)).status).toBe(200);
  expect(child.exitCode).toBeNull();
});
