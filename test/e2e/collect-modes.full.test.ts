import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPlatform, TERMINAL, type TestPlatform } from '../support/platform.ts';

/** Collect modes, on an exchange that counts requests and responds to none. */

const BTC = 'BTC/USDT:USDT';
const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-03-15T00:00:00Z' };

let exchange: Server;
let asked = 0;
let platform: TestPlatform;
beforeAll(async () => {
  exchange = createServer((socket) => {
    asked++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => exchange.listen(0, '127.0.0.1', resolve));
  const { port } = exchange.address() as { port: number };
  platform = await startTestPlatform({ exchangeUrl: `http://127.0.0.1:${port}`, exchangeIntervalMs: 1 });
});
afterAll(async () => {
  await platform?.stop();
  exchange.close();
});

const run = (config: object) =>
  platform.run({ strategy: 'ema_crossover', timeframe: '1h', date_range: RANGE, ...config });

describe('collect: never', () => {
  it('run uses stored candles and warns of the gaps', async () => {
    const first = await run({ pairs: [BTC] });
    expect(first.collection).toMatchObject({ status: 'completed' });
    const longer = { start: RANGE.start, end: '2026-03-20T00:00:00Z' };
    const job = await run({ pairs: [BTC], date_range: longer, collect: 'never' });
    expect(job).toMatchObject({ status: 'completed', collection: null });
    expect(job.warnings).toContain(
      `Not stored, and not collected because collect is never: ${BTC} 1h 2026-03-15T00:00:00.000Z to 2026-03-20T00:00:00.000Z`,
    );
    const whole = await run({ pairs: [BTC], collect: 'never' });
    expect(JSON.stringify(whole.warnings)).not.toContain('Not stored');
    expect(whole.result).toEqual(first.result);
  });

  it('hyperopt job keeps collect: never and reports its gaps', async () => {
    const { status, body } = await platform.strategy.post('/api/v1/hyperopt', {
      ...{ strategy: 'ml_classifier', exchange: 'binanceusdm', pairs: [BTC], n_trials: 1, collect: 'never' },
      ...{ train_period_days: 20, backtest_period_days: 5, date_range: RANGE },
    });
    expect(status, JSON.stringify(body)).toBe(200);
    const job = await platform.until(body.job_id, ...TERMINAL);
    expect(job.status).toBe('failed');
    expect(job.error).toMatch(
      /because collect is never: BTC\/USDT:USDT 1h 2026-0\S+ to 2026-03-15T00:00:00.000Z/,
    );
    expect(asked).toBe(0);
  });
});
