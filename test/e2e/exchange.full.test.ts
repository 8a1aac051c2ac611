import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExchangeServer, startExchangeServer } from '../support/exchange-server.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

let server: ExchangeServer;
let platform: TestPlatform;
beforeAll(async () => {
  server = await startExchangeServer();
  const collection = { exchangeUrl: server.url, exchangeIntervalMs: 1 };
  platform = await startTestPlatform({ exchange: 'binanceusdm', ...collection });
});
afterAll(async () => {
  await platform.stop();
  await server.stop();
});

const run = (pair: string) =>
  platform.run({
    strategy: 'ema_crossover',
    pairs: [`${pair}/USDT:USDT`],
    timeframe: '1h',
    date_range: { start: '2026-03-01T00:00:00Z', end: '2026-04-15T00:00:00Z' },
    precision: 'none',
  });
const report = async (job: any) => (await platform.get(`/api/v1/backtests/${job.job_id}/report-data`)).body;

describe('corrupt candle file', () => {
  const pathOf = (file: string) =>
    join(platform.info.storage.OBJECTS_DIRECTORY!, platform.info.storage.CANDLES_BUCKET, file);
  function damage(file: string): void {
    const body = readFileSync(pathOf(file));
    body[100]! ^= 1;
    writeFileSync(pathOf(file), body);
  }

  const march = 'candles/exchange=binanceusdm/symbol=SOL_USDT_USDT/timeframe=1h/2026-03.parquet';
  it.each([
    [march, 'corrupt', damage],
    [march, 'missing', (file: string) => rmSync(pathOf(file))],
    ['funding/exchange=binanceusdm/symbol=SOL_USDT_USDT/2026-04.parquet', 'corrupt', damage],
  ])(
    '%s is %s: the run fails with its name, and the next run collects it again',
    async (file, problem, harm) => {
      const sound = await run('SOL');
      const bytes = readFileSync(pathOf(file));
      harm(file);
      const failed = await run('SOL');
      expect(failed).toMatchObject({ status: 'failed', error_code: 'DATA005', attempt: 1 });
      expect(failed.error).toContain(`${file} is ${problem}`);
      const repaired = await run('SOL');
      expect(repaired).toMatchObject({ status: 'completed', result: sound.result });
      const named = problem === 'corrupt' ? `corrupt files: ${file}` : /^\d+ candles stored$/;
      expect(repaired.collection.message).toMatch(named);
      // Funding rates are collected for the whole month, not only for the run's range.
      expect(readFileSync(pathOf(file)).equals(bytes)).toBe(file === march);
      expect((await report(repaired)).provenance).toEqual((await report(sound)).provenance);
      expect((await run('SOL')).collection).toBeNull();
    },
  );
});
