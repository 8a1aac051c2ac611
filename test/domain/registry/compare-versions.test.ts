import { describe, expect, it } from 'vitest';
import type { BacktestResult } from '#contract/backtests/backtest.ts';
import type { VersionComparison } from '#contract/registry/catalog-api.ts';
import type { StoredModel, StoredVersion } from '#contract/registry/stored-registry.ts';
import { compareVersions } from '#domain/catalog/compare-versions.ts';
import { improvementOf } from '#domain/transitions/compare-evidence.ts';
import type { RegistryStore } from '#domain/transitions/registry-store.ts';
import { SOME_RESULT } from '../../support/jobs.ts';
import { storedVersion } from '../../support/stored-version.ts';

const model = {
  model_name: 'ema_crossover',
  latest_version: 3,
  production_version: '1',
  aliases: [],
} as unknown as StoredModel;

/** Read-only store of these versions. */
function holding(...versions: readonly StoredVersion[]): RegistryStore {
  const read: RegistryStore['read'] = async (name, asked) => ({
    model: name === model.model_name ? model : undefined,
    versions: new Map(versions.filter((v) => asked.includes(v.version)).map((v) => [v.version, v])),
    idempotencyRecord: undefined,
  });
  return { read, endedVersions: async () => [] as never } as unknown as RegistryStore;
}

const metrics = (changes: Partial<BacktestResult>): BacktestResult => ({ ...SOME_RESULT, ...changes });

/** 320 trades of mean 0.21 and deviation 2.0, 290 of mean 0.42 and deviation 1.9: t = 1.3295, c = 0.907913995435. */
const CHAMPION = metrics({ total_trades: 320, trade_stats: { n: 320, mean: 0.21, variance: 4 } });
const CHALLENGER = metrics({
  total_trades: 290,
  sharpe_ratio: 1.32,
  trade_stats: { n: 290, mean: 0.42, variance: 3.61 },
});

function comparing(
  a: BacktestResult,
  b: BacktestResult,
  changes: Partial<StoredVersion> = {},
): Promise<VersionComparison> {
  const registry = holding(
    storedVersion('1', { metrics: a, stage: 'Production' }),
    storedVersion('3', { metrics: b, ...changes }),
  );
  return compareVersions({ registry }, { model: 'ema_crossover', version_a: '1', version_b: '3' });
}

describe('improvementOf', () => {
  it.each([
    [1.5, 1.8, 'higher', 20],
    [-0.5, -0.25, 'higher', 50],
    [-0.5, 0.5, 'higher', 200],
    [0, 0.3, 'higher', 100],
    [0, -0.3, 'higher', -100],
    [0, 0, 'higher', 0],
    [12.5, 10, 'lower', 20],
    [-12.5, -10, 'lower', 20],
    [10, 12.5, 'lower', -25],
    [0, 5, 'lower', -100],
    [0, -5, 'lower', -100],
    [40, 50, 'none', 25],
    [0, 7, 'none', 100],
  ] as const)('improvementOf from %d to %d where %s is better returns %d %%', (a, b, direction, expected) => {
    expect(improvementOf(a, b, direction)).toBe(expected);
  });
});

