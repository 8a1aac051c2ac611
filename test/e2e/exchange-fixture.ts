import { afterAll, beforeAll } from 'vitest';
import { type ExchangeServer, startExchangeServer } from '../support/exchange-server.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

export const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-04-15T00:00:00Z' };
export const BASE = '/api/v1/backtests';
export const at = (text: string) => Date.parse(`${text}Z`);

/** Platform on a server that speaks Binance's format, which also lists these bases. */
export function exchangeFixture(aliases: readonly string[] = []) {
  const fixture = {
    server: undefined as unknown as ExchangeServer,
    platform: undefined as unknown as TestPlatform,
    run: (pair: string, changes: object = {}) =>
      fixture.platform.run({
        strategy: 'ema_crossover',
        pairs: [`${pair}/USDT:USDT`],
        timeframe: '1h',
        date_range: RANGE,
        // Fixed, because the default differs between the first run of a pair and later runs.
        precision: 'none',
        ...changes,
      }),
    report: async (job: any) => (await fixture.platform.get(`${BASE}/${job.job_id}/report-data`)).body,
    /** Number of requests since the last call. */
    requests: () => fixture.server.requests.splice(0).length,
    instruments: async () => {
      const url = `${fixture.platform.info.data_collection_url}/api/v1/instruments`;
      return ((await (await fetch(url)).json()) as { instruments: any[] }).instruments;
    },
  };
  beforeAll(async () => {
    fixture.server = await startExchangeServer();
    fixture.server.aliases.push(...aliases.map((base) => `${base}/USDT:USDT`));
    fixture.platform = await startTestPlatform({
      exchange: 'binanceusdm',
      exchangeUrl: fixture.server.url,
      exchangeIntervalMs: 1,
    });
  });
  afterAll(async () => {
    await fixture.platform.stop();
    await fixture.server.stop();
  });
  return fixture;
}
