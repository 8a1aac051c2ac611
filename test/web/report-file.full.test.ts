import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { StaticFiles } from '#runtime/static-files.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';
import { seedBacktest } from './support/seed.ts';

describe('a report of many trades as one file', () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    const files = await StaticFiles.read(inject('dashboard'));
    platform = await startTestPlatform({ dashboard: () => ({ status: 'ready', files }) });
  });
  afterAll(() => platform?.stop());

  test('10,000 trades take at most 1.5 MB', async () => {
    const job = await seedBacktest(platform, {
      pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT', 'SOL/USDT:USDT'],
      timeframe: '5m',
      params: { fast: 5, slow: 50 },
    });
    const { body } = await platform.get(`/api/v1/backtests/${job}`);
    const trades: number = body.result.total_trades;
    expect(trades).toBeGreaterThan(9_000);
    const file = await fetch(`${platform.info.backend_url}/api/v1/backtests/${job}/export?format=html`);
    // For each trade, because the number of trades is not exactly 10,000.
    expect(((await file.arrayBuffer()).byteLength / trades) * 10_000).toBeLessThan(1_500_000);
  });
});
