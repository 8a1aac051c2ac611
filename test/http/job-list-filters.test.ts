import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from 'vitest';
import { ulids } from '#adapters/ids.ts';
import { notChecked } from '#contract/config/look-ahead.ts';
import type { HyperoptOutcome } from '#contract/hyperopt/hyperopt.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { FOUND_LOOK_AHEAD, pendingJob } from '../support/jobs.ts';
import { accessScene } from './access-backtests-fixture.ts';

const scene = accessScene();

type Values = Record<string, string | number | boolean>;
const configOf = (params: Values, changes: object = {}) => ({
  config: { ...pendingJob('bt-1').config, params, ...changes },
});

/** Name of an experiment of its own, so that the jobs of other tests are not in its lists. */
const uniqueName = () => `filters-${ulids.ulid()}`;

/** Lists of one experiment of backtests. */
function experiment() {
  const experiment_name = uniqueName();
  const names = new Map<string, string>();
  const list = async (query: string, person = scene.ann) => {
    const { status, body } = await person.get(
      `/api/v1/backtests?experiment_name=${experiment_name}&${query}`,
    );
    expect([status, body.detail]).toEqual([200, undefined]);
    return body;
  };
  const named = (body: any): string => body.items.map((item: any) => names.get(item.job_id)).join('');
  return {
    list,
    /** Stores a job that later lists call by a letter. */
    make: async (letter: string, ...[changes, ...more]: any[]) => {
      const id = await scene.fixture.backtest('ann', { experiment_name, ...changes }, ...more);
      names.set(id, letter);
      return id;
    },
    found: async (query: string) => named(await list(query)),
    /** Letters of all pages of one job. */
    walk: async (query: string) => {
      let letters = '';
      for (let cursor = ''; ; ) {
        const page = await list(`${query}&limit=1${cursor}`);
        letters += named(page);
        if (page.next_cursor === null) return letters;
        cursor = `&cursor=${page.next_cursor}`;
      }
    },
    path: (query: string) => `/api/v1/backtests?experiment_name=${experiment_name}&${query}`,
  };
}

describe('rows of backtests', () => {
  it('have parameters, owner, session, look-ahead state and deflated ratio', async () => {
    const { make, list } = experiment();
    await make(
      'a',
      { ...configOf({ fast: 10, mode: 'x' }), session: 's1' },
      'completed',
      {},
      FOUND_LOOK_AHEAD,
    );
    expect((await list('')).items[0]).toMatchObject({
      params: { fast: 10, mode: 'x' },
      owner: 'ann',
      session: 's1',
      look_ahead: 'found',
      deflated_sharpe_ratio: null,
    });
  });
});

