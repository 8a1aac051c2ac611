import { describe, expect, it } from 'vitest';
import { ulids } from '#adapters/ids.ts';
import { pendingJob } from '../support/jobs.ts';
import { accessScene, at } from './access-backtests-fixture.ts';

const scene = accessScene();
const otherStrategy = () => ({ ...pendingJob('bt-1').config, strategy: 'rsi_reversal' });

/** Name of an experiment of its own, so that the jobs of other tests are not in its lists. */
const uniqueName = () => `lists-${ulids.ulid()}`;

async function list(query: string, person = scene.ann) {
  const { status, body } = await person.get(`/api/v1/backtests?${query}`);
  expect([status, body.detail]).toEqual([200, undefined]);
  return { ...body, ids: body.items.map(({ job_id }: { job_id: string }) => job_id) };
}

/** IDs of all pages, with pages of one job. */
async function walk(query: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const page = await list(`${query}&limit=1${cursor}`);
    ids.push(...page.ids);
    if (page.next_cursor === null) return ids;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

describe('backtest list', () => {
  it('item has market, times, progress and the equity at 32 even distances', async () => {
    const experiment_name = uniqueName();
    await scene.fixture.backtest('ann', { experiment_name }, 'completed');
    const { items } = await list(`experiment_name=${experiment_name}`);
    expect(items[0]).toMatchObject({
      exchange: 'sim',
      pairs: ['BTC/USDT:USDT'],
      timeframe: '5m',
      progress: 1,
      date_range: { start: '2025-01-01T00:00:00.000Z', end: '2025-02-01T00:00:00.000Z' },
      started_at: '2026-05-02T00:00:00.000Z',
      finished_at: '2026-05-02T00:00:00.000Z',
    });
    // From the wallet of 1,000 over 1,010 in the middle to 1,012.5.
    const { sparkline } = items[0];
    expect(sparkline).toHaveLength(32);
    expect([sparkline[0], sparkline[1], sparkline[31]]).toEqual([1000, 1000.65, 1012.5]);
    expect(Math.max(...sparkline)).toBe(1012.5);
  });

  it('item of a running job has its progress, and no sparkline before its end', async () => {
    const experiment_name = uniqueName();
    const id = await scene.fixture.backtest('ann', { experiment_name }, 'running');
    await scene.fixture.jobs.setProgress(id, 1, 0.4, '2026-05-02T00:01:00.000Z');
    await scene.fixture.backtest('ann', { experiment_name }, 'failed');
    await scene.fixture.backtest('ann', { experiment_name });
    const { items } = await list(`experiment_name=${experiment_name}`);
    expect(items.map(({ progress, sparkline }: any) => [progress, sparkline])).toEqual([
      [0, null],
      [null, null],
      [0.4, null],
    ]);
  });

  it.each(['ann', 'root'])('filter by strategy fills pages for %s', async (user) => {
    const experiment_name = uniqueName();
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) {
      const changes = { experiment_name, ...(i % 3 === 0 && { config: otherStrategy() }) };
      ids.push(await scene.fixture.backtest('ann', changes));
    }
    const person = user === 'ann' ? scene.ann : scene.admin;
    const query = `experiment_name=${experiment_name}&strategy=rsi_reversal&limit=1`;
    const first = await list(query, person);
    expect([first.ids, first.searched]).toEqual([[ids[3]], null]);
    const second = await list(`${query}&cursor=${first.next_cursor}`, person);
    expect([second.ids, second.next_cursor]).toEqual([[ids[0]], null]);
    const other = `/api/v1/backtests?experiment_name=${experiment_name}&strategy=x&cursor=${first.next_cursor}`;
    expect((await person.get(other)).code).toBe('VAL006');
  });

  it('sort orders by a stored metric over all pages, with ties newest first and jobs without it last', async () => {
    const experiment_name = uniqueName();
    const make = (calmar_ratio: number | null) =>
      scene.fixture.backtest('ann', { experiment_name }, 'completed', { calmar_ratio });
    const [low, none, high, tie] = [await make(-3), await make(null), await make(7.5), await make(-3)];
    const running = await scene.fixture.backtest('ann', { experiment_name }, 'running');
    const query = `experiment_name=${experiment_name}&sort=calmar_ratio`;
    expect(await walk(query)).toEqual([high, tie, low, running, none]);
    expect(await walk(`${query}&sort_order=asc`)).toEqual([tie, low, high, running, none]);
    expect((await list(query)).searched).toEqual({ jobs: 5, complete: true });
    expect(await walk(`experiment_name=${experiment_name}&sort=created_at&sort_order=asc`)).toHaveLength(5);
  });

  it('sort rejects a cursor of another order, a made-up one and an unknown value', async () => {
    const experiment_name = uniqueName();
    for (let i = 0; i < 2; i++) await scene.fixture.backtest('ann', { experiment_name });
    const query = `/api/v1/backtests?limit=1&experiment_name=${experiment_name}`;
    const { body } = await scene.ann.get(`${query}&sort=sharpe_ratio`);
    const foreign = `${query}&sort=sqn&cursor=${body.next_cursor}`;
    for (const path of [foreign, `${query}&cursor=${body.next_cursor}`, `${query}&sort=sqn&cursor=x`])
      expect(await scene.ann.get(path)).toMatchObject({ status: 400, code: 'VAL006' });
    expect((await scene.ann.get(`${query}&sort=trade_stats`)).code).toBe('VAL005');
  });

  it('q finds jobs that contain every word in ID, strategy, experiment or pairs, in either case', async () => {
    const experiment_name = uniqueName();
    const eth = { ...otherStrategy(), pairs: ['ETH/USDT:USDT'] };
    const found = await scene.fixture.backtest('ann', { experiment_name, config: eth });
    const other = await scene.fixture.backtest('ann', { experiment_name });
    const search = async (q: string) =>
      (await list(`experiment_name=${experiment_name}&q=${encodeURIComponent(q)}`)).ids;
    expect(await search('eth/usdt RSI')).toEqual([found]);
    expect(await search(`  ${other.toLowerCase()} `)).toEqual([other]);
    expect(await search(experiment_name.toUpperCase())).toEqual([other, found]);
    expect(await search('eth ema')).toEqual([]);
    // Words are no patterns.
    for (const q of ['.*', '%', '[a-z]', '\\', '𝔘']) expect(await search(q)).toEqual([]);
  });

  it('count, sort and q leave out what the caller may not see', async () => {
    const experiment_name = uniqueName();
    const [own, shared, revoked] = [
      await scene.fixture.backtest('bob', { experiment_name }),
      await scene.fixture.backtest('ann', { experiment_name }),
      await scene.fixture.backtest('ann', { experiment_name }),
      await scene.fixture.backtest('ann', { experiment_name }),
    ];
    for (const id of [shared, revoked]) await scene.ann.share(at(id), 'user:bob', 'everyone');
    await scene.ann.share(at(revoked));
    const query = `experiment_name=${experiment_name}&count=true`;
    for (const search of ['', '&sort=created_at', '&q=ema']) {
      const page = await list(`${query}${search}&limit=1`, scene.bob);
      expect([page.ids, page.count]).toEqual([[shared], { value: 2, relation: 'exact' }]);
      expect((await list(`${query}${search}`, scene.bob)).ids).toEqual([shared, own]);
      expect((await list(query + search, scene.admin)).count).toEqual({ value: 4, relation: 'exact' });
    }
    expect((await list(`experiment_name=${experiment_name}&sort=created_at`)).count).toBeNull();
  });
});
