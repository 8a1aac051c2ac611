import { describe, expect, it } from 'vitest';
import { ReportRobustness } from '#contract/backtests/report-robustness.ts';
import type { Candles } from '#engine/candles.ts';
import { ROBUSTNESS_TEST_DEFINITIONS } from '#engine/metrics/robustness-catalogue.ts';
import { createRandom } from '#engine/random.ts';
import { permuteBars, permutedFunding } from '#engine/robustness/bar-permutation.ts';
import { coinFlips, MOMENTUM, randomCandles, testOf } from './chance.ts';

const HOUR = 3_600_000;
const candles = randomCandles(500, 1);

/** Without a minus before a rounded 0. */
const text = (value: number) => value.toFixed(9).replace(/^-(0\.0*)$/, '$1');

/** ln of high, low and close over the open with the volume, in the order of their texts. */
function barsOf({ open, high, low, close, volume }: Candles, from: number): string[] {
  return Array.from(open.subarray(from), (price, i) => {
    const row = from + i;
    const changes = [high[row]!, low[row]!, close[row]!].map((each) => text(Math.log(each / price)));
    return [...changes, volume[row]!.toFixed(9)].join();
  }).sort();
}

function gapsOf({ open, close }: Candles, from: number): string[] {
  return Array.from(open.subarray(from + 1), (price, i) => text(Math.log(price / close[from + i]!))).sort();
}

describe('permuted bars', () => {
  const open = candles.open.map((price, row) => price * (1 + 0.0005 * Math.sin(row)));
  const gappy = {
    ...candles,
    open,
    high: candles.high.map((price, row) => Math.max(price, open[row]!)),
    low: candles.low.map((price, row) => Math.min(price, open[row]!)),
  };
  const [permuted] = permuteBars([{ candles: gappy, from: 20 }], HOUR, createRandom(1));

  it('keep every bar and every gap, the candles before the start, and the last price', () => {
    expect(barsOf(permuted!, 20)).toEqual(barsOf(gappy, 20));
    expect(gapsOf(permuted!, 20)).toEqual(gapsOf(gappy, 20));
    expect(permuted!.close.subarray(0, 20)).toEqual(gappy.close.subarray(0, 20));
    expect(permuted!.timestamp).toEqual(gappy.timestamp);
    expect(permuted!.close.at(-1)! / gappy.close.at(-1)!).toBeCloseTo(1, 10);
    expect(permuted!.close.subarray(20)).not.toEqual(gappy.close.subarray(20));
  });

  it('follow one order in all pairs, also in one that begins later', () => {
    const later = { ...candles };
    for (const name of ['timestamp', 'open', 'high', 'low', 'close', 'volume'] as const)
      later[name] = candles[name].slice(100);
    const [whole, part] = permuteBars(
      [
        { candles, from: 20 },
        { candles: later, from: 0 },
      ],
      HOUR,
      createRandom(2),
    );
    // The same volumes, in the same order: those of the bars that both have.
    const own = new Set(later.volume);
    expect([...whole!.volume.subarray(20)].filter((each) => own.has(each))).toEqual([...part!.volume]);
  });

  it('funding keeps times and rates, with the permuted price', () => {
    const funding = {
      timestamp: Float64Array.of(candles.timestamp[30]!, candles.timestamp[40]!),
      rate: Float64Array.of(0.001, -0.002),
      markPrice: Float64Array.of(1, 1),
    };
    const moved = permutedFunding(funding, permuted!);
    expect(moved.rate).toBe(funding.rate);
    expect([...moved.markPrice]).toEqual([permuted!.open[30], permuted!.open[40]]);
  });
});