describe('filters of backtests', () => {
  it('by parameters are joined by and, and compare numbers as numbers', async () => {
    const { make, found } = experiment();
    await make('a', configOf({ fast: 10, slow: 30, on: true, mode: '10' }));
    await make('b', configOf({ fast: 10, slow: 50, on: false, mode: 'ema' }));
    await make('c', configOf({ fast: 0.1, slow: 30 }));
    expect(await found('params.fast=10')).toBe('ba');
    for (const ten of ['10.0', '1e1', '%2B10', '010']) expect(await found(`params.fast=${ten}`)).toBe('ba');
    expect(await found('params[fast]=10&params.slow=30')).toBe('a');
    expect(await found('params.fast=.1')).toBe('c');
    expect(await found('params.on=true')).toBe('a');
    expect(await found('params.mode=10')).toBe('a');
    // A text is no number, and a job without the parameter has no value.
    for (const none of [
      'mode=10.0',
      'fast=',
      'fast=NaN',
      'fast=ten',
      'toString=1',
      'constructor=1',
      'x=undefined',
    ])
      expect(await found(`params.${none}`)).toBe('');
    const many = Array.from({ length: 100 }, (_, index) => `params.p${index}=1`).join('&');
    expect(await found(`params.fast=10&${many}`)).toBe('');
  });

  it('by a parameter reject names that no parameter has, and repeats', async () => {
    const { path } = experiment();
    for (const query of [
      'params.__proto__=1',
      'params[__proto__]=1',
      'params.=1',
      'params.a=1&params[a]=2',
    ]) {
      const { status, code, body } = await scene.ann.get(path(query));
      expect([query, status, code]).toEqual([query, 400, 'VAL005']);
      expect(body.detail.field).toContain('params');
    }
    const unknown = await scene.ann.get(path('param.fast=1'));
    expect(unknown.body.detail).toMatchObject({ field: 'param.fast' });
    expect(unknown.body.detail.context.known).toContain('params.<name>');
  });

  it('take a parameter that is named like a metric from the parameters', async () => {
    const { make, found, walk } = experiment();
    await make('a', configOf({ sharpe_ratio: 3 }), 'completed', { sharpe_ratio: 1 });
    await make('b', configOf({ sharpe_ratio: 2 }), 'completed', { sharpe_ratio: 2 });
    expect(await found('params.sharpe_ratio=3')).toBe('a');
    expect(await walk('sort=params.sharpe_ratio')).toBe('ab');
    expect(await walk('sort=sharpe_ratio')).toBe('ba');
  });

  it('by session, owner, exchange, tag and look-ahead state say how far they reach', async () => {
    const { make, found, list } = experiment();
    await make('a', { session: 's1', tags: ['keep', 'x'] });
    await make('b', configOf({}, { exchange: 'kraken' }));
    await make('c', { session: 's2' }, 'completed', {}, FOUND_LOOK_AHEAD);
    expect(await found('session=s1')).toBe('a');
    expect(await found('exchange=kraken')).toBe('b');
    expect(await found('tag=x')).toBe('a');
    expect(await found('tag=kee')).toBe('');
    expect(await found('look_ahead=found')).toBe('c');
    expect(await found('owner=ann')).toBe('cba');
    expect(await found('owner=ann&session=s1&tag=keep')).toBe('a');
    expect((await list('session=s1&count=true')).count).toEqual({ value: 1, relation: 'exact' });
    expect((await list('session=s1')).searched).toEqual({ jobs: 3, complete: true });
    expect((await list('owner=ann', scene.bob)).items).toEqual([]);
    expect((await list('owner=ann', scene.admin)).items).toHaveLength(3);
  });
});

describe('orders of backtests', () => {
  it('by a parameter have numbers before texts, and jobs without it last in both directions', async () => {
    const { make, walk } = experiment();
    await make('a', configOf({ fast: 9 }));
    await make('b', configOf({}));
    await make('c', configOf({ fast: 'ema' }));
    await make('d', configOf({ fast: 10 }));
    await make('e', configOf({ fast: true }));
    expect(await walk('sort=params.fast&sort_order=asc')).toBe('adceb');
    expect(await walk('sort=params.fast')).toBe('ecdab');
    expect(await walk('sort=params.__proto__')).toBe('edcba');
  });

  it('by strategy, session and look-ahead state have every job once', async () => {
    const { make, walk } = experiment();
    await make('a', { session: 'b'.repeat(64), ...configOf({}, { strategy: 'x'.repeat(90) }) });
    await make('b', { ...configOf({}, { strategy: '\u0000'.repeat(90) }) }, 'completed');
    await make('c', { session: 'a' }, 'completed', {}, FOUND_LOOK_AHEAD);
    expect(await walk('sort=session&sort_order=asc')).toBe('cab');
    expect(await walk('sort=session')).toBe('acb');
    expect(await walk('sort=strategy&sort_order=asc')).toBe('bca');
    expect(await walk('sort=look_ahead&sort_order=asc')).toBe('cba');
    expect(await walk('sort=deflated_sharpe_ratio')).toBe('bac');
  });

  it('reject the cursor of another order or filter', async () => {
    const { make, list, path } = experiment();
    for (const letter of ['a', 'b']) await make(letter, configOf({ fast: 1, slow: 2 }));
    const { next_cursor } = await list('limit=1&sort=params.fast&params.slow=2');
    expect(next_cursor).not.toBeNull();
    for (const other of [
      'sort=params.slow&params.slow=2',
      'sort=params.fast',
      'sort=params.fast&params.slow=3',
      'sort=params.fast&params.slow=2&session=s',
      'params.slow=2',
      'sort=params.fast&params.slow=2&sort_order=asc',
    ]) {
      const { code } = await scene.ann.get(path(`limit=1&${other}&cursor=${next_cursor}`));
      expect([other, code]).toEqual([other, 'VAL006']);
    }
  });

  it('name the orders that exist when one does not', async () => {
    const { path } = experiment();
    const { body } = await scene.ann.get(path('sort=params.'));
    expect(body.detail).toMatchObject({ code: 'VAL005', field: 'sort' });
    expect(body.detail.context.allowed).toEqual(
      expect.arrayContaining(['created_at', 'owner', 'sharpe_ratio', 'params.<name>']),
    );
  });
});

