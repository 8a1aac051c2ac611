import { describe, expect, it } from 'vitest';
import type { RegisteredVersion } from '#contract/backtests/backtest.ts';
import { runStagingChecks, type SmokeRun } from '#domain/registry/run-staging-checks.ts';
import { type BacktestOutcome, runBacktest } from '#engine/backtest.ts';
import { createCandles } from '#engine/candles.ts';
import { riseLabel } from '#engine/ml/labels.ts';
import { emaCrossover } from '#engine/strategies/ema-crossover.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { SAMPLE_STRATEGY, sampleInput, sha256 } from '../../engine/backtest-sample.ts';
import { learningInput } from '../../engine/walk-forward/sample.ts';

const DIGEST = `sha256:${'ab'.repeat(32)}`;
const OTHER = `sha256:${'cd'.repeat(32)}`;
const SOURCE = 'f'.repeat(64);

const REGISTERED: RegisteredVersion = {
  model_name: 'sample',
  version: '3',
  container_image_uri: 'registry.example/sample:1',
  image_digest: DIGEST,
  strategy_digest: SOURCE,
};

/** A smoke run of the sample strategy on its own candles. */
function smokeRun(changes: Partial<SmokeRun> = {}): SmokeRun {
  const input = sampleInput();
  const outcome = runBacktest(input, { digest: sha256 });
  return {
    registered: REGISTERED,
    load: async () => SAMPLE_STRATEGY,
    pause: async () => undefined,
    config: input.config as SmokeRun['config'],
    pairs: input.pairs as SmokeRun['pairs'],
    outcome,
    strategyDigest: SOURCE,
    image: null,
    again: async () => outcome,
    ...changes,
  };
}

async function check(name: string, changes: Partial<SmokeRun> = {}) {
  return (await runStagingChecks(smokeRun(changes))).find((each) => each.name === name)!;
}

const withTrade = (change: object): BacktestOutcome => {
  const { outcome } = smokeRun();
  const [first, ...others] = outcome.trades;
  return { ...outcome, trades: [{ ...first!, ...change }, ...others] };
};

describe('code check', () => {
  const other = { strategyDigest: '0'.repeat(64) };
  const unresolved = { registered: { ...REGISTERED, image_digest: null } };
  const image = `registry.example/sample@${DIGEST}`;
  it.each<[string, Partial<SmokeRun>, string, RegExp]>([
    [
      'this machine’s, the registered source',
      {},
      'passed',
      /current code of this machine ran, with the registered/,
    ],
    ['this machine’s, another source', other, 'warning', /with another source than the registered one/],
    ['the registered image', { image }, 'passed', /image registry\.example\/sample@sha256:abab/],
    ['the registered image with another source', { image, ...other }, 'failed', /another source/],
    ['another image', { image: `registry.example/sample@${OTHER}` }, 'failed', /sha256:cdcd/],
    [
      'the platform’s image for one that was not resolved',
      { image: 'platform:1', ...unresolved },
      'passed',
      /platform:1 ran/,
    ],
    [
      'the same with another source',
      { image: 'platform:1', ...unresolved, ...other },
      'warning',
      /another source/,
    ],
  ])('code check of %s returns its status and message', async (_, changes, status, message) => {
    const found = await check('code', changes);
    expect(found.status).toBe(status);
    expect(found.message).toMatch(message);
    expect(found.message).toContain('registry.example/sample:1');
  });
});

describe('smoke run check', () => {
  it('smoke run check passes with the number of trades', async () => {
    const { trades } = smokeRun().outcome;
    expect(trades.length).toBeGreaterThan(5);
    expect(await check('smoke_run')).toMatchObject({ status: 'passed', value: trades.length });
  });

  it.each([
    [{ amount: Number.NaN }, /NaN as its amount/],
    [{ entryPrice: 0 }, /0 as its entry/],
    [{ exitPrice: Number.POSITIVE_INFINITY }, /Infinity as its exit/],
    [{ stake: -1 }, /-1 as its stake/],
    [{ pair: 'DOGE/USDT:USDT' }, /DOGE\/USDT:USDT, which the configuration does not have/],
    [{ openedAt: 2, closedAt: 1 }, /ends before it begins/],
  ])('smoke run check fails on a trade with %j', async (change, message) => {
    const found = await check('smoke_run', { outcome: withTrade(change) });
    expect(found.status).toBe('failed');
    expect(found.message).toMatch(message);
  });
});

