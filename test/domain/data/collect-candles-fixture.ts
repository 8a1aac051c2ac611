import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type CollectRequest, collectCandles } from '#domain/data/collect-candles.ts';
import { startEngine, type TestEngine } from '../../support/engine.ts';
import { at, BTC, type Market, openMarket, TestExchange } from './market.ts';

export const START = at('2024-01-10');
export const END = at('2024-03-05');
export const STEP = 300_000;

/** Empty market and an exchange for each test, on an engine that the tests of a file share. */
export function collectFixture() {
  let engine: TestEngine;
  const fixture = {
    market: undefined as unknown as Market,
    exchange: undefined as unknown as TestExchange,
    collect: (changes: Partial<CollectRequest> = {}) =>
      collectCandles(fixture.market, {
        exchange: fixture.exchange,
        symbols: [BTC],
        timeframe: '5m',
        start: START,
        end: END,
        ...changes,
      }),
    read: (symbol = BTC, start = 0, end = at('2030-01-01')) =>
      fixture.market.candles.read({ exchange: 'test', symbol, timeframe: '5m' }, start, end),
  };
  beforeAll(async () => {
    engine = await startEngine();
  });
  afterAll(() => engine.stop());
  beforeEach(async () => {
    const market = await openMarket(engine);
    fixture.market = market;
    fixture.exchange = new TestExchange();
    return () => market.stop();
  });
  return fixture;
}
