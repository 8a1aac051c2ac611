import { describe, expect, it } from 'vitest';
import { exchangeFixture } from './exchange-fixture.ts';

/**
 * Backtests on an exchange, from POST to report: ccxt against a server that speaks Binance's format, the state machine, the
 * collection task, the backtest task, all real. Each test has its own symbols, so tests share no candles.
 */

const fixture = exchangeFixture();
const { run, report, requests } = fixture;

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
