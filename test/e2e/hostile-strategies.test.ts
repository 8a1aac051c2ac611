import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { startTestPlatform } from '../support/platform.ts';
import { hostileFixture, RANGE } from './hostile-strategies-fixture.ts';

/** Strategies that read other files or end their process, in local mode. */

const fixture = hostileFixture(
  {
    long_text: "'x'.repeat(2_000_000)",
    controls: "new Error('\\u0000\\u001b[2J\\ud800 end')",
  },
  (strategy) => {
    strategy('pries', `indicators() { throw new Error(JSON.stringify(pry())); },`, PRYING);
    strategy('promise', "indicators() { Promise.reject(new Error('late rejection')); return {}; },");
    strategy('ends_itself', 'indicators() { process.exit(0); },');
  },
);

/** Strategy that reports the foreign files it can read and its environment. */
const PRYING = `
function pry() {
const fs = (process as any).getBuiltinModule('node:fs');
const home = process.env.TMPDIR!.replace(/.tasks.[^/]*$/, '');
const readable = (path: string) => { try { fs.readFileSync(path); return true; } catch { try { fs.readdirSync(path); return true; } catch { return false; } } };
return {
  home: readable(home),
  files: ['/issuer-key.pem', '/database.sqlite', '/platform.json', '/objects/results'].filter((file) => readable(home + file)),
  machine: ['/etc/passwd', '/root', '/home', '/proc/self/environ'].filter(readable),
  candles: readable(home + '/objects/candles'),
  environment: Object.keys(process.env).sort(),
};
}`;

describe('hostile strategy', () => {
  it('strategy can read its candles only, and its environment has no secrets', async () => {
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
    const job = await fixture.platform.run({ strategy: 'pries', date_range: RANGE });
    expect(job.error).toMatch(/\{.*\}/);
    const found = JSON.parse(/\{.*\}/.exec(job.error)![0]);
    expect(found).toMatchObject({ home: false, files: [], machine: [], candles: true });
    const allowed = [
      'CANDLES_BUCKET',
      'CORRELATION_ID',
      'DYNAMODB_ENDPOINT',
      'JOBS_TABLE',
      'JOB_ID',
      'LOG_LEVEL',
    ];
    allowed.push(
      'MALLOC_TOP_PAD_',
      'GLIBC_TUNABLES',
      'NODE_COMPILE_CACHE',
      'OBJECTS_DIRECTORY',
      'RESULTS_BUCKET',
      'SERIES_TABLE',
    );
    // The logger adds its name to the SDK user agent.
    allowed.push(
      'AWS_SDK_UA_APP_ID',
      'STRATEGIES_DIRECTORY',
      'TASK_ID',
      'TRIAL_LIMIT_SECONDS',
      'TRIAL_STALL_SECONDS',
      'TMPDIR',
      'WATCH_MARK',
      'PWD',
      'OLDPWD',
      'SHLVL',
      '_',
    );
    expect(found.environment.filter((name: string) => !allowed.includes(name))).toEqual([]);
  });

  it('backtest fails at the first attempt when the strategy ends its process', async () => {
    const job = await fixture.platform.run({ strategy: 'ends_itself', date_range: RANGE });
    expect(job).toMatchObject({ status: 'failed', error_code: 'VAL006', attempt: 1 });
    expect(job.error).toBe(
      'Strategy ends_itself was stopped. The strategy ended its process in indicators of BTC/USDT:USDT',
    );
  });

  it.each([
    [
      'throws_long_text',
      /^Strategy throws_long_text failed during the simulation: customExit threw for BTC\/USDT:USDT in the candle of 2026-\S+Z: x+ \[1999000 characters left out\] x+$/,
    ],
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the thrown text has control characters
    ['throws_controls', /: \u0000\u001b\[2J\ufffd end \(throws_controls\.ts:\d+\)$/],
    [
      'promise',
      /^Strategy promise failed in a timer or an unhandled promise: late rejection \(promise\.ts:\d+\)$/,
    ],
  ])('backtest fails at the first attempt with a short error: %s', async (name, error) => {
    const job = await fixture.platform.run({ strategy: name, date_range: RANGE });
    expect(job).toMatchObject({ status: 'failed', error_code: 'VAL006', attempt: 1 });
    expect(job.error).toMatch(error);
    expect(job.error.length).toBeLessThan(2_100);
  });

  it('platform removes task folders of hostile strategies', async () => {
    await expect.poll(() => readdirSync(join(fixture.platform.home, 'tasks'))).toEqual([]);
  });
});

it('platform start removes task folders of a killed platform', async () => {
  const home = mkdtempSync(join(tmpdir(), 'touchstone-left-'));
  mkdirSync(join(home, 'tasks/local-left/deep'), { recursive: true });
  const next = await startTestPlatform({ home });
  expect(readdirSync(home)).not.toContain('tasks');
  await next.stop();
  rmSync(home, { recursive: true });
});
