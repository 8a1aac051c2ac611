import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ulids } from '#adapters/ids.ts';
import type { BacktestResult } from '#contract/backtests/backtest.ts';
import type { ReleasePolicy } from '#contract/registry/release-policy.ts';
import type { UndefinedMetrics } from '#contract/values/undefined-metrics.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { SOME_RESULT } from '../support/jobs.ts';
import { MODEL, registryFixture, someResults } from '../support/registry-fixture.ts';
import { accessScene } from './access-backtests-fixture.ts';

/**
 * Undefined metrics in thresholds, gates, filters and orders: they satisfy none and come last in both orders. Only a profit factor
 * without losses counts as infinite, from 30 trades on.
 */

type Changes = Partial<BacktestResult>;

const withoutLosses = (total_trades: number): Changes => ({
  total_trades,
  profit_factor: 999,
  undefined_metrics: { profit_factor: 'no_losses' },
});
/** The interface's numbers of a run without trades. */
const IDLE: Changes = {
  total_trades: 0,
  winning_trades: 0,
  losing_trades: 0,
  total_profit: 0,
  total_profit_pct: 0,
  sharpe_ratio: 0,
  profit_factor: 0,
  max_drawdown_pct: 0,
  undefined_metrics: { sharpe_ratio: 'no_trades', profit_factor: 'no_trades' },
};
/** Trades whose profits cancel on every day. */
const EQUAL_DAYS: Changes = { sharpe_ratio: 0, undefined_metrics: { sharpe_ratio: 'equal_days' } };
/** A result of an engine that stored no reasons. */
const { undefined_metrics: _, ...IDLE_BEFORE } = IDLE;

