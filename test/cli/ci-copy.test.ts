import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { copyCandles } from '../../bin/cli/ci/backtests.ts';
import { startTestPlatform } from '../support/platform.ts';

test('the copy that ci runs on has the candles, and no job, webhook, model or key of the platform', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-ci-copy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [home, target] = [join(folder, 'home'), join(folder, 'copy')];
  const options = { webhooksAllowLoopback: true };
  const original = await startTestPlatform({ home, ...options });
  const series = async (platform: typeof original) =>
    (await (await fetch(`${platform.info.data_collection_url}/api/v1/series`)).json()) as object;
  const date_range = { start: '2024-01-01T00:00:00Z', end: '2024-01-08T00:00:00Z' };
  await original.run({ strategy: 'buy_and_hold', pairs: ['BTC/USDT:USDT'], timeframe: '1h', date_range });
  const url = 'http://127.0.0.1:9/hook';
  expect((await original.post('/api/v1/webhooks', { url, events: ['backtest.completed'] })).status).toBe(201);
  const before = await series(original);
  await original.stop();
  await copyCandles(home, target);
  expect(readdirSync(target).filter((name) => /key|id/.test(name))).toEqual([]);
  expect(existsSync(join(home, 'platform-id'))).toBe(true);
  const copy = await startTestPlatform({ home: target, ...options });
  onTestFinished(() => copy.stop());
  expect((await copy.get('/api/v1/backtests')).body.items).toEqual([]);
  expect((await copy.get('/api/v1/webhooks')).body.items).toEqual([]);
  expect(await series(copy)).toEqual(before);
});
