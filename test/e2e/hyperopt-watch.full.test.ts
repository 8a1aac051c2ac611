import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { runScript } from '../support/command.ts';
import { hyperoptCommandFixture, SEARCH } from './hyperopt-watch-fixture.ts';

/** Watching hyperopt jobs in a terminal: real processes against a real platform. */

const fixture = hyperoptCommandFixture();
const { hyperopt } = fixture;

/** Hyperopt job that outlasts a test. */
async function longHyperopt(): Promise<string> {
  const { out } = await hyperopt(...SEARCH, '--trials', '10000', '--json');
  return JSON.parse(out).job_id;
}

it('hyperopt start --models none marks duplicate trials and prints the command that backtests the best one', async () => {
  const { code, out, err } = await hyperopt(
    'start',
    'ema_crossover',
    '--pairs',
    'BTC/USDT:USDT',
    '--timeframe',
    '4h',
    '--models',
    'none',
    '--spaces',
    'stoploss,roi,trailing',
    '--start',
    '2026-01-31',
    '--end',
    '2026-03-02',
    '--fee',
    '0.001',
    '--slots',
    '1',
    '--trials',
    '5',
    '--watch',
  );
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/Best: stoploss -0\.\d+, minimal_roi 0:[\d.]+ \d+:.* trailing positive:0/);
  expect(out).not.toMatch(/NaN|undefined|\[object/);
  const id = out.match(/ho-[0-9A-Z]{26}/)![0];
  expect((await hyperopt('status', id)).out).toContain('Searched: stoploss, roi, trailing; models: none');
  const command = out.match(/Next: npx --no-install touchstone (.*)/)![1]!;
  expect(command).toBe(`backtest ema_crossover --hyperopt ${id}`);
  const backtest = await runScript(fixture.platform.home, 'bin/touchstone.ts', command.split(' '));
  expect([backtest.code, backtest.err]).toEqual([0, '']);
  const { body } = await fixture.platform.get('/api/v1/backtests?limit=1');
  const { body: result } = await fixture.platform.strategy.get(`/api/v1/hyperopt/${id}/result`);
  expect(body.items[0].result.sharpe_ratio).toBe(result.best_value);

  const equal = await hyperopt(
    'start',
    'ema_crossover',
    '--pairs',
    'BTC/USDT:USDT',
    '--timeframe',
    '4h',
    '--models',
    'none',
    '--search',
    'fast=9..9',
    '--start',
    '2026-01-31',
    '--end',
    '2026-03-02',
    '--trials',
    '3',
    '--watch',
  );
  const trials = await hyperopt('trials', equal.out.match(/ho-[0-9A-Z]{26}/)![0]);
  expect(trials.out).toMatch(/Duplicate of/);
  expect(trials.out).toMatch(/\b2 │ complete │ .* │ +0 │/);
});

it('Ctrl-C stops watching, prints how to resume and leaves the job running until it is cancelled', async () => {
  const id = await longHyperopt();
  const child = spawn(process.execPath, ['bin/touchstone.ts', 'hyperopt', 'watch', id], {
    env: { TOUCHSTONE_HOME: fixture.platform.home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const closed = once(child, 'close');
  await once(child.stdout, 'data');
  child.kill('SIGINT');
  expect((await closed)[0]).toBe(130);
  expect(err).toContain(`touchstone hyperopt watch ${id}`);

  const watching = hyperopt('watch', id);
  const cancelled = await hyperopt('cancel', id);
  expect(cancelled.out).toContain(`${id}: cancelled`);
  const { code, err: why } = await watching;
  expect([code, why]).toEqual([1, `${id} was cancelled\n`]);
});

it.each([
  [['watch', 'ho-none'], 1, 'OPT001'],
  [['start', 'ml_classifier', '--trees', '5'], 2, 'min..max'],
  [['result', 'none'], 1, 'VAL005'],
  [['start', 'get_rich'], 1, 'RES002'],
  [['start', 'ml_classifier', '--trials', '0'], 2, '1 to 10000'],
  [['start', 'ml_classifier', '--direction', 'up'], 2, 'maximize'],
])('hyperopt %j prints the error or the valid values', async (args, exit, text) => {
  const { code, err } = await hyperopt(...args);
  expect([code, err]).toEqual([exit, expect.stringContaining(text)]);
  expect(err).not.toMatch(/ at .*\.ts:\d+/);
});