describe('undefined metrics of versions', () => {
  let engine: TestEngine;
  beforeAll(async () => {
    engine = await startEngine();
  });
  afterAll(() => engine?.stop());

  /** Versions 1, 2, … registered without thresholds on backtests with these results. */
  async function registered(results: readonly Changes[], policy: ReleasePolicy | null = null) {
    const stored = results.map((changes) => ({ ...SOME_RESULT, ...changes }));
    // Every version has the results of its own backtest.
    let reads = 0;
    const read = async (of: { readonly prefix: string }, part: string) =>
      part === 'result'
        ? stored[Math.min(reads, stored.length - 1)]
        : someResults.read(of as never, 'report');
    const fixture = await registryFixture(engine, {
      deps: { results: { ...someResults, read } as never, ...(policy && { releasePolicy: policy }) },
    });
    for (const [i, result] of stored.entries()) {
      reads = i;
      await fixture.backtest(`bt-v${i + 1}`, MODEL, result);
      const { status, body } = await fixture.register({ backtest_run_id: `bt-v${i + 1}` });
      expect([status, body.version]).toEqual([201, String(i + 1)]);
      if (result.total_trades > 0) await fixture.stage(String(i + 1));
    }
    return fixture;
  }

  const NEVER = { min_sharpe: -1e6, min_profit_factor: -1e6, max_drawdown: 1e6 } as const;

  it.each<[string, keyof typeof NEVER, Changes, string | null]>([
    ['no losses in 29 trades', 'min_profit_factor', withoutLosses(29), 'no_losses'],
    ['no losses in 30 trades', 'min_profit_factor', withoutLosses(30), null],
    ['no trades', 'min_profit_factor', IDLE, 'no_trades'],
    ['no trades', 'min_sharpe', IDLE, 'no_trades'],
    ['no trades', 'max_drawdown', IDLE, 'no_trades'],
    ['no trades, by an earlier engine', 'min_sharpe', IDLE_BEFORE, 'no_trades'],
    ['equal days', 'min_sharpe', EQUAL_DAYS, 'equal_days'],
    ['equal days', 'max_drawdown', EQUAL_DAYS, null],
  ])('a registration on a run with %s and %s: case %#', async (_name, threshold, changes, reason) => {
    const fixture = await registryFixture(engine);
    await fixture.backtest('bt-one', MODEL, { ...SOME_RESULT, ...changes });
    const thresholds = { [threshold]: NEVER[threshold] };
    const { status, body } = await fixture.register({ backtest_run_id: 'bt-one', thresholds });
    if (reason === null) {
      expect(status).toBe(201);
      return;
    }
    expect([status, body.detail.code]).toEqual([400, 'VAL005']);
    expect(body.detail).toMatchObject({
      field: `thresholds.${threshold}`,
      context: { failures: [{ value: null, reason, threshold: NEVER[threshold] }] },
    });
  });

  it('a profit factor without losses reaches any threshold from 30 trades on, and none before', async () => {
    const fixture = await registryFixture(engine);
    const register = async (trades: number) => {
      await fixture.backtest(`bt-${trades}`, MODEL, { ...SOME_RESULT, ...withoutLosses(trades) });
      const thresholds = { min_profit_factor: 1e6 };
      return (await fixture.register({ backtest_run_id: `bt-${trades}`, thresholds })).status;
    };
    expect([await register(29), await register(30)]).toEqual([400, 201]);
  });

  it.each([IDLE, IDLE_BEFORE])('a version without trades passes no validation: %#', async (changes) => {
    const fixture = await registered([changes]);
    const version = async () => (await fixture.get(`/api/v1/models/${MODEL}/versions/1`)).body;
    expect((await version()).validation).toMatchObject({ status: 'failed' });
    const { status, body } = await fixture.stage('1');
    expect([status, body.detail.code]).toEqual([409, 'RES005']);
    const failed = body.detail.context.checks.filter((check: any) => check.status === 'failed');
    expect(failed).toContainEqual(
      expect.objectContaining({ name: 'evidence', message: expect.stringContaining('no trades') }),
    );
    expect((await version()).stage).toBe('None');
  });

  const POLICY = { lookAheadCertificate: false };
  it.each<[string, Partial<ReleasePolicy>, Changes, string, 'passed' | 'failed']>([
    ['min_sharpe', { minSharpe: -1e6 }, EQUAL_DAYS, 'all days are equal', 'failed'],
    [
      'min_profit_factor',
      { minProfitFactor: -1e6 },
      withoutLosses(29),
      'fewer than 30 trades (29)',
      'failed',
    ],
    ['min_profit_factor', { minProfitFactor: 1e6 }, withoutLosses(30), 'without losses', 'passed'],
    ['min_sharpe', { minSharpe: -1e6 }, IDLE, 'no trades', 'failed'],
    ['max_drawdown', { maxDrawdown: 100 }, IDLE, 'Without trades', 'failed'],
  ])(
    'a gate of the release policy: %s %j with %j says "%s" and has %s',
    async (name, policy, changes, text, status) => {
      const fixture = await registered([changes], { ...POLICY, ...policy });
      const { body } = await fixture.stage('1', { validate_only: true });
      const check = body.validation.checks.find((each: any) => each.name === name);
      expect(check).toMatchObject({ status, message: expect.stringContaining(text) });
      if (status === 'failed') expect(check.value).toBeNull();
    },
  );

  it('the catalog sorts an undefined Sharpe ratio last in both orders, and no filter finds it', async () => {
    const fixture = await registered([{ sharpe_ratio: -3 }, EQUAL_DAYS, { sharpe_ratio: 2 }]);
    const versions = async (query: string) => {
      const found: string[] = [];
      for (let cursor = ''; ; ) {
        const page = await fixture.get(`/api/v1/catalog/strategies?limit=1&${query}${cursor}`);
        expect(page.status).toBe(200);
        found.push(...page.body.items.map((row: any) => row.version));
        if (page.body.next_cursor === null) return found;
        cursor = `&cursor=${page.body.next_cursor}`;
      }
    };
    // Pages from the index, and pages of rows that a filter leaves.
    for (const filter of ['', '&search=btc']) {
      expect(await versions(`sort_field=sharpe&sort_order=asc${filter}`)).toEqual(['1', '3', '2']);
      expect(await versions(`sort_field=sharpe&sort_order=desc${filter}`)).toEqual(['3', '1', '2']);
    }
    expect(await versions('min_sharpe=-1e9')).toEqual(['1', '3']);
    expect(await versions('max_drawdown=100')).toEqual(['1', '2', '3']);
  });

  const comparison = async (a: Changes, b: Changes) => {
    const fixture = await registered([a, b]);
    const { status, body } = await fixture.get(
      `/api/v1/catalog/strategies/${MODEL}/compare?version_a=1&version_b=2`,
    );
    expect(status).toBe(200);
    const guardrails = Object.fromEntries(body.guardrails.map((each: any) => [each.name, each.status]));
    return { ...body, guardrails };
  };

  it('a comparison says which side has no value, and promotes nobody by it', async () => {
    const many = { trade_stats: { n: 300, mean: 5, variance: 4 } };
    const body = await comparison(
      { ...many, total_trades: 300 },
      { ...many, ...withoutLosses(29), sharpe_ratio: 9 },
    );
    expect(body.metrics.profit_factor).toMatchObject({
      improvement: 0,
      reasons: { a: null, b: 'no_losses' },
      notes: ['no_losses', 'undefined_b'],
    });
    expect(body.guardrails.profit_factor).toBe('undefined');
    expect(body.decision).not.toBe('PROMOTE');
    const idle = await comparison({}, EQUAL_DAYS);
    expect(idle.guardrails.sharpe_ratio).toBe('undefined');
    expect(idle.metrics.sharpe_ratio).toMatchObject({ improvement: 0, notes: ['undefined_b'] });
    expect(idle.decision).not.toBe('PROMOTE');
  });

  it('a comparison takes no losses in 30 trades as the best profit factor', async () => {
    const body = await comparison({}, withoutLosses(30));
    expect(body.guardrails.profit_factor).toBe('passed');
    expect(body.metrics.profit_factor.notes).toEqual(['no_losses']);
    expect(body.metrics.profit_factor.improvement).toBeGreaterThan(0);
  });
});

