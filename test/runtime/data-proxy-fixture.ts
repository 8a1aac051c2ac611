import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { ProxyEnvelope } from '#runtime/data-proxy/envelope.ts';
import { FakeService, type Rig } from './data-proxy-server.ts';

export const FRESH = { all_fresh: true, stale_symbols: [] as string[] };
export const ok = (body: unknown) => ({ status: 200, body });
export const freshness = {
  operation: 'check-freshness',
  params: { symbols: ['BTC/USDT:USDT'], timeframe: '5m' },
};
export const ohlcv = { operation: 'fetch_ohlcv', params: { symbol: 'BTC/USDT:USDT', timeframe: '5m' } };
export const call = (r: Rig, event: unknown) => r.proxy(event) as Promise<ProxyEnvelope>;

/** Fake service that runs for the tests of a file. Each test starts without requests and behaviours. */
export function fakeServiceFixture() {
  const fixture = { service: undefined as unknown as FakeService };
  beforeAll(async () => {
    fixture.service = await FakeService.start();
  });
  afterAll(() => fixture.service.stop());
  beforeEach(() => {
    fixture.service.requests.length = 0;
    fixture.service.behaviours = [];
  });
  return fixture;
}
