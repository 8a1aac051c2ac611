import { describe, expect, it } from 'vitest';
import { analyze, StrategyRunError } from '#engine/analysis/analyze.ts';
import { sma } from '#engine/indicators/index.ts';
import { defineStrategy, type StrategyDefinition } from '#engine/strategy.ts';
import { marketCandles } from '../indicators/market.ts';

const candles = marketCandles(1, 48);

const strategy = defineStrategy({
  name: 'sample',
  description: 'A sample',
  timeframe: '1h',
  pairs: ['BTC/USDT:USDT'],
  stakeAmount: 100,
  parameters: { period: { kind: 'integer', default: 2, min: 1, max: 5, description: 'Candles' } },
  startupCandles: () => 5,
  informativeTimeframes: ['4h', '1d'],
  indicators: ({ close }, { period }) => ({ close, average: sma(close, period) }),
  signals: ({ close }) => ({ enterLong: new Uint8Array(close.length) }),
  stoploss: -0.1,
});

const run = (changes: Partial<StrategyDefinition>) => () =>
  analyze({ ...strategy, ...changes }, { period: 2 }, candles);

describe('analyze', () => {
  it('analyze computes indicators on every timeframe and shows higher candles once they have closed', () => {
    let seen: unknown;
    const { columns, informative } = analyze(
      {
        ...strategy,
        signals: (...args) => {
          seen = args;
          return {};
        },
      },
      { period: 2 },
      candles,
    );
    expect(columns).toEqual({ close: candles.close, average: sma(candles.close, 2) });
    expect(Object.keys(informative)).toEqual(['4h', '1d']);
    const at4h = informative['4h']!;
    expect(at4h.close![2]).toBeNaN();
    expect([...at4h.close!.subarray(3, 8)]).toEqual([3, 3, 3, 3, 7].map((row) => candles.close[row]));
    expect(at4h.average![7]).toBe((candles.close[3]! + candles.close[7]!) / 2);
    expect(informative['1d']!.close![22]).toBeNaN();
    expect(informative['1d']!.close![23]).toBe(candles.close[23]);
    const info = { pair: strategy.pairs[0], timeframe: '1h' };
    expect(seen).toEqual([candles, columns, { period: 2 }, informative, info]);
  });

  it("analyze accepts an informative timeframe equal to the run's and rejects a shorter one", () => {
    const daily = marketCandles(1, 40, '1d');
    const onDays = { ...strategy, timeframe: '1d', informativeTimeframes: ['1d'] } as StrategyDefinition;
    expect(analyze(onDays, { period: 2 }, daily).informative['1d']!.close).toEqual(daily.close);
    expect(run({ timeframe: '1d', informativeTimeframes: ['4h'] })).toThrow(
      'Strategy sample reads 4h candles and cannot run on 1d: use 4h or shorter.',
    );
  });

  it.each<[string, Partial<StrategyDefinition>, string]>([
    [
      'a column of another length',
      { indicators: () => ({ x: new Float64Array(3) }) },
      '"x" must be a Float64Array of 48 values',
    ],
    ['an array', { indicators: () => ({ x: [1] as unknown as Float64Array }) }, '"x" must be a Float64Array'],
    ['no columns', { indicators: () => undefined as never }, 'indicators() must return an object of columns'],
    ['no signals', { signals: () => undefined as never }, 'signals() must return an object of columns'],
    [
      'signals of another length',
      { signals: () => ({ exitLong: new Uint8Array(1) }) },
      '"exitLong" must be a Uint8Array of 48 values',
    ],
    [
      'signals of another type',
      { signals: () => ({ enterShort: new Float64Array(48) as never }) },
      '"enterShort" must be a Uint8Array',
    ],
    [
      'a misspelled signal',
      { signals: () => ({ enter_long: new Uint8Array(48) }) as never },
      'did you mean enterLong?',
    ],
    [
      'an unknown signal',
      { signals: () => ({ panic: new Uint8Array(48) }) as never },
      'there are enterLong, exitLong',
    ],
  ])('analyze rejects %s', (_case, changes, message) => {
    expect(run(changes)).toThrow(StrategyRunError);
    expect(run(changes)).toThrow(message);
  });

  it('analyze error names the timeframe of a wrong informative column', () => {
    const indicators: StrategyDefinition['indicators'] = ({ close }) => ({
      x: new Float64Array(48).fill(close[0]!),
    });
    expect(run({ indicators })).toThrow(
      'Strategy sample on 4h: indicator column "x" must be a Float64Array of 12',
    );
  });
});

describe('signal values', () => {
  const column = (value: number) => Uint8Array.from(candles.close, (_, row) => (row === 7 ? value : 0));

  it.each([
    ['a value of 7', { enterLong: column(7) }, '"enterLong" holds 7 in row 7: a signal is 0 or 1'],
    [
      'a tag without a string',
      { enterTag: column(2), tags: ['', 'dip'] },
      '"enterTag" holds 2 in row 7: tags has 2 strings',
    ],
    ['a tag without any strings', { exitTag: column(1) }, '"exitTag" holds 1 in row 7: tags has 0 strings'],
    ['a tag that is not a string', { tags: ['', 'dip', 5 as never] }, 'tags[2] must be a string'],
    ['a gap among the tags', { tags: Array(3) }, 'tags[1] must be a string'],
    [
      'a tag of 256 characters',
      { tags: ['', 'x'.repeat(256)] },
      'tags[1] must be a string of at most 255 characters',
    ],
    ['a string for the tags', { tags: 'dip' as never }, 'tags must be an array of strings'],
  ])('analyze rejects %s in signals', (_, signals, text) => {
    expect(run({ signals: () => signals })).toThrow(text);
  });

  it('analyze accepts tags up to the last string', () => {
    expect(
      run({
        signals: () => ({
          enterLong: column(1),
          enterTag: column(1),
          tags: [null as never, 'x'.repeat(255)],
        }),
      }),
    ).not.toThrow();
  });
});
