import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkFixture } from './check-fixture.ts';

const { strategies, strategy, check } = checkFixture();

describe('touchstone check', () => {
  it('check finds stored later closes in a module that the strategy imports', async () => {
    writeFileSync(
      join(strategies, 'shared/memo.ts'),
      'export const memo: { close?: Float64Array; timestamp?: Float64Array } = {};\n',
    );
    strategy(
      'memo',
      `indicators: (candles) => {
    memo.close ??= candles.close;
    memo.timestamp ??= candles.timestamp;
    return { average: sma(candles.close, 20) };
  },
  callbacks: { confirmEntry: ({ time }, side, price) => !(memo.close![memo.timestamp!.indexOf(time) + 4]! < price) },`,
      "import { memo } from './shared/memo.ts';",
    );
    const { code, err } = await check('memo');
    expect(code).toBe(1);
    expect(err).toMatch(
      /^look-ahead: confirmEntry of BTC\/USDT:USDT in the candle of 20.* \(memo\.ts:13\)$/m,
    );
  });

  it('check prints the error of an invalid definition or a failing strategy', async () => {
    strategy('unsound', 'stoplos: -0.1, stoploss: 0.5,');
    const unsound = await check('unsound');
    expect([unsound.code, unsound.out]).toEqual([1, '']);
    expect(unsound.err).toContain('stoplos');
    strategy('broken', '', 'const = 1;');
    const broken = await check(join(strategies, 'broken.ts'));
    expect(broken.code).toBe(1);
    expect(broken.err).toMatch(/broken\.ts/);
    strategy('silent', 'signals: () => ({}),');
    const silent = await check('silent');
    expect(silent.code).toBe(1);
    expect(silent.err).toMatch(/silent\.ts not_checked: no entry signal in 1000 candles/);
  });

  it('usage errors print the correct syntax', async () => {
    strategy('clean');
    const unknown = await check('nowhere');
    expect([unknown.code, unknown.err]).toEqual([
      2,
      expect.stringMatching(/Strategy nowhere does not exist in .*Available: .*ema_crossover/),
    ]);
    expect((await check('clean', '--timerange', '2025')).code).toBe(2);
    expect((await check('clean', '--exchange', 'bybit')).err).toContain('--timerange 20250101-20250301');
    const none = await check('clean', '--exchange', 'bybit', '--timerange', '20250101-20250201');
    expect([none.code, none.err]).toEqual([
      1,
      expect.stringMatching(/No 1h candles of BTC\/USDT:USDT on bybit are stored in /),
    ]);
  });
});
