import { describe, expect, it } from 'vitest';
import { ReportRobustness } from '#contract/backtests/report-robustness.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { type BacktestInput, runBacktest } from '#engine/backtest.ts';
import { ROBUSTNESS_DEFINITIONS } from '#engine/metrics/robustness-catalogue.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { CONFIG, SAMPLE_STRATEGY, sampleInput, sha256 } from '../backtest-sample.ts';
import { START, walk } from '../run/candles.ts';

const HOURS = 4;
const STEP = (HOURS * DAY_MS) / 24;
const STARTUP = 20;

interface Case {
  readonly days: number;
  readonly strategy?: StrategyDefinition;
  readonly pairs?: readonly string[];
  readonly isFlat?: boolean;
}

function inputOf({ days, strategy = SAMPLE_STRATEGY, pairs = CONFIG.pairs, isFlat }: Case): BacktestInput {
  const end = new Date(START + days * DAY_MS).toISOString();
  return sampleInput({
    strategy,
    config: {
      ...CONFIG,
      timeframe: '4h',
      pairs: [...pairs],
      date_range: { start: CONFIG.date_range.start, end },
      leverage: 1,
      trailing: null,
      minimal_roi: {},
      stoploss: -0.3,
      slippage: 0,
    },
    pairs: pairs.map((pair, i) => {
      const candles = walk((days * 24) / HOURS + STARTUP, STEP, i + 3, START - STARTUP * STEP);
      if (!isFlat) return { pair, candles };
      const flat = candles.close.map(() => 100);
      return { pair, candles: { ...candles, open: flat, high: flat, low: flat, close: flat } };
    }),
  });
}

const robustnessOf = (each: Case) => runBacktest(inputOf(each), { digest: sha256 }).report.robustness!;

/** Names of all numbers, without those of the rows of lists. */
function numbersOf(value: unknown, names = new Set<string>()): Set<string> {
  for (const [name, each] of Object.entries(Object(value))) {
    if (typeof each === 'number') names.add(name);
    else if (typeof each === 'object') numbersOf(each, names);
  }
  return names;
}

const silent: StrategyDefinition = { ...SAMPLE_STRATEGY, signals: () => ({}) };
const once: StrategyDefinition = {
  ...SAMPLE_STRATEGY,
  signals: ({ close }) => ({
    enterLong: Uint8Array.from(close, (_, row) => (row === 100 ? 1 : 0)),
    exitLong: Uint8Array.from(close, (_, row) => (row === 160 ? 1 : 0)),
  }),
};

