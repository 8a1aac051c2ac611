import { describe, expect, it } from 'vitest';
import { type Candles, createCandles } from '#engine/candles.ts';
import { crossedAbove, ema, sma, where } from '#engine/indicators/index.ts';
import { analyzeLookAhead, type LookAheadOptions } from '#engine/look-ahead/analysis.ts';
import { builtInStrategies } from '#engine/strategies/built-in.ts';
import { defaultParameters } from '#engine/strategies/parameters.ts';
import { defineStrategy, type StrategyDefinition } from '#engine/strategy.ts';
import example from '#strategies/example_pullback.ts';
import { marketCandles } from '../indicators/market.ts';
import { CROSSING } from './crossing-fixture.ts';

const LENGTH = 3_000;

function markets({ timeframe }: StrategyDefinition): Map<string, Candles> {
  return new Map([
    ['BTC/USDT:USDT', marketCandles(21, LENGTH, timeframe)],
    ['ETH/USDT:USDT', marketCandles(22, LENGTH, timeframe)],
    ['SOL/USDT:USDT', marketCandles(23, LENGTH, timeframe)],
  ]);
}

/** Minimum number of entry signals over the three markets, so that the analysis covers entries. */
const MIN_SIGNALS = 30;

describe('own strategies', () => {
  it.each([...builtInStrategies, example].map((strategy) => [strategy.name, strategy] as const))(
    'strategy %s has no look-ahead bias',
    (_name, strategy) => {
      const params = defaultParameters(strategy.parameters);
      const report = analyzeLookAhead(strategy, params, markets(strategy));
      expect(report.findings).toEqual([]);
      expect(report.histories).toBeGreaterThan(60);
      expect(report.entrySignals).toBeGreaterThanOrEqual(MIN_SIGNALS);
    },
  );

  it.each([...builtInStrategies, example].map((strategy) => [strategy.name, strategy] as const))(
    'strategy %s has no look-ahead bias at the ends of its parameter ranges',
    (_name, strategy) => {
      for (const end of ['min', 'max'] as const) {
        const params = Object.fromEntries(
          Object.entries(strategy.parameters).map(([name, parameter]) => [
            name,
            parameter.kind === 'choice' ? parameter.choices.at(end === 'min' ? 0 : -1) : parameter[end],
          ]),
        ) as Record<string, number>;
        const candles = new Map([['BTC/USDT:USDT', marketCandles(21, LENGTH, strategy.timeframe)]]);
        expect(analyzeLookAhead(strategy, params, candles, { histories: 6 }).findings).toEqual([]);
      }
    },
  );
});

/** Causal strategy that the cases below change in one place. */
const honest = defineStrategy({
  ...CROSSING,
  name: 'honest',
  signals: ({ close }, { average }) => ({ enterLong: crossedAbove(close, average!) }),
  stoploss: -0.1,
});

const search = (changes: Partial<StrategyDefinition>, options = {}) =>
  analyzeLookAhead(
    { ...honest, ...changes },
    {},
    new Map([['BTC/USDT:USDT', marketCandles(8, 600)]]),
    options,
  );

const next = (values: Float64Array, ahead: number) => {
  const result = new Float64Array(values.length).fill(Number.NaN);
  result.set(values.subarray(ahead));
  return result;
};