describe('requested tests', () => {
  const every = { cost_sweep: true, random_entries: 199, permutations: 19 } as const;
  const section = testOf(MOMENTUM, [candles, randomCandles(500, 2)], every);

  it('are in the report with definitions, and equal for equal inputs', () => {
    expect(ReportRobustness.parse(section)).toEqual(section);
    expect(testOf(MOMENTUM, [candles, randomCandles(500, 2)], every)).toEqual(section);
    for (const name of ['delay', 'total_profit_pct', 'total_trades', 'p_value', 'profit_pct'])
      expect(ROBUSTNESS_TEST_DEFINITIONS).toHaveProperty([`robustness.${name}`]);
    expect(section.findings.filter((finding) => finding.startsWith('p = '))).toHaveLength(2);
  });

  it('are absent without a request', () => {
    const plain = testOf(MOMENTUM, [candles], undefined);
    expect(Object.keys(plain)).not.toEqual(expect.arrayContaining(['cost_sweep']));
    expect(Object.keys(plain)).not.toEqual(expect.arrayContaining(['random_entries']));
    expect(Object.keys(plain)).not.toEqual(expect.arrayContaining(['permutations']));
  });

  it('the cost sweep has 21 cells; profits fall with costs, and one cell is the run', () => {
    const cells = section.cost_sweep!.cells;
    expect(cells).toHaveLength(21);
    for (const delay of [0, 1, 2]) {
      const profits = cells.filter((cell) => cell.delay === delay).map((cell) => cell.total_profit_pct);
      expect(profits).toEqual([...profits].sort((a, b) => b - a));
    }
    const own = cells.find(({ cost, delay }) => cost === 0.0002 && delay === 0)!;
    expect(own.total_profit_pct).toBeCloseTo(section.permutations!.profit_pct!, 9);
  });

  it('a delay moves every signal: a strategy that already waits a candle has the profit of the delay', () => {
    const waiting = {
      ...MOMENTUM,
      signals: (...args: Parameters<typeof MOMENTUM.signals>) => {
        const { enterLong, exitLong } = MOMENTUM.signals(...args);
        const later = (column: Uint8Array) => Uint8Array.from([0, ...column.subarray(0, -1)]);
        return { enterLong: later(enterLong!), exitLong: later(exitLong!) };
      },
    };
    const cell = (cells: NonNullable<ReportRobustness['cost_sweep']>['cells'], delay: number) =>
      cells.find((each) => each.cost === 0.0005 && each.delay === delay)!;
    const own = testOf(MOMENTUM, [candles], { cost_sweep: true }).cost_sweep!.cells;
    const moved = testOf(waiting, [candles], { cost_sweep: true }).cost_sweep!.cells;
    // The first and the last signal may differ: they come from outside of the traded rows.
    const difference = cell(moved, 0).total_profit_pct - cell(own, 1).total_profit_pct;
    expect(Math.abs(difference)).toBeLessThan(0.1);
    expect(Math.abs(cell(own, 0).total_profit_pct - cell(own, 1).total_profit_pct)).toBeGreaterThan(0.2);
  });

  it('a planted edge is told from chance, by each test with its own', () => {
    const skilled = testOf(coinFlips(3, 0.9), [candles], { random_entries: 999 }).random_entries!;
    expect(skilled.p_value).toBeLessThanOrEqual(0.01);
    const trending = testOf(MOMENTUM, [randomCandles(1_000, 5, 0.4)], { permutations: 99 });
    expect(trending.permutations!.p_value).toBe(0.01);
    expect(trending.findings.at(-1)).toContain('chance alone rarely earns this much');
  });

  it('buying once and holding has no other entries: its p-value is 1', () => {
    const hold = {
      ...MOMENTUM,
      signals: ({ close }: Candles) => ({ enterLong: new Uint8Array(close.length).fill(1) }),
    };
    const { random_entries } = testOf(hold, [candles], { random_entries: 99 });
    expect(random_entries).toMatchObject({ p_value: 1, reason: null });
  });

  it('a run without trades has no p-values, with the reason', () => {
    const silent = { ...MOMENTUM, signals: () => ({}) };
    const { random_entries, permutations } = testOf(silent, [candles], every);
    const none = { samples: 0, p_value: null, reason: 'The run has no trades.' };
    expect([random_entries, permutations]).toMatchObject([none, none]);
  });

  it('a strategy that fails on permuted candles keeps its result', () => {
    const last = candles.volume.at(-1)!;
    const brittle = {
      ...MOMENTUM,
      indicators: ({ volume }: Candles) => {
        if (volume.at(-1) !== last) throw new Error('unknown candles');
        return {};
      },
    };
    const { permutations } = testOf(brittle, [candles], { permutations: 19 });
    expect(permutations).toMatchObject({
      p_value: null,
      reason: expect.stringMatching(/^The strategy failed on permuted candles: .*unknown candles/),
    });
  });
});