describe('hyperopt jobs', () => {
  const OUTCOME: HyperoptOutcome = {
    best_params: { model_type: 'none', fast: 12 },
    best_value: 2,
    best_trial: 0,
    best_trials: [],
    study_name: 'n',
    overfitting: {
      trials: 1,
      effective_trials: null,
      days: 30,
      sharpe_ratio_daily: null,
      expected_max_sharpe_daily: null,
      probabilistic_sharpe_ratio: null,
      deflated_sharpe_ratio: null,
      min_track_record_days: null,
      pbo: null,
      walk_forward_efficiency: null,
      plateau: null,
    },
    look_ahead: notChecked('none'),
  };

  async function completed(owner: string, fast: number, deflated_sharpe_ratio: number | null) {
    const { hyperoptJobs } = scene.fixture;
    const job = { ...pendingHyperopt(`ho-${ulids.ulid()}`), owner, session: 'h1' };
    await hyperoptJobs.create(job);
    await hyperoptJobs.begin(job.job_id, 0, 'task', job.created_at);
    const outcome = {
      ...OUTCOME,
      best_params: { ...OUTCOME.best_params, fast },
      overfitting: { ...OUTCOME.overfitting, deflated_sharpe_ratio },
    };
    await hyperoptJobs.complete(job.job_id, outcome, job.created_at);
    return job.job_id;
  }
  const list = async (user: string, query: string) => {
    const person = scene.fixture.person(user);
    const { status, body } = await person.strategy('GET', `/api/v1/hyperopt?${query}`);
    expect([status, body.detail]).toEqual([200, undefined]);
    return body.items as { job_id: string }[];
  };
  const ids = async (...call: Parameters<typeof list>) => (await list(...call)).map(({ job_id }) => job_id);

  it('are filtered and sorted by the best parameters, session and deflated ratio', async () => {
    const user = `u${ulids.ulid()}`;
    const [a, b] = [await completed(user, 12, 0.4), await completed(user, 7, 0.9)];
    const [row] = await list(user, 'params.fast=12');
    expect(row).toMatchObject({
      job_id: a,
      params: { fast: 12 },
      owner: user,
      session: 'h1',
      look_ahead: 'not_checked',
      deflated_sharpe_ratio: 0.4,
    });
    expect(await ids(user, 'sort=params.fast')).toEqual([a, b]);
    expect(await ids(user, 'sort=deflated_sharpe_ratio')).toEqual([b, a]);
    expect(await ids(user, 'session=h2')).toEqual([]);
    expect(await ids(user, 'tag=x')).toEqual([]);
  });

  it('of earlier versions, whose items lack the new fields, are still listed', async () => {
    const user = `u${ulids.ulid()}`;
    const id = await completed(user, 12, 0.4);
    const { client, jobsTable } = scene.fixture;
    await client.send(
      new UpdateCommand({
        TableName: jobsTable,
        Key: { job_id: id, item: 'JOB' },
        UpdateExpression: 'REMOVE #s, outcome.look_ahead, outcome.overfitting, outcome.best_params',
        ExpressionAttributeNames: { '#s': 'session' },
      }),
    );
    expect(await list(user, 'sort=params.fast')).toEqual([
      expect.objectContaining({ job_id: id, params: null, session: null, deflated_sharpe_ratio: null }),
    ]);
  });
});
