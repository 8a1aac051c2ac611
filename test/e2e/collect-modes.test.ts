import { createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runScript } from '../support/command.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Collect modes, on an exchange that counts requests and responds to none. */

const BTC = 'BTC/USDT:USDT';
const ETH = 'ETH/USDT:USDT';
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
  it('run fails immediately without stored candles, lists each gap and sends no request', async () => {
    const job = await run({
      exchange: 'binanceusdm',
      pairs: [BTC, ETH],
      timeframe_detail: '5m',
      collect: 'never',
    });
    expect(job).toMatchObject({ status: 'failed', error_code: 'DATA001', collection: null, attempt: 1 });
    expect(job.config.collect).toBe('never');
    expect(job.error).toMatch(
      /^No 1h candles of BTC\/USDT:USDT on binanceusdm are stored, and collect is never/,
    );
    for (const [pair, timeframe] of [BTC, ETH].flatMap((pair) => ['1h', '5m'].map((each) => [pair, each]))) {
      expect(job.error).toMatch(
        new RegExp(`${pair} ${timeframe} 2026-0[12]-\\d\\dT\\S+Z to 2026-03-15T00:00:00.000Z`),
      );
    }
    expect(asked).toBe(0);
  });

  it('--offline sets collect: never', async () => {
    const { code, out, err } = await runScript(platform.home, 'bin/touchstone.ts', [
      'backtest',
      'ema_crossover',
      '--offline',
      '--exchange',
      'binanceusdm',
      '--pairs',
      ETH,
    ]);
    expect(code).toBe(1);
    expect(out + err).toContain('because collect is never: ETH/USDT:USDT 1h');
    expect(asked).toBe(0);
  });
});

describe('collect: always and if_stale', () => {
  it('always collects fresh candles too; if_stale and the default do not', async () => {
    const pairs = { pairs: [ETH] };
    await run(pairs);
    for (const collect of ['if_stale', undefined]) {
      expect(await run({ ...pairs, collect })).toMatchObject({
        collection: null,
        config: { collect: 'if_stale' },
      });
    }
    const again = await run({ ...pairs, collect: 'always' });
    expect(again).toMatchObject({ status: 'completed', collection: { status: 'completed' } });
  });

  it.each(['sometimes', ''])('rejects collect %j with VAL005', async (collect) => {
    const { status, body } = await platform.post('/api/v1/backtests', {
      config: { strategy: 'ema_crossover', collect },
    });
    expect([status, body.detail.code, body.detail.field]).toEqual([400, 'VAL005', 'config.collect']);
    expect(body.detail.context.allowed).toEqual(['never', 'if_stale', 'always']);
  });
});
