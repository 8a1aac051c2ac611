import { describe, expect, it } from 'vitest';
import { hostileFixture, RANGE } from './hostile-strategies-fixture.ts';

/** Strategies that throw malformed values, or throw outside of a call. */

const fixture = hostileFixture(
  {
    long_error: "new Error('y'.repeat(2_000_000), { cause: new Error('z'.repeat(1_000_000)) })",
    frames: "new Error(' at ' + 'a'.repeat(2_000_000))",
    object: '{ toString() { throw 1; } }',
    getter: "Object.defineProperty(new Error(), 'message', { get() { throw 1; } })",
    proxy: '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })()',
  },
  (strategy) => {
    strategy(
      'trap',
      'indicators: () => new Proxy({}, { ownKeys() { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy; } }),',
    );
    strategy('timer', "indicators() { setTimeout(() => { throw new Error('too late'); }, 0); return {}; },");
    strategy('words', "indicators() { Promise.reject('only words'); return {}; },");
  },
);

describe('hostile strategy', () => {
  it.each([
    [
      'throws_long_error',
      /customExit threw for BTC\/USDT:USDT in the candle of 2026-\S+Z: y+ \[1999000 characters left out\] y+ \(throws_long_error\.ts:\d+\)$/,
    ],
    [
      'throws_frames',
      /customExit threw for BTC\/USDT:USDT in the candle of \S+Z: .* \(throws_frames\.ts:\d+\)$/,
    ],
    ['throws_object', /customExit threw for BTC\/USDT:USDT in the candle of \S+Z: it threw object$/],
    [
      'throws_getter',
      /customExit threw for BTC\/USDT:USDT in the candle of \S+Z: it threw something that cannot be read$/,
    ],
    [
      'throws_proxy',
      /customExit threw for BTC\/USDT:USDT in the candle of \S+Z: it threw something that cannot be read$/,
    ],
    ['trap', /^Strategy trap failed on BTC\/USDT:USDT: it threw something that cannot be read$/],
    ['timer', /^Strategy timer failed in a timer or an unhandled promise: too late \(timer\.ts:\d+\)$/],
    ['words', /^Strategy words failed in a timer or an unhandled promise: only words$/],
  ])('backtest fails at the first attempt with a short error: %s', async (name, error) => {
    const job = await fixture.platform.run({ strategy: name, date_range: RANGE });
    expect(job).toMatchObject({ status: 'failed', error_code: 'VAL006', attempt: 1 });
    expect(job.error).toMatch(error);
    expect(job.error.length).toBeLessThan(2_100);
  });
});
