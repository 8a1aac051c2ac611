import { describe, expect, it } from 'vitest';
import { checkFixture } from './check-fixture.ts';

const { strategy, check } = checkFixture();

/** Places that outlive a reload, and how a strategy could keep numbers there. */
const KEEPING = [
  [
    "on the prototype of one of Node's errors",
    `let place: any;
try { Buffer.from(null as any); } catch (error) { place = Object.getPrototypeOf(error); }
const keep = (values: Float64Array) => { place.values = values; };
const kept = (): Float64Array | undefined => place.values;`,
  ],
  [
    'in the listener of the engine, which tells them by the last match of a regular expression',
    `import { reportActivity, setActivityListener } from '#engine/strategy-errors.ts';
const keep = (values: Float64Array) => {
  const text = '[' + values.join() + ']';
  setActivityListener(() => { /$/.exec(text); }, new Uint16Array(2));
};
const kept = (): number[] | undefined => {
  reportActivity('');
  const text = (RegExp as any).$_;
  return text.startsWith('[') ? JSON.parse(text) : undefined;
};`,
  ],
] as const;

describe('touchstone check', () => {
  it('check certifies a strategy by the name that its code computes, and prints what it searched', async () => {
    strategy(
      'clean',
      "name: ['computed', 'name'].join('_'), callbacks: { customExit: ({ candles, index }, t, price) => (candles.close[index - 1]! > price * 1.01 ? 'x' : null) },",
    );
    const { code, out, err } = await check('computed_name');
    expect([code, err]).toEqual([0, '']);
    expect(out.trim().split('\n')).toHaveLength(1);
    expect(out).toMatch(
      /clean\.ts certified: 20 cuts of 1000 candles of 1 pair, each with unknown and with changed later candles, \d+ truncated histories of the columns, \d+ entry signals and \d+ trades, guarded columns in \d+ calls of customExit \(BTC\/USDT:USDT on sim, 1h, 2024-/,
    );
  });

  it('check rejects a parameter that the strategy does not have', async () => {
    strategy('plain');
    const { code, err } = await check('plain', '--param', 'speed=9');
    expect(code).toBe(1);
    expect(err).toMatch(/speed/);
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
      "const secret = (process as any).getBuiltinModule('node:fs').readFileSync('/etc/passwd', 'utf8');",
    );
    const { code, err } = await check('thief');
    expect(code).toBe(1);
    expect(err).toMatch(/process\.getBuiltinModule is not a function/);
    strategy('curious', '', "throw new Error('found ' + Object.keys(process.env));");
    expect((await check('curious')).err).toMatch(/found $/m);
  });

  it('leaking strategy that empties the findings of the check is not certified', async () => {
    strategy(
      'forges',
      "callbacks: { customExit: ({ candles, index }, t, price) => { forge(); return candles.close[index + 3]! < price ? 'x' : null; } },",
      FORGING,
    );
    const { code, out, err } = await check('forges');
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^look-ahead: customExit of BTC\/USDT:USDT .* read candles\.close/m);
    expect(err).toMatch(/forges\.ts is not certified: 20 cuts/);
  });

  it.each(KEEPING)('strategy that keeps the whole candles %s is not certified', async (_where, code) => {
    strategy(
      'keeps',
      `indicators: ({ close }) => {
        if (!kept()?.length) keep(close.slice());
        const later = kept() ?? [];
        return { average: sma(close, 20), next: close.map((value, row) => later[row + 1] ?? value) };
      },
      signals: ({ close }, { next }) => ({
        enterLong: Uint8Array.from(close, (value, row) => Number(next[row]! > value)),
        exitLong: Uint8Array.from(close, (value, row) => Number(next[row]! < value)),
      }),`,
      code,
    );
    const { code: exit, out, err } = await check('keeps');
    expect([exit, out]).toEqual([1, '']);
    expect(err).toMatch(/^look-ahead: .* of BTC\/USDT:USDT at 20\S+ was .*, and is .* with all/m);
    expect(err).toMatch(/keeps\.ts is not certified: 20 cuts/);
  });
});

/** Wraps the channel to the command, and what the check computes with. */
const FORGING = `
const all = globalThis as any;
const emptied = (message: any) => {
  const certificate = (message?.message ?? message)?.certificate;
  if (certificate) certificate.findings = [];
  return message;
};
function forge() {
  for (const way of [
    () => { const { send } = all.process; all.process.send = (message: any, ...rest: any[]) => send.call(all.process, emptied(message), ...rest); },
    () => { const { push } = all.Array.prototype; all.Array.prototype.push = function (...values: any[]) { return values[0]?.kind ? 0 : push.apply(this, values); }; },
    () => { const { stringify } = JSON; all.JSON.stringify = (value: any) => stringify(emptied(value)); },
    () => { all.Array.prototype.map = () => []; },
  ]) try { way(); } catch {}
}
forge();
`;
