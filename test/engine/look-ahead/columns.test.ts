import { describe, expect, it } from 'vitest';
import type { Candles } from '#engine/candles.ts';
import { crossedAbove, ema, sma, where } from '#engine/indicators/index.ts';
import { certifyLookAhead } from '#engine/look-ahead/certify.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { sound } from './crossing-fixture.ts';
import { searchedRun } from './every-run.ts';
import { lookAheadSubject } from './look-ahead-subject.ts';

const OPTIONS = { seeds: [8], rows: 580 };

const search = async (changes: Partial<StrategyDefinition>) =>
  certifyLookAhead(
    lookAheadSubject(() => sound(changes), OPTIONS),
    { histories: 60, cuts: 6 },
  );

const next = (values: Float64Array, ahead: number) => {
  const result = new Float64Array(values.length).fill(Number.NaN);
  result.set(values.subarray(ahead));
  return result;
};

const found = ({ findings }: Awaited<ReturnType<typeof search>>) => findings.map(({ column }) => column);

describe('columns and signals on truncated histories', () => {
  it('certification finds a column shifted back by one candle', async () => {
    const { findings } = await search({
      indicators: ({ close }) => ({ average: sma(close, 20), tomorrow: next(close, 1) }),
    });
    expect(findings).toHaveLength(1);
    const [{ row, time, message } = { row: null, time: null, message: '' }] = findings;
    expect(findings[0]).toMatchObject({
      pair: 'M8/USDT:USDT',
      kind: 'look_ahead',
      column: 'columns.tomorrow',
    });
    expect(time).toBe(Date.UTC(2024, 0, 1) + row! * 3_600_000);
    // The candle after the row was forming.
    expect(message).toContain(
      `was NaN when the candle of ${new Date(time! + 3_600_000).toISOString()} was forming`,
    );
  });

  it.each([1, 3, 24])('certification finds a rare signal that looks %i candles ahead', async (ahead) => {
    const signals: StrategyDefinition['signals'] = ({ close }) => {
      const later = next(close, ahead);
      return { enterLong: where(close.length, (i) => i % 40 === 7 && later[i]! > close[i]!) };
    };
    const { findings } = await search({ signals });
    expect(findings.map(({ column }) => column)).toEqual(['enterLong']);
    expect(findings[0]!.message).toMatch(/ was 0 when .+, and is 1 with all$/);
  });

  it('certification finds a signal withdrawn when the next candle disagrees', async () => {
    const { findings } = await search({
      signals: ({ close }, { average }) => ({
        enterLong: crossedAbove(close, average!).map((set, i) => (close[i + 1]! < close[i]! ? 0 : set)),
      }),
    });
    expect(findings.map(({ column }) => column)).toEqual(['enterLong']);
    expect(findings[0]!.message).toMatch(/ was (1 when .+, and is 0|0 when .+, and is 1) with all$/);
  });

  it('certification finds the last value in missing ones', async () => {
    const { findings } = await search({
      indicators: ({ close }) => {
        const average = sma(close, 20);
        return { average: average.map((value) => (Number.isNaN(value) ? average.at(-1)! : value)) };
      },
    });
    expect(findings[0]).toMatchObject({ column: 'columns.average', row: 0 });
  });

  it('certification finds an informative indicator that looks ahead on its own candles', async () => {
    const certificate = await search({
      informativeTimeframes: ['4h'],
      indicators: ({ close, timestamp }) => ({
        average: sma(close, 20),
        ahead: timestamp[1]! - timestamp[0]! === 14_400_000 ? next(close, 1) : close,
      }),
    });
    expect(found(certificate)).toEqual(['informative.4h.ahead']);
  });

  it('certification finds a tag that depends on the outcome', async () => {
    const { findings } = await search({
      signals: ({ close }, { average }) => ({
        enterLong: crossedAbove(close, average!),
        enterTag: new Uint8Array(close.length).map((_, i) => (close[i + 1]! > close[i]! ? 1 : 2)),
        tags: ['', 'winner', 'loser'],
      }),
    });
    expect(findings.map(({ column }) => column)).toEqual(['enterTag']);
    expect(findings[0]!.message).toMatch(/ was loser when .+, and is winner with all$/);
  });

  it('certification reports columns that are not repeatable', async () => {
    let calls = 0;
    const { findings } = await search({
      indicators: ({ close }) => ({ average: sma(close, 20), noise: close.map(() => calls++) }),
    });
    expect(findings.map(({ kind, column }) => [kind, column])).toEqual([['not_repeatable', 'columns.noise']]);
  });

  it('certification fails for a strategy that writes into its candles', async () => {
    const writing = search({ indicators: ({ open, close }) => ({ average: ema(open, 20, close) }) });
    await expect(writing).rejects.toThrow('it wrote into the candles it was given');
  });

  it.each([
    ['before its first read', () => {}, {}],
    ['after its first read', (candles: Candles) => candles.timestamp.length, {}],
    ['with callbacks', () => {}, { callbacks: { customExit: () => null } }],
  ])('run fails when its strategy replaces a column of its candles %s', async (_name, read, more) => {
    const replacing = search({
      ...more,
      indicators: (candles) => {
        read(candles);
        const earlier = Float64Array.from(candles.close, (_, row) => row);
        Object.defineProperty(candles, 'timestamp', { get: () => earlier });
        return { average: sma(candles.close, 20) };
      },
    });
    await expect(replacing).rejects.toThrow('it wrote into the candles it was given');
  });

  it('run fails when the name of a column is longer than that of a tag', async () => {
    const name = 'x'.repeat(3_000_000);
    const indicators: StrategyDefinition['indicators'] = ({ close }) => ({
      average: sma(close, 20),
      [name]: close.slice(),
    });
    await expect(search({ indicators })).rejects.toThrow(
      'the name of indicator column "xxxxxxxxxxxxxxxxxxxx…" has 3000000 characters: use at most 255.',
    );
  });

  it('certification counts no entry signal of a strategy without signals', async () => {
    expect(await search({ signals: () => ({}) })).toMatchObject({ findings: [], entrySignals: 0 });
  });

  it('certification cuts the same histories for the same seed', async () => {
    const cuts = async (seed: number) => {
      const lengths: number[] = [];
      const define = () =>
        sound({
          indicators: ({ close }) => {
            lengths.push(close.length);
            return { average: sma(close, 20) };
          },
        });
      await certifyLookAhead(lookAheadSubject(define, OPTIONS), { histories: 30, cuts: 2, seed });
      return lengths;
    };
    expect(await cuts(1)).toEqual(await cuts(1));
    expect(await cuts(1)).not.toEqual(await cuts(2));
    // The end is always among them.
    expect(await cuts(1)).toEqual(expect.arrayContaining([597, 598, 599]));
  });
});