describe('robustness of a report', () => {
  const long = robustnessOf({ days: 300 });

  it('has every part for a long run, and the same bytes for the same inputs', () => {
    expect(ReportRobustness.parse(long)).toEqual(long);
    expect(JSON.stringify(robustnessOf({ days: 300 }))).toBe(JSON.stringify(long));
    const { break_even, regimes, benchmarks, bootstrap } = long;
    expect(break_even).toMatchObject({ cost: null, method: 'same_trades' });
    expect([regimes, ...benchmarks, bootstrap].map(({ reason }) => reason)).toEqual([null, null, null, null]);
    expect(benchmarks.map(({ benchmark, pair }) => [benchmark, pair])).toEqual([
      ['equal_weight', null],
      ['btc', 'BTC/USDT:USDT'],
    ]);
    expect(regimes.days_before).toBe(91);
    expect(regimes.cells.reduce((days, cell) => days + cell.days, 0)).toBe(300 - 91);
    expect(bootstrap.samples).toBe(500);
  });

  it.each([
    [
      'a profit',
      [101, 104],
      /^Warning: one regime \(.*\) earns (8[1-9]|9\d|100) % of the profit of the 29 days with a known regime\. Expect less elsewhere\.$/,
    ],
    // 100 lose a fifth from 100 to 80, then 100 gain a twentieth from 80 to 84; fees are 0.2. The wallet has 1,000.
    ['a loss', [31, 59, 101, 104], /^The run lost 1\.5 % of its wallet\.$/],
  ])('%s in one regime is called so', (_name, days, expected) => {
    const row = (day: number) => STARTUP + (day * 24) / HOURS;
    const flags = (which: number) => (close: Float64Array) =>
      Uint8Array.from(close, (_, at) => (days.some((day, i) => i % 2 === which && row(day) === at) ? 1 : 0));
    const strategy: StrategyDefinition = {
      ...SAMPLE_STRATEGY,
      signals: ({ close }) => ({ enterLong: flags(0)(close), exitLong: flags(1)(close) }),
    };
    const input = inputOf({ days: 120, strategy, pairs: ['ETH/USDT:USDT'] });
    const between = (at: number, from: number, to: number) =>
      Math.min(1, Math.max(0, (at - row(from)) / (row(to) - row(from))));
    const pairs = input.pairs.map(({ pair, candles }) => {
      const price = candles.close.map((_, at) => 100 - 20 * between(at, 32, 58) + 4 * between(at, 102, 103));
      return { pair, candles: { ...candles, open: price, high: price, low: price, close: price } };
    });
    const { findings } = runBacktest({ ...input, pairs }, { digest: sha256 }).report.robustness!;
    expect(findings.filter((each) => /regime|wallet/.test(each))).toEqual([expect.stringMatching(expected)]);
  });

  it.each([
    ['a rise', 1, 'up', 100, []],
    ['a fall', -1, 'down', null, [expect.stringMatching(/^The run lost \d+\.\d % of its wallet\.$/)]],
  ])(
    'the only regime with days is neither warned of nor the worst: %s',
    (_name, slope, trend, share, expected) => {
      // Of 101 days in one direction, ten have a regime.
      const held: StrategyDefinition = {
        ...once,
        signals: ({ close }) => ({ enterLong: Uint8Array.from(close, (_, row) => (row === 100 ? 1 : 0)) }),
      };
      const input = inputOf({ days: 101, strategy: held });
      const pairs = input.pairs.map(({ pair, candles }) => {
        const price = candles.close.map((_, at) => 100 + (slope * at) / 10);
        return { pair, candles: { ...candles, open: price, high: price, low: price, close: price } };
      });
      const { robustness } = runBacktest({ ...input, pairs }, { digest: sha256 }).report;
      const { cells } = robustness!.regimes;
      expect(cells.filter(({ days }) => days > 0)).toMatchObject([
        { trend, days: 10, profit_share_pct: share },
      ]);
      expect(robustness!.findings.filter((each) => /regime|The run/.test(each))).toEqual(expected);
    },
  );

  it.each([
    ['sim', []],
    ['binanceusdm', [expect.objectContaining({ start: '2024-08-01' })]],
  ])('crises of the market are in real candles only: %s', (exchange, expected) => {
    const input = inputOf({ days: 300 });
    const config = { ...input.config, exchange };
    expect(runBacktest({ ...input, config }, { digest: sha256 }).report.robustness!.stress).toEqual(expected);
  });

  it('other inputs draw other paths', () => {
    const input = inputOf({ days: 300 });
    const other = runBacktest({ ...input, strategyDigest: sha256('other') }, { digest: sha256 });
    expect(other.report.robustness!.bootstrap).not.toEqual(long.bootstrap);
    expect(other.report.robustness!.regimes).toEqual(long.regimes);
  });

  it('defines every number', () => {
    const names = [...numbersOf(long)].filter((name) => !['low', 'median', 'high'].includes(name));
    for (const name of names) expect(ROBUSTNESS_DEFINITIONS, name).toHaveProperty([`robustness.${name}`]);
  });

  it('says what costs it bears and whether alpha is shown', () => {
    expect(long.findings[0]).toMatch(
      /^(The strategy breaks even at (about )?[\d.]+ bp a side; you pay 5\.|The trades lose .*; you pay 5 bp a side\.)$/,
    );
    expect(long.findings.at(-1)).toMatch(/5 % of them fall by [\d.]+ % or more\.$/);
    const intervals = long.benchmarks.map(
      ({ alpha_low_pct: low, alpha_high_pct: high }) => low! < 0 && high! > 0,
    );
    const told = long.findings.filter((finding) => finding.includes('The interval contains 0'));
    expect(told).toHaveLength(intervals.filter(Boolean).length);
  });

  it.each([
    ['no trades', { days: 120, strategy: silent }, 'The equity never changes.'],
    [
      'constant prices',
      { days: 120, strategy: once, isFlat: true },
      'The price of the benchmark never changes.',
    ],
    ['a short run', { days: 30 }, 'The run has 30 days; 90 are needed.'],
  ])('%s: figures are null with a reason, never NaN', (_name, each, reason) => {
    const section = robustnessOf(each);
    expect(JSON.stringify(section)).not.toContain('NaN');
    expect(ReportRobustness.parse(section)).toEqual(section);
    expect(section.benchmarks[0]).toMatchObject({ alpha_pct: null, beta: null, reason });
  });

  it('one trade has a break-even cost, and bitcoin is missed where no pair has it', () => {
    const section = robustnessOf({ days: 120, strategy: once, pairs: ['ETH/USDT:USDT'] });
    expect(section.break_even.method).toBe('closed_form');
    expect(section.benchmarks[1]).toMatchObject({
      benchmark: 'btc',
      pair: null,
      alpha_pct: null,
      reason:
        'The run has no pair of bitcoin. Collect BTC/USDT:USDT or add it to the pairs to compare with it.',
    });
  });

  it('a short run without bitcoin is asked for days, not for bitcoin', () => {
    const { benchmarks } = robustnessOf({ days: 30, strategy: once, pairs: ['ETH/USDT:USDT'] });
    expect(benchmarks.map(({ reason }) => reason)).toEqual(
      Array(2).fill('The run has 30 days; 90 are needed.'),
    );
  });

  it('a run in bitcoin is not asked for a pair of bitcoin, which no exchange has', () => {
    const section = robustnessOf({ days: 120, strategy: once, pairs: ['ETH/BTC', 'LTC/BTC'] });
    expect(section.benchmarks[1]!.reason).toBe('The run is in bitcoin: holding it has no return.');
  });
});