describe('compareVersions', () => {
  it('comparison promotes a challenger that passes every criterion', async () => {
    const comparison = await comparing(CHAMPION, CHALLENGER);
    expect(comparison).toMatchObject({
      model_name: 'ema_crossover',
      version_a: '1',
      version_b: '3',
      decision: 'PROMOTE',
      confidence_method: 'welch',
      sample_sizes: { a: 320, b: 290 },
      comparable: true,
      differences: [],
      warnings: [],
    });
    expect(comparison.confidence).toBeCloseTo(0.907913995435, 11);
    expect(comparison.recommendation).toContain('Promote version 3');
    expect(comparison.metrics.sharpe_ratio).toEqual({
      a: 1.1,
      b: 1.32,
      improvement: 20,
      direction: 'higher',
      notes: [],
    });
    expect(comparison.guardrails.map(({ name, status }) => [name, status])).toEqual([
      ['max_drawdown_pct', 'passed'],
      ['profit_factor', 'passed'],
      ['sharpe_ratio', 'passed'],
    ]);
  });

  it('comparison contains every metric with its direction', async () => {
    const { metrics: compared } = await comparing(CHAMPION, CHALLENGER);
    expect(Object.entries(compared).map(([name, { direction }]) => `${name} ${direction}`)).toEqual([
      'total_profit higher',
      'total_profit_pct higher',
      'sharpe_ratio higher',
      'profit_factor higher',
      'win_rate higher',
      'expectancy higher',
      'max_drawdown_pct lower',
      'total_trades none',
      'winning_trades none',
      'losing_trades none',
    ]);
  });

  it('comparison promotes at exactly 10 % improvement and 100 trades', async () => {
    const a = metrics({ ...CHAMPION, sharpe_ratio: 1.5 });
    const b = metrics({ ...CHALLENGER, sharpe_ratio: 1.65, total_trades: 100 });
    expect((await comparing(a, b)).decision).toBe('PROMOTE');
  });

  it.each([
    ['a Sharpe ratio that is hardly better', { sharpe_ratio: 1.2 }, /9.091 % better, not 10 %/],
    ['too few trades', { total_trades: 99 }, /99 trades, not 100/],
    ['too little confidence', { trade_stats: { n: 290, mean: 0.3, variance: 3.61 } }, /0\.7\d, not 0\.80/],
  ])('comparison is inconclusive with %s', async (_, changes, reason) => {
    const comparison = await comparing(CHAMPION, metrics({ ...CHALLENGER, ...changes }));
    expect(comparison.decision).toBe('INCONCLUSIVE');
    expect(comparison.recommendation).toMatch(reason);
  });

  it.each([
    ['max_drawdown_pct', { max_drawdown_pct: 4.63 }, 'broken'],
    ['max_drawdown_pct', { max_drawdown_pct: 4.62 }, 'passed'],
    ['profit_factor', { profit_factor: 0.999 }, 'broken'],
    ['profit_factor', { profit_factor: 1 }, 'passed'],
    ['sharpe_ratio', { sharpe_ratio: 0.99 }, 'broken'],
    ['sharpe_ratio', { sharpe_ratio: 1 }, 'passed'],
  ])('guardrail %s with %j is %s', async (name, changes, status) => {
    const comparison = await comparing(CHAMPION, metrics({ ...CHALLENGER, ...changes }));
    expect(comparison.guardrails.find((each) => each.name === name)!.status).toBe(status);
    expect(comparison.decision === 'REJECT').toBe(status === 'broken');
  });

  it('rejection has the probability that the challenger is not better as confidence', async () => {
    const comparison = await comparing(CHAMPION, metrics({ ...CHALLENGER, profit_factor: 0.5 }));
    expect(comparison.decision).toBe('REJECT');
    expect(comparison.confidence).toBeCloseTo(1 - 0.907913995435, 11);
    expect(comparison.recommendation).toBe('Keep version 1 and not version 3: its profit factor is 0.5');
  });

  it('inconclusive comparison has the probability of the likelier side as confidence', async () => {
    const b = metrics({ ...CHALLENGER, trade_stats: { n: 290, mean: 0, variance: 3.61 } });
    const comparison = await comparing(CHAMPION, { ...b, sharpe_ratio: 1.1 });
    expect(comparison.decision).toBe('INCONCLUSIVE');
    // The same distance on the other side: the distribution is symmetric.
    expect(comparison.confidence).toBeCloseTo(0.907913995435, 11);
  });

  describe('comparison with too few trades for a test', () => {
    const few = { n: 1, mean: 1, variance: null };

    it('comparison uses the share of agreeing metrics as confidence without trade statistics', async () => {
      const a = metrics({ total_trades: 200, trade_stats: few });
      const b = metrics({
        ...a,
        sharpe_ratio: 1.5,
        total_profit: 20,
        total_profit_pct: 2,
        profit_factor: 2,
        expectancy: 2,
        win_rate: 50,
        max_drawdown_pct: 4,
      });
      const comparison = await comparing(a, b);
      expect(comparison).toMatchObject({ decision: 'PROMOTE', confidence_method: 'metric_agreement' });
      expect(comparison.confidence).toBeCloseTo(6 / 7, 11);
      const rejected = await comparing(a, { ...b, profit_factor: 0.9 });
      expect(rejected.decision).toBe('REJECT');
      expect(rejected.confidence).toBeCloseTo(2 / 7, 11);
    });

    it('comparison omits a metric that one version does not define', async () => {
      const a = metrics({ trade_stats: few, expectancy: null });
      const { metrics: compared, decision } = await comparing(a, a);
      expect(compared).not.toHaveProperty('expectancy');
      expect(decision).toBe('INCONCLUSIVE');
    });
  });

  it('comparison notes a baseline near zero and a profit factor without losses', async () => {
    const a = metrics({ ...CHAMPION, sharpe_ratio: 0 });
    const b = metrics({ ...CHALLENGER, losing_trades: 0, profit_factor: 999 });
    const { metrics: compared } = await comparing(a, b);
    expect(compared.sharpe_ratio).toMatchObject({ improvement: 100, notes: ['baseline_near_zero'] });
    expect(compared.profit_factor!.notes).toEqual(['no_losses']);
    expect(compared.win_rate!.notes).toEqual([]);
    const idle = metrics({ ...CHALLENGER, winning_trades: 0, losing_trades: 0, profit_factor: 0 });
    expect((await comparing(CHAMPION, idle)).metrics.profit_factor!.notes).toEqual([]);
  });

  const { config } = storedVersion('1');
  it.each([
    ['exchange', { exchange: 'binanceusdm' }],
    ['pairs', { pairs: ['ETH/USDT:USDT'] }],
    ['timeframe', { timeframe: '1h' as const }],
    ['date_range', { date_range: { ...config.date_range, end: '2025-03-01T00:00:00.000Z' } }],
  ])('comparison is inconclusive when versions differ in %s', async (field, changes) => {
    const worse = metrics({ ...CHALLENGER, profit_factor: 0.1 });
    for (const b of [CHALLENGER, worse]) {
      const comparison = await comparing(CHAMPION, b, { config: { ...config, ...changes } });
      expect(comparison).toMatchObject({ decision: 'INCONCLUSIVE', comparable: false });
      expect(comparison.differences.map((each) => each.field)).toEqual([field]);
      expect(comparison.recommendation).toContain(field);
    }
  });

  it('comparison ignores the order of pairs', async () => {
    const pairs = ['BTC/USDT:USDT', 'ETH/USDT:USDT'];
    const registry = holding(
      storedVersion('1', { config: { ...config, pairs } }),
      storedVersion('3', { config: { ...config, pairs: pairs.toReversed() } }),
    );
    const comparison = await compareVersions(
      { registry },
      { model: 'ema_crossover', version_a: '1', version_b: '3' },
    );
    expect(comparison.comparable).toBe(true);
  });

  it('comparison warns of differences that bias the result', async () => {
    const { warnings } = await comparing(CHAMPION, CHALLENGER, {
      config: { ...config, fee: 0, precision: 'exchange' },
      engine_version: '2',
      candle_digest: 'other',
      trials: 500,
    });
    expect(warnings).toEqual([
      expect.stringContaining('different fee: 0.0005 and 0'),
      expect.stringContaining('different precision: none and exchange'),
      expect.stringContaining('different engines: 1 and 2'),
      expect.stringContaining('different candles'),
      expect.stringContaining('Version 3 is one of 500 tried'),
    ]);
  });
});