/** A copy of an array whose methods are functions of the strategy, and note their calls. */
function withOwnMethods(values: Float64Array, called: Set<PropertyKey>): Float64Array {
  const own = values.slice();
  for (const key of Reflect.ownKeys(Object.getPrototypeOf(Float64Array.prototype))) {
    const method: unknown = Reflect.getOwnPropertyDescriptor(
      Object.getPrototypeOf(Float64Array.prototype),
      key,
    )!.value;
    if (typeof method !== 'function') continue;
    const get = () => {
      called.add(key);
      return method;
    };
    Object.defineProperty(own, key, { get });
  }
  return own;
}

describe('columns with methods of their own', () => {
  it.each([
    ['without callbacks', {}],
    ['with callbacks', { callbacks: { customExit: () => null } }],
  ])('search of a strategy %s calls no method of its columns', async (_name, changes) => {
    const called = new Set<PropertyKey>();
    const define = () =>
      sound({
        ...changes,
        informativeTimeframes: ['4h'],
        // Equal but for rounding: the search then takes the values of the run.
        indicators: ({ close }) => ({
          average: withOwnMethods(
            sma(close, 20).map((value) => value * (1 + close.length * 1e-13)),
            called,
          ),
        }),
        signals: ({ close }) => ({
          enterLong: where(close.length, (row) => row % 40 === 7),
          exitLong: where(close.length, (row) => row % 40 === 27),
        }),
      });
    const { findings } = await certifyLookAhead(lookAheadSubject(define, OPTIONS), {
      histories: 24,
      cuts: 4,
    });
    expect(findings).toEqual([]);
    expect((await searchedRun(define, OPTIONS)).sample.findings).toEqual([]);
    expect([...called]).toEqual([]);
  });
});
