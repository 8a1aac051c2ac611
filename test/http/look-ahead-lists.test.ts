import { describe, expect, it } from 'vitest';
import { ulids } from '#adapters/ids.ts';
import type { LookAhead } from '#contract/config/look-ahead.ts';
import type { UndefinedMetrics } from '#contract/values/undefined-metrics.ts';
import { FOUND_LOOK_AHEAD } from '../support/jobs.ts';
import { accessScene } from './access-backtests-fixture.ts';

const scene = accessScene();
const CLEAN: LookAhead = { ...FOUND_LOOK_AHEAD, state: 'sampled', findings: [] };

/** A user of their own with an experiment, and their lists. */
function someone() {
  const owner = `user-${ulids.ulid()}`;
  const experiment_name = `leaks-${ulids.ulid()}`;
  const person = scene.fixture.person(owner);
  const run = (sharpe_ratio: number | null, look_ahead?: LookAhead) => {
    const result = { sharpe_ratio: sharpe_ratio ?? 0, total_profit_pct: sharpe_ratio ?? 0 };
    const undefined_metrics: UndefinedMetrics = sharpe_ratio === null ? { sharpe_ratio: 'equal_days' } : {};
    const changed = { ...result, undefined_metrics };
    return scene.fixture.backtest(owner, { experiment_name }, 'completed', changed, look_ahead);
  };
  const get = async (path: string) => {
    const { status, body } = await person.get(path);
    expect(status).toBe(200);
    return body;
  };
  /** IDs over all pages of one job each. */
  const sorted = async (query: string) => {
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await get(
        `/api/v1/backtests?experiment_name=${experiment_name}&limit=1&${query}${cursor}`,
      );
      ids.push(...page.items.map(({ job_id }: { job_id: string }) => job_id));
      if (page.next_cursor === null) return ids;
      cursor = `&cursor=${page.next_cursor}`;
    }
  };
  return { owner, person, experiment_name, run, get, sorted };
}

describe('runs with a found look-ahead bias', () => {
  it('lists carry the state and the exchange, and an unchecked run of an earlier version is not_checked', async () => {
    const { owner, experiment_name, run, get } = someone();
    const ids = [await run(1, FOUND_LOOK_AHEAD), await run(1, CLEAN), await run(1)];
    await run(1, { ...CLEAN, findings: FOUND_LOOK_AHEAD.findings });
    await scene.fixture.backtest(owner, { experiment_name }, 'running');
    const { items } = await get(`/api/v1/backtests?experiment_name=${experiment_name}`);
    const states = ['found', 'not_checked', 'sampled', 'found'];
    expect(items.map(({ look_ahead }: any) => look_ahead)).toEqual([null, ...states]);
    for (const { exchange } of items) expect(exchange).toBe('sim');
    expect((await get(`/api/v1/backtests/${ids[0]}`)).look_ahead).toEqual(FOUND_LOOK_AHEAD);
    const { ended } = await get('/api/v1/overview');
    expect(ended.map(({ look_ahead }: any) => look_ahead).sort()).toEqual(states.sort());
    for (const { exchange } of ended) expect(exchange).toBe('sim');
  });

  it('sort after every clean run by a metric in both orders, and not by time', async () => {
    const { run, sorted } = someone();
    const leak = await run(9, FOUND_LOOK_AHEAD);
    const [low, none, high] = [await run(-1, CLEAN), await run(null, CLEAN), await run(2)];
    const worst = await run(-9, FOUND_LOOK_AHEAD);
    expect(await sorted('sort=sharpe_ratio')).toEqual([high, low, none, leak, worst]);
    expect(await sorted('sort=sharpe_ratio&sort_order=asc')).toEqual([low, high, none, worst, leak]);
    expect(await sorted('sort=created_at')).toEqual([worst, high, none, low, leak]);
  });

  it('are never the best of an experiment', async () => {
    const { run, get } = someone();
    const leak = await run(9, FOUND_LOOK_AHEAD);
    const only = await get('/api/v1/experiments');
    expect(only.items[0].best).toBeNull();
    const clean = await run(2, CLEAN);
    for (let read = 0; read < 2; read++) {
      const { items } = await get('/api/v1/experiments');
      expect(items[0].best).toMatchObject({ job_id: clean, exchange: 'sim', look_ahead: 'sampled' });
    }
    expect(leak).not.toBe(clean);
  });

  it('come last in an MLflow search too, and pass no filter of a metric', async () => {
    const { person, run } = someone();
    const leak = await run(9, FOUND_LOOK_AHEAD);
    const [low, high] = [await run(-1, CLEAN), await run(2)];
    const search = async (query: object) =>
      (await person.post('/api/2.0/mlflow/runs/search', query)).body.runs.map(({ info }: any) => info.run_id);
    for (const filter of ['', "tags.`touchstone.kind` = 'backtest'"]) {
      expect(await search({ filter, order_by: ['metrics.sharpe_ratio DESC'] })).toEqual([high, low, leak]);
      expect(await search({ filter, order_by: ['metrics.sharpe_ratio ASC'] })).toEqual([low, high, leak]);
    }
    expect(await search({ filter: 'metrics.sharpe_ratio > -100' })).toEqual([high, low]);
  });
});
