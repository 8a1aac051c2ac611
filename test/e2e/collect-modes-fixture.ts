import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

export const BTC = 'BTC/USDT:USDT';
export const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-03-15T00:00:00Z' };

/** Platform on an exchange that counts requests and responds to none. */
export function silentExchangeFixture() {
  let exchange: Server;
  const fixture = {
    platform: undefined as unknown as TestPlatform,
    /** Number of requests that the exchange got. */
    asked: 0,
    run: (config: object) =>
      fixture.platform.run({ strategy: 'ema_crossover', timeframe: '1h', date_range: RANGE, ...config }),
  };
  beforeAll(async () => {
    exchange = createServer((socket) => {
      fixture.asked++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => exchange.listen(0, '127.0.0.1', resolve));
    const { port } = exchange.address() as { port: number };
    fixture.platform = await startTestPlatform({
      exchangeUrl: `http://127.0.0.1:${port}`,
      exchangeIntervalMs: 1,
    });
  });
  afterAll(async () => {
    await fixture.platform?.stop();
    exchange.close();
  });
  return fixture;
}
