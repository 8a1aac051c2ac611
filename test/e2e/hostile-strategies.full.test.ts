import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Strategies that throw malformed values, or throw outside of a call. */

const RANGE = { start: '2026-03-01T00:00:00Z', end: '2026-03-08T00:00:00Z' };
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'touchstone-hostile-')));
let platform: TestPlatform;

/** Strategy file that enters once; `parts` replace members of the definition. */
function strategy(name: string, parts: string, before = ''): void {
  writeFileSync(
    join(folder, `${name}.ts`),
    `${before}
export default {
  name: '${name}', description: 'Hostile.', timeframe: '1h', pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 1, stoploss: -0.99, indicators: () => ({}),
  signals(candles) {
    const enterLong = new Uint8Array(candles.timestamp.length);
    enterLong[1] = 1;
    return { enterLong };
  },
  ${parts}
};
`,
  );
}

beforeAll(async () => {
  const thrown = {
    long_error: "new Error('y'.repeat(2_000_000), { cause: new Error('z'.repeat(1_000_000)) })",
    frames: "new Error(' at ' + 'a'.repeat(2_000_000))",
    object: '{ toString() { throw 1; } }',
    getter: "Object.defineProperty(new Error(), 'message', { get() { throw 1; } })",
    proxy: '(() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); return proxy; })()',
  };
  for (const [name, what] of Object.entries(thrown)) {
    strategy(
      `throws_${name}`,
      `callbacks: { customExit(context) { if (context.index > 3) throw ${what}; return null; } },`,
    );
  }
  strategy(
    'trap',
    'indicators: () => new Proxy({}, { ownKeys() { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy; } }),',
  );
  strategy('timer', "indicators() { setTimeout(() => { throw new Error('too late'); }, 0); return {}; },");
  strategy('words', "indicators() { Promise.reject('only words'); return {}; },");
  platform = await startTestPlatform({
    strategiesDirectory: folder,
  });
});
afterAll(async () => {
  await platform.stop();
  rmSync(folder, { recursive: true });
});

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
    const job = await platform.run({ strategy: name, date_range: RANGE });
    expect(job).toMatchObject({ status: 'failed', error_code: 'VAL006', attempt: 1 });
    expect(job.error).toMatch(error);
    expect(job.error.length).toBeLessThan(2_100);
  });
});