describe('determinism check', () => {
  it.each([
    [
      'a price',
      (outcome: BacktestOutcome) => ({ ...outcome, trades: withTrade({ exitPrice: 1 }).trades }),
      /trade 1/,
    ],
    [
      'one trade less',
      (outcome: BacktestOutcome) => ({ ...outcome, trades: outcome.trades.slice(1) }),
      /different/,
    ],
    [
      'one trade less at the end',
      (outcome: BacktestOutcome) => ({ ...outcome, trades: outcome.trades.slice(0, -1) }),
      /different/,
    ],
  ])('determinism check fails when the second run differs by %s', async (_, change, message) => {
    const found = await check('determinism', { again: async () => change(smokeRun().outcome) });
    expect(found.status).toBe('failed');
    expect(found.message).toMatch(message);
  });

  it('determinism check passes when both runs are equal', async () => {
    expect((await check('determinism')).status).toBe('passed');
  });
});

describe('look-ahead check', () => {
  const changed = (change: Partial<StrategyDefinition>) =>
    check('look_ahead', { load: async () => ({ ...SAMPLE_STRATEGY, ...change }) });

  it('look-ahead check certifies a causal strategy and states its coverage', async () => {
    const found = await check('look_ahead');
    expect(found).toMatchObject({ status: 'passed', value: 'certified', threshold: 'certified' });
    expect(found.message).toMatch(
      /^certified: 20 cuts of 1728 candles of 2 pairs, each with unknown and with changed later candles, \d+ truncated histories of the columns, \d+ entry signals and \d+ trades, no callback; searched in one process: code that deceives can keep what it has seen/,
    );
  });

  it('look-ahead check fails on an indicator that reads one candle ahead', async () => {
    const found = await changed({
      indicators: ({ close }) => ({ mean: close.map((_, row) => close[row + 1] ?? Number.NaN) }),
    });
    expect(found.status).toBe('failed');
    expect(found.message).toMatch(/^look_ahead: /);
  });

  it('look-ahead check reports the source line of a callback that reads the open candle', async () => {
    const found = await changed({
      callbacks: { customExit: ({ candles, index }) => (candles.close[index]! < 0 ? 'x' : null) },
    });
    expect(found).toMatchObject({ status: 'failed', value: 'found' });
    expect(found.message).toMatch(
      /^look_ahead: customExit of (BTC|ETH)\/USDT:USDT in the candle of 2024-.* read candles\.close\[\d+\]: row index .* \(run-staging-checks\.test\.ts:\d+\)/,
    );
    expect(found.message).not.toContain('certified');
  });

  it('look-ahead check lists covered callbacks and callbacks never called', async () => {
    const found = await changed({
      callbacks: { customExit: () => null, adjustEntryPrice: (_context, _trade, price) => price },
    });
    expect(found.message).toMatch(
      /guarded columns in \d+ calls of customExit; never called: adjustEntryPrice; searched in one process: /,
    );
  });

  it('look-ahead check fails a strategy that throws on truncated history', async () => {
    const { length } = smokeRun().pairs[0]!.candles.timestamp;
    const found = await changed({
      indicators: (candles, ...rest) => {
        if (candles.timestamp.length < length) throw new Error('too short for me');
        return SAMPLE_STRATEGY.indicators(candles, ...rest);
      },
    });
    expect(found.status).toBe('failed');
    expect(found.message).toMatch(/too short for me/);
  });

  it('look-ahead check warns not_checked when the strategy has no entry signal', async () => {
    const found = await changed({
      signals: () => ({}),
      callbacks: { customExit: ({ candles, index }) => (candles.close[index + 3]! < 0 ? 'x' : null) },
    });
    expect(found).toMatchObject({ status: 'warning', value: 'not_checked', threshold: 'certified' });
    expect(found.message).toMatch(
      /^not_checked: .*, 0 entry signals and 0 trades, .*never called: customExit$/,
    );
  });

  it('look-ahead check fails when the candles are too short to search', async () => {
    const pairs = smokeRun().pairs.map((each) => ({ ...each, candles: createCandles(3) }));
    expect((await check('look_ahead', { pairs })).status).toBe('failed');
  });
});

describe('look-ahead check with models', () => {
  const searched = (label: number) => {
    const mlLabel: StrategyDefinition['mlLabel'] = (candles) => ({
      ...riseLabel(candles, label),
      horizon: 2,
    });
    const strategy = { ...emaCrossover, startupCandles: () => 50, mlLabel };
    const { pairs, config } = learningInput({ strategy });
    return check('look_ahead', {
      load: async () => strategy,
      config: config as SmokeRun['config'],
      pairs: pairs as SmokeRun['pairs'],
    });
  };

  it('look-ahead check certifies a label within its horizon', async () => {
    expect(await searched(2)).toMatchObject({ status: 'passed', value: 'certified', threshold: 'certified' });
  });

  it('look-ahead check fails on a label that reads beyond its horizon', async () => {
    expect(await searched(30)).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/^look_ahead: (label|columns\.ml_probability) of BTC/),
    });
  });
});