describe('analyzeLookAhead', () => {
  it('look-ahead analysis finds nothing in a causal strategy', () => {
    expect(search({}).findings).toEqual([]);
  });

  it('look-ahead analysis finds a column shifted back by one candle', () => {
    const { findings } = search({
      indicators: ({ close }) => ({ average: sma(close, 20), tomorrow: next(close, 1) }),
    });
    expect(findings).toHaveLength(1);
    expect(findings[0]).toMatchObject({
      pair: 'BTC/USDT:USDT',
      kind: 'look_ahead',
      column: 'columns.tomorrow',
      before: Number.NaN,
    });
    expect(findings[0]!.row).toBe(findings[0]!.known - 1);
    expect(findings[0]!.time).toBe(Date.UTC(2024, 0, 1) + findings[0]!.row * 3_600_000);
    expect(findings[0]!.histories).toBeGreaterThan(20);
  });

  it.each([1, 3, 24])('look-ahead analysis finds a rare signal that looks %i candles ahead', (ahead) => {
    const signals: StrategyDefinition['signals'] = ({ close }) => {
      const later = next(close, ahead);
      return { enterLong: where(close.length, (i) => i % 40 === 7 && later[i]! > close[i]!) };
    };
    const { findings } = search({ signals });
    expect(findings.map(({ column }) => column)).toEqual(['enterLong']);
    expect(findings[0]).toMatchObject({ before: 0, after: 1 });
  });

  it('look-ahead analysis finds a signal withdrawn when the next candle disagrees', () => {
    const { findings } = search({
      signals: ({ close }, { average }) => ({
        enterLong: crossedAbove(close, average!).map((set, i) => (close[i + 1]! < close[i]! ? 0 : set)),
      }),
    });
    expect(findings.map(({ column, before, after }) => [column, before, after])).toEqual([
      ['enterLong', 1, 0],
    ]);
  });

  it('look-ahead analysis finds values normalized over the whole series', () => {
    const { findings } = search({
      indicators: ({ close }) => {
        const mean = close.reduce((total, value) => total + value, 0) / close.length;
        return { average: sma(close, 20), normalised: close.map((value) => value / mean) };
      },
    });
    expect(findings.map(({ column }) => column)).toEqual(['columns.normalised']);
  });

  it('look-ahead analysis finds values filled backwards', () => {
    const { findings } = search({
      indicators: ({ close }) => {
        const average = sma(close, 20);
        return { average: average.map((value) => (Number.isNaN(value) ? average.at(-1)! : value)) };
      },
    });
    expect(findings[0]).toMatchObject({ column: 'columns.average', row: 0 });
  });

  it('look-ahead analysis finds the close of a higher candle before it has closed', () => {
    const block = (time: number) => Math.floor(time / 14_400_000);
    const { findings } = search({
      indicators: ({ close, timestamp }) => {
        const lastCloses = new Map<number, number>();
        for (const [row, value] of close.entries()) lastCloses.set(block(timestamp[row]!), value);
        return { average: timestamp.map((time) => lastCloses.get(block(time))!) };
      },
    });
    expect(findings.map(({ column }) => column)).toContain('columns.average');
  });

  it('look-ahead analysis finds an informative indicator that looks ahead on its own candles', () => {
    const { findings } = search({
      informativeTimeframes: ['4h'],
      indicators: ({ close, timestamp }) => ({
        average: sma(close, 20),
        ahead: timestamp[1]! - timestamp[0]! === 14_400_000 ? next(close, 1) : close,
      }),
    });
    expect(findings.map(({ column }) => column)).toEqual(['informative.4h.ahead']);
  });

  it('look-ahead analysis finds a tag that depends on the outcome', () => {
    const { findings } = search({
      signals: ({ close }, { average }) => ({
        enterLong: crossedAbove(close, average!),
        enterTag: new Uint8Array(close.length).map((_, i) => (close[i + 1]! > close[i]! ? 1 : 2)),
        tags: ['', 'winner', 'loser'],
      }),
    });
    expect(findings.map(({ column }) => column)).toEqual(['enterTag']);
    expect(findings[0]).toMatchObject({ before: 'loser', after: 'winner' });
  });
});

describe('limits of the look-ahead analysis', () => {
  it('look-ahead analysis reports a strategy that is not repeatable', () => {
    let calls = 0;
    const { findings } = search({
      indicators: ({ close }) => ({ average: sma(close, 20), noise: close.map(() => calls++) }),
    });
    expect(findings.map(({ kind, column }) => [kind, column])).toContainEqual([
      'not_repeatable',
      'columns.noise',
    ]);
  });

  it('look-ahead analysis reports a strategy that writes into its candles', () => {
    const candles = marketCandles(8, 600);
    const before = candles.close.slice();
    const strategy = { ...honest, indicators: (own: Candles) => ({ average: ema(own.open, 20, own.close) }) };
    const { findings } = analyzeLookAhead(strategy, {}, new Map([['BTC/USDT:USDT', candles]]));
    expect(findings.map(({ kind, column }) => [kind, column])).toContainEqual([
      'input_changed',
      'candles.close',
    ]);
    expect(candles.close).toEqual(before);
  });

  it('look-ahead analysis rejects too few candles and an empty list of pairs', () => {
    expect(() => analyzeLookAhead(honest, {}, new Map())).toThrow('No pair was given.');
    const short = new Map([['BTC/USDT:USDT', createCandles(23)]]);
    expect(() => analyzeLookAhead(honest, {}, short)).toThrow(
      'BTC/USDT:USDT has 23 candles; searching honest for look-ahead needs 24.',
    );
  });

  it('look-ahead analysis reports 0 entry signals for a strategy without signals', () => {
    expect(search({ signals: () => ({}) })).toMatchObject({ findings: [], entrySignals: 0 });
  });
});

it('look-ahead analysis cuts the same histories for the same seed and a larger share of short series', () => {
  const cuts = (options: LookAheadOptions, length = 600) => {
    const lengths: number[] = [];
    const indicators: StrategyDefinition['indicators'] = ({ close }) => {
      lengths.push(close.length);
      return { average: sma(close, 20) };
    };
    const candles = new Map([['BTC/USDT:USDT', marketCandles(8, length)]]);
    const { histories } = analyzeLookAhead({ ...honest, indicators }, {}, candles, options);
    // Two more runs use the complete history.
    expect(lengths).toHaveLength(histories + 2);
    return lengths.slice(2);
  };
  expect(cuts({ histories: 30 })).toEqual(cuts({ histories: 30 }));
  expect(cuts({ histories: 30 })).not.toEqual(cuts({ histories: 30, seed: 2 }));
  expect(cuts({ histories: 30 }).slice(-3)).toEqual([597, 598, 599]);
  expect(cuts({})).toEqual(Array.from({ length: 579 }, (_, i) => 21 + i));
  expect(cuts({}, 20_000).length).toBeGreaterThan(200);
  expect(cuts({}, 20_000).length).toBeLessThan(260);
});
