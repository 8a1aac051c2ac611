import { describe, expect, it } from 'vitest';
import { checkFixture } from './check-fixture.ts';

const { strategy, check } = checkFixture();

describe('touchstone check', () => {
  it('check certifies a strategy by name and prints what it searched', async () => {
    strategy(
      'clean',
      "callbacks: { customExit: ({ candles, index }, t, price) => (candles.close[index - 1]! > price * 1.01 ? 'x' : null) },",
    );
    const { code, out, err } = await check('clean');
    expect([code, err]).toEqual([0, '']);
    expect(out.trim().split('\n')).toHaveLength(1);
    expect(out).toMatch(
      /clean\.ts certified: 20 cuts of 1000 candles of 1 pair, each with unknown and with changed later candles, \d+ truncated histories of the columns, \d+ entry signals and \d+ trades, guarded columns in \d+ calls of customExit \(BTC\/USDT:USDT on sim, 1h, 2024-/,
    );
  });

  it('check prints callback, column, row, pair, file and line of a leak', async () => {
    const file = strategy(
      'ahead',
      "callbacks: { customExit: ({ candles, index }, t, price) => (candles.close[index + 3]! < price ? 'x' : null) },",
    );
    const { code, out, err } = await check(file);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(
      /^look-ahead: customExit of BTC\/USDT:USDT in the candle of 20\S+ read candles\.close\[\d+\]: 3 rows beyond index \(\d+\) \(ahead\.ts:8\)$/m,
    );
    expect(err).toMatch(/ahead\.ts is not certified: 20 cuts/);
  });

  it('checked strategy cannot read files or the environment', async () => {
    strategy(
      'thief',
      '',
      "const secret = process.getBuiltinModule('node:fs').readFileSync('/etc/passwd', 'utf8');",
    );
    const { code, err } = await check('thief');
    expect(code).toBe(1);
    expect(err).toMatch(/Access to this API has been restricted/);
    strategy('curious', '', 'throw new Error(Object.keys(process.env).join());');
    expect((await check('curious')).err).not.toMatch(/HOME|PATH/);
  });
});