describe('undefined metrics of jobs', () => {
  const scene = accessScene();

  /** Jobs of an owner and experiment of their own. */
  function someone() {
    const owner = `user-${ulids.ulid()}`;
    const experiment_name = `undefined-${ulids.ulid()}`;
    const person = scene.fixture.person(owner);
    const run = (changes: Changes) =>
      scene.fixture.backtest(owner, { experiment_name }, 'completed', changes);
    const sorted = async (query: string) => {
      const ids: string[] = [];
      for (let cursor = ''; ; ) {
        const path = `/api/v1/backtests?experiment_name=${experiment_name}&limit=1&${query}${cursor}`;
        const { status, body } = await person.get(path);
        expect(status).toBe(200);
        ids.push(...body.items.map(({ job_id }: any) => job_id));
        if (body.next_cursor === null) return ids;
        cursor = `&cursor=${body.next_cursor}`;
      }
    };
    const search = async (query: object) => {
      const { status, body } = await person.post('/api/2.0/mlflow/runs/search', query);
      expect(status, JSON.stringify(body)).toBe(200);
      return body.runs.map(({ info }: any) => info.run_id);
    };
    return { person, run, sorted, search };
  }

  it('the list sorts no losses of 30 trades first, and undefined values last in both orders', async () => {
    const { run, sorted } = someone();
    const idle = await run(IDLE);
    const low = await run({ profit_factor: 0.5 });
    const infinite = await run(withoutLosses(30));
    const few = await run(withoutLosses(29));
    const high = await run({ profit_factor: 5000 });
    expect(await sorted('sort=profit_factor')).toEqual([infinite, high, low, few, idle]);
    expect(await sorted('sort=profit_factor&sort_order=asc')).toEqual([low, high, infinite, few, idle]);
    const [last] = (await sorted('sort=sharpe_ratio&sort_order=asc')).slice(-1);
    expect(last).toBe(idle);
    expect((await sorted('sort=sharpe_ratio')).at(-1)).toBe(idle);
  });

  it('MLflow lacks an undefined metric and names the reason in a tag', async () => {
    const { person, run } = someone();
    const reasons: UndefinedMetrics = { sortino_ratio: 'no_losing_day', cagr_pct: 'under_30_days' };
    const id = await run({
      ...withoutLosses(29),
      sortino_ratio: null,
      cagr_pct: null,
      short_run: true,
      undefined_metrics: { ...reasons, profit_factor: 'no_losses' },
    });
    const { body } = await person.get(`/api/2.0/mlflow/runs/get?run_id=${id}`);
    const { metrics, tags } = body.run.data;
    const names = metrics.map(({ key }: { key: string }) => key);
    expect(names).toContain('total_profit_pct');
    for (const name of [...Object.keys(reasons), 'profit_factor']) expect(names).not.toContain(name);
    expect(tags).toContainEqual({
      key: 'touchstone.undefined_metrics',
      value: 'cagr_pct: under 30 days; profit_factor: no losses; sortino_ratio: no losing day',
    });
    expect(tags).toContainEqual({ key: 'touchstone.short_run', value: 'true' });
  });

  it('MLflow finds no undefined metric by a filter, and orders it last', async () => {
    const { run, search } = someone();
    const idle = await run(IDLE);
    const low = await run({ profit_factor: 0.5 });
    const infinite = await run(withoutLosses(30));
    const few = await run(withoutLosses(29));
    expect(await search({ filter: 'metrics.profit_factor > -1000000' })).toEqual([infinite, low]);
    expect(await search({ filter: 'metrics.profit_factor < 1000000' })).toEqual([low]);
    expect(await search({ filter: 'metrics.profit_factor > 1000000' })).toEqual([infinite]);
    expect(await search({ order_by: ['metrics.profit_factor DESC'] })).toEqual([infinite, low, few, idle]);
    expect(await search({ order_by: ['metrics.profit_factor ASC'] })).toEqual([low, infinite, few, idle]);
  });
});
