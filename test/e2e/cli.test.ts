import { describe, expect, it } from 'vitest';
import { commandFixture, RAW } from './cli-fixture.ts';

/** Command line in separate processes, with plain output. */

const { run, touchstone } = commandFixture();

describe('touchstone without a running platform', () => {
  it('backtest runs on candles of sim and prints the result', async () => {
    const { code, out, err } = await touchstone(
      'backtest',
      'ema_crossover',
      '--pairs',
      'BTC/USDT:USDT,ETH/USDT:USDT',
      '--timeframe',
      '1h',
      '--start',
      '2026-03-01',
      '--end',
      '2026-04-01',
      '--param',
      'fast=10',
      '--experiment',
      'by hand',
    );
    expect(err).not.toMatch(/Error/);
    expect(code).toBe(0);
    expect(out).toMatch(/Submitted bt-[0-9A-Z]{26}/);
    expect(out).toContain(
      'BTC/USDT:USDT, ETH/USDT:USDT on sim (simulated candles), 1h, 2026-03-01 00:00 to 2026-04-01 00:00 UTC',
    );
    for (const label of [
      'Total profit',
      'Sharpe ratio (daily equity)',
      'Max drawdown',
      'Win rate',
      'TOTAL',
      '┤',
    ]) {
      expect(out).toContain(label);
    }
    expect(out).not.toMatch(/NaN|undefined|\[object/);
  });

  it.each([[['fly'], 'unknown command']])(
    '%j exits with 2 and prints the correct usage',
    async (args, text) => {
      const { code, err } = await touchstone(...args);
      expect([code, err]).toEqual([2, expect.stringContaining(text)]);
      expect(err).not.toMatch(RAW);
    },
  );
});

it('npm run demo prints a backtest from request to report', async () => {
  const { code, out } = await run('bin/demo.ts');
  expect(code).toBe(0);
  for (const text of ['POST http', 'Total profit', 'TOTAL', '/docs', 'Done in']) expect(out).toContain(text);
  const [dashboard, report] = out.trimEnd().split('\n').slice(-2) as [string, string];
  const [, url] = / dashboard +(http:\/\/127\.0\.0\.1:\d+)$/.exec(dashboard)!;
  const [, jobId] = /Submitted (bt-\w+)/.exec(out)!;
  expect(report.trim().split(/ +/)).toEqual(['report', `${url}/backtests/${jobId}`]);
});
