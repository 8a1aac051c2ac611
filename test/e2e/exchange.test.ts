import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExchangeServer, startExchangeServer } from '../support/exchange-server.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/**
 * Backtests on an exchange, from POST to report: ccxt against a server that speaks Binance's format, the state machine, the
 * collection task, the backtest task, all real. Each test has its own symbols, so tests share no candles.
 */

const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-04-15T00:00:00Z' };
const BASE = '/api/v1/backtests';

let server: ExchangeServer;
let platform: TestPlatform;
beforeAll(async () => {
  server = await startExchangeServer();
  platform = await startTestPlatform({
    exchange: 'binanceusdm',
    exchangeUrl: server.url,
    exchangeIntervalMs: 1,
  });
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
    date_range: RANGE,
    // Fixed, because the default differs between the first run of a pair and later runs.
    precision: 'none',
  });
const report = async (job: any) => (await platform.get(`${BASE}/${job.job_id}/report-data`)).body;
const requests = () => server.requests.splice(0).length;

describe('stale candles', () => {
  it('stale candles are collected and traded; fresh ones are not collected again', async () => {
    const job = await run('BTC');
    expect(job).toMatchObject({ status: 'completed', collection: { status: 'completed' } });
    // 45 days plus 250 startup candles.
    expect(job.collection.message).toBe('1330 candles stored');
    const { data, costs } = await report(job);
    expect(data[0]).toMatchObject({ candles: 45 * 24 });
    expect(costs.funding.amount).not.toBe(0);
    expect(requests()).toBeGreaterThan(3);
    const again = await run('BTC');
    expect(again).toMatchObject({ status: 'completed', collection: null, result: job.result });
    expect(requests()).toBe(0);
  });
});
