import { describe, expect, it } from 'vitest';
import { runInProcess } from '../support/command.ts';
import { runHyperopt } from '../support/hyperopt-jobs.ts';
import { strategySource } from '../support/strategies.ts';
import { strategyFilesFixture, weekOf } from './strategy-files-fixture.ts';

const COOLDOWN = { method: 'CooldownPeriod', stop_duration_candles: 12 };
/** Enters wherever it may, and takes half a percent of profit or loss. */
const SOURCE = strategySource('careful', {
  fields: `minimalRoi: { 0: 0.005 }, orderTypes: { entry: 'market' }, protections: [${JSON.stringify(COOLDOWN)}],`,
}).replace('stoploss: -0.99', 'stoploss: -0.005');

interface Trade {
  readonly opened_at: string;
  readonly closed_at: string;
}

describe('protections', () => {
  const fixture = strategyFilesFixture({ 'careful.ts': SOURCE });
  const run = async (config: Record<string, unknown>, more: Record<string, unknown> = {}) => {
    const { platform } = fixture;
    const job = await platform.run({ ...weekOf('careful'), ...config }, more);
    expect(job).toMatchObject({ status: 'completed', error: null });
    const path = `/api/v1/backtests/${job.job_id}`;
    const report = (await platform.get(`${path}/report-data`)).body;
    const { items } = (await platform.get<{ items: Trade[] }>(`${path}/trades`)).body;
    return { job, report, items };
  };

  it('a strategy declares protections, and the report has each lock with its reason', async () => {
    const { items } = await fixture.list();
    expect(items.find(({ strategy }: { strategy: string }) => strategy === 'careful')).toMatchObject({
      protections: [COOLDOWN],
    });
    const { job, report, items: trades } = await run({});
    expect(job.config.protections).toEqual([COOLDOWN]);
    const { total, newest } = report.locks;
    expect(total).toBe(newest.length);
    expect(total).toBeGreaterThan(3);
    expect(newest[0]).toEqual({
      pair: 'BTC/USDT:USDT',
      side: null,
      reason: 'CooldownPeriod: a trade was closed',
      from: trades[0]!.closed_at,
      until: new Date(Date.parse(trades[0]!.closed_at) + 13 * 3_600_000).toISOString(),
    });
    for (const [index, { opened_at }] of trades.slice(1).entries())
      expect(Date.parse(opened_at)).toBeGreaterThanOrEqual(Date.parse(newest[index].until));
  });

  it('those of a request replace them, and a run without any stays without when it is registered', async () => {
    const { platform } = fixture;
    const guard = { method: 'StoplossGuard', trade_limit: 1, stop_duration: 2_000, only_per_pair: true };
    const guarded = await run({ protections: [guard] });
    expect(guarded.job.config).toMatchObject({ protections: [guard], order_types: { entry: 'market' } });
    expect(guarded.report.locks.newest[0].reason).toBe('StoplossGuard: 1 stop');
    const free = await run({ protections: [], order_types: { entry: 'limit' } });
    expect(free.job.config).not.toHaveProperty('protections');
    expect(free.job.config).not.toHaveProperty('order_types');
    expect(free.report).not.toHaveProperty('locks');
    expect(free.items.length).toBeGreaterThan(guarded.items.length);

    const { status } = await platform.strategy.post('/api/v1/strategies/careful/register', {
      backtest_run_id: free.job.job_id,
      container_image_uri: 'touchstone:1',
    });
    expect(status).toBe(201);
    const again = await run({}, { model_version: 'latest' });
    expect(again.job.config).toEqual(free.job.config);
    expect(again.items).toEqual(free.items);
  });

  it('trials of a search trade with those of the strategy, and so does a run of its best', async () => {
    const { platform } = fixture;
    // The only parameter changes nothing: each trial is the backtest of the strategy.
    const { job, result } = await runHyperopt(platform, {
      ...weekOf('careful'),
      models: 'none',
      n_trials: 2,
      seed: 1,
      backtest_period_days: 7,
      objective_metric: 'total_profit_pct',
    });
    const own = await run({});
    expect(own.job.result.total_profit_pct).toBe(result.best_value);
    expect((await run({ protections: [] })).job.result.total_profit_pct).not.toBe(result.best_value);
    const best = await run({}, { hyperopt_job_id: job.job_id });
    expect(best.job.config.protections).toEqual([COOLDOWN]);
    expect(best.items).toEqual(own.items);
  });

  it.each([
    [
      [{ method: 'Cooldown' }],
      '[0].method',
      'must be one of CooldownPeriod, StoplossGuard, LowProfitPairs, MaxDrawdown',
    ],
    [
      [COOLDOWN, { method: 'StoplossGuard', trade_limit: 0 }],
      '[1].trade_limit',
      'must be an integer from 1 to 1000',
    ],
    [
      [{ ...COOLDOWN, trade_limit: 2 }],
      '[0].trade_limit',
      'is unknown; CooldownPeriod has lookback_period, ',
    ],
    [
      [{ ...COOLDOWN, stop_duration: 5 }],
      '[0].stop_duration_candles',
      'and stop_duration exclude each other',
    ],
    [
      [{ method: 'MaxDrawdown', unlock_at: '25:00' }],
      '[0].unlock_at',
      'must be a time of day in UTC, such as 18:00',
    ],
    [Array(21).fill(COOLDOWN), '', 'must be a list of at most 20 protections'],
  ])(
    'a bad value is rejected with its field and what is allowed, %#',
    async (protections, field, problem) => {
      const { platform } = fixture;
      const { status, body } = await platform.post('/api/v1/backtests', {
        config: { ...weekOf('careful'), protections },
      });
      expect(status).toBe(400);
      expect(body.detail).toMatchObject({ code: 'VAL005', field: `config.protections${field}` });
      expect(body.detail.message).toContain(`config.protections${field} ${problem}`);
    },
  );

  it('the command line adds protections with their settings, and disables those of the strategy', async () => {
    const { platform } = fixture;
    const touchstone = async (...args: string[]) => {
      const { code, out, err } = await runInProcess(platform.home, args);
      expect([code, err]).toEqual([0, '']);
      return out;
    };
    const week = ['--start', '2026-03-01', '--end', '2026-03-08'];
    const guarded = await touchstone(
      'backtest',
      'careful',
      ...week,
      '--protection',
      'StoplossGuard,trade_limit=1,only_per_pair=true',
      '--protection',
      'CooldownPeriod,stop_duration_candles=2',
    );
    expect(guarded).toContain('protections StoplossGuard CooldownPeriod');
    expect(guarded).toMatch(/^Locks by protections: \d+, (StoplossGuard|CooldownPeriod) \d+/m);
    expect(await touchstone('backtest', 'careful', ...week, '--no-protections')).not.toMatch(/protections/i);
    expect(await touchstone('rerun', 'last')).not.toMatch(/protections/i);
    const both = ['--protection', 'CooldownPeriod', '--no-protections'];
    const { code, err } = await runInProcess(platform.home, ['backtest', 'careful', ...both]);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('Pass either --protection or --no-protections.'),
    ]);
  });
});
