import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runInProcess, runScript } from '../support/command.ts';
import { BTC, RANGE, silentExchangeFixture } from './collect-modes-fixture.ts';

/** Collect modes, on an exchange that counts requests and responds to none. */

const ETH = 'ETH/USDT:USDT';
const fixture = silentExchangeFixture();
const { run } = fixture;

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
    expect(fixture.asked).toBe(0);
  });

  it('--offline sets collect: never', async () => {
    const { code, out, err } = await runInProcess(fixture.platform.home, [
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
    expect(fixture.asked).toBe(0);
  });

  it('--offline runs on imported candles without a request, though they lack the startup candles', async () => {
    const { home } = fixture.platform;
    const touchstone = (...args: string[]) => runScript(home, 'bin/touchstone.ts', args);
    const folder = join(home, 'candles');
    mkdirSync(folder);
    const candles = Array.from({ length: 500 }, (_, hour) => {
      const price = 100 + 10 * Math.sin(hour / 40);
      return `${Date.parse(RANGE.start) + hour * 3_600_000},${price},${price + 1},${price - 1},${price + 0.5},10`;
    });
    const header = 'timestamp_ms,open,high,low,close,volume';
    writeFileSync(join(folder, 'SINE_USDT_USDT-1h.csv'), [header, ...candles].join('\n'));
    expect(await touchstone('import', folder)).toMatchObject({ code: 0 });
    const market = ['--exchange', 'binanceusdm', '--pairs', 'SINE/USDT:USDT', '--timeframe', '1h'];
    const range = ['--start', RANGE.start, '--end', RANGE.end];
    const backtest = (...options: string[]) =>
      touchstone('backtest', 'ema_crossover', ...market, ...range, ...options);
    const { code, out } = await backtest('--offline');
    expect(out).toContain('SINE/USDT:USDT on binanceusdm');
    expect([code, fixture.asked]).toEqual([0, 0]);
    // The same run without it asks the exchange for the startup candles.
    await backtest();
    expect(fixture.asked).toBeGreaterThan(0);
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
    const { status, body } = await fixture.platform.post('/api/v1/backtests', {
      config: { strategy: 'ema_crossover', collect },
    });
    expect([status, body.detail.code, body.detail.field]).toEqual([400, 'VAL005', 'config.collect']);
    expect(body.detail.context.allowed).toEqual(['never', 'if_stale', 'always']);
  });
});