describe('compared versions', () => {
  const registry = holding(storedVersion('1'), storedVersion('3', { stage: 'Archived' }));
  const between = (version_a: string, version_b: string, name = 'ema_crossover') =>
    compareVersions({ registry }, { model: name, version_a, version_b });

  it('compareVersions resolves the aliases champion and latest', async () => {
    expect(await between('champion', 'latest')).toMatchObject({ version_a: '1', version_b: '3' });
  });

  it.each([
    ['1', '1'],
    ['champion', '1'],
    ['latest', '3'],
  ])('compareVersions rejects comparing a version with itself: %s and %s', async (a, b) => {
    await expect(between(a, b)).rejects.toMatchObject({ code: 'VAL005', status: 400, field: 'version_b' });
  });

  it.each(['2', '0', '01', '1.0', 'v1', 'constructor', '99999999999'])(
    'compareVersions rejects unknown version %s',
    async (version) => {
      await expect(between('1', version)).rejects.toMatchObject({ code: 'RES003', field: 'version_b' });
      await expect(between(version, '1')).rejects.toMatchObject({ code: 'RES003', field: 'version_a' });
    },
  );

  it('compareVersions rejects an unknown model', async () => {
    await expect(between('1', '3', 'nothing')).rejects.toMatchObject({ code: 'RES002', status: 404 });
  });

  it('compareVersions rejects champion when no version is in Production', async () => {
    const none = {
      read: async () => ({ model: { ...model, production_version: null }, versions: new Map() }),
      endedVersions: async () => [],
    };
    const comparing = compareVersions(
      { registry: none as unknown as RegistryStore },
      { model: 'ema_crossover', version_a: 'champion', version_b: '1' },
    );
    await expect(comparing).rejects.toMatchObject({ code: 'RES003' });
  });
});
