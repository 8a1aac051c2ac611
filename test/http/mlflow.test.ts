import { describe, expect, it } from 'vitest';
import { ulids } from '#adapters/ids.ts';
import { afterOtherSearches } from '#domain/shared/search-work.ts';
import type { Person } from '../support/access-fixture.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { pendingJob } from '../support/jobs.ts';
import { accessScene } from './access-backtests-fixture.ts';

const scene = accessScene();
const KEY = { 'Idempotency-Key': 'once' };
const MLFLOW = '/api/2.0/mlflow';
const MODEL = 'ema_crossover';

/** Runs of a search, by ID. */
async function runsOf(person: Person, query: object): Promise<string[]> {
  const { status, body } = await person.post(`${MLFLOW}/runs/search`, query);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.runs.map(({ info }: { info: { run_id: string } }) => info.run_id);
}

/** A user of their own with three completed backtests, of which two belong to an experiment. */
async function withRuns() {
  const owner = `user-${ulids.ulid()}`;
  const person = scene.fixture.person(owner);
  const time = (second: number) => `2026-07-01T00:00:0${second}.000Z`;
  const run = (second: number, experiment_name: string | null, total_profit_pct: number) =>
    scene.fixture.backtest(owner, { experiment_name, created_at: time(second) }, 'completed', {
      total_profit_pct,
    });
  const ids = [await run(1, null, 3), await run(2, 'trend', 1), await run(3, 'trend', 2)];
  return { owner, person, ids };
}

describe("MLflow's runs", () => {
  it('are the backtests of the caller, newest first, by experiment, filter and order', async () => {
    const { person, ids } = await withRuns();
    const [first, second, third] = ids as [string, string, string];
    expect(await runsOf(person, {})).toEqual([third, second, first]);
    expect(await runsOf(person, { experiment_ids: ['0'] })).toEqual([first]);
    expect(await runsOf(person, { experiment_ids: ['e-trend'] })).toEqual([third, second]);
    expect(await runsOf(person, { experiment_ids: ['e-none', '7'] })).toEqual([]);
    expect(await runsOf(person, { filter: 'metrics.total_profit_pct > 1.5' })).toEqual([third, first]);
    expect(
      await runsOf(person, {
        filter: `metrics.total_profit_pct >= 1 AND attributes.status = 'FINISHED' and run_id != '${third}'`,
        order_by: ['metrics.total_profit_pct ASC'],
      }),
    ).toEqual([second, first]);
    expect(await runsOf(person, { filter: "params.strategy LIKE 'ema%' AND params.`fee` = '1'" })).toEqual(
      [],
    );
    expect(await runsOf(person, { filter: "params.strategy ILIKE '%A_C%'" })).toHaveLength(3);
    expect(await runsOf(person, { filter: `attributes.run_id IN ('${first}', 'x')` })).toEqual([first]);
    expect(await runsOf(person, { run_view_type: 'DELETED_ONLY' })).toEqual([]);
  });

  it('come in pages whose tokens belong to their search', async () => {
    const { person, ids } = await withRuns();
    const pages: string[] = [];
    for (let page_token = ''; ; ) {
      const { body } = await person.post(`${MLFLOW}/runs/search`, { max_results: 1, page_token });
      expect(body.runs).toHaveLength(1);
      pages.push(body.runs[0].info.run_id);
      page_token = body.next_page_token;
      if (page_token === '') break;
      const other = await person.post(`${MLFLOW}/runs/search`, { page_token, filter: 'metrics.x > 1' });
      expect([other.status, other.body.error_code]).toEqual([400, 'INVALID_PARAMETER_VALUE']);
    }
    expect(pages).toEqual(ids.toReversed());
    const { body } = await person.post(`${MLFLOW}/runs/search`, []);
    expect(body).toMatchObject({
      error_code: 'INVALID_PARAMETER_VALUE',
      message: expect.stringMatching(/^\w/),
    });
  });

  it('have info, metrics, parameters and tags; the history of a metric has its last value', async () => {
    const { owner, person, ids } = await withRuns();
    const id = ids[1]!;
    await person.patch(`/api/v1/backtests/${id}`, { notes: 'why', tags: ['desk=fx', 'kept'] });
    const { body } = await person.get(`${MLFLOW}/runs/get?run_id=${id}&run_uuid=${id}`);
    const { info, data } = body.run;
    expect(info).toMatchObject({
      run_id: id,
      run_uuid: id,
      run_name: MODEL,
      user_id: owner,
      experiment_id: 'e-trend',
      status: 'FINISHED',
      lifecycle_stage: 'active',
      artifact_uri: `mlflow-artifacts:/${id}`,
    });
    expect(data.metrics).toContainEqual(expect.objectContaining({ key: 'total_profit_pct', value: 1 }));
    expect(data.params).toContainEqual({ key: 'strategy', value: MODEL });
    for (const [key, value] of Object.entries({
      desk: 'fx',
      kept: '',
      'mlflow.user': owner,
      'mlflow.note.content': 'why',
      'touchstone.kind': 'backtest',
    })) {
      expect(data.tags).toContainEqual({ key, value });
    }
    expect(await runsOf(person, { filter: "tags.desk = 'fx'" })).toEqual([id]);
    const history = await person.get(
      `${MLFLOW}/metrics/get-history?run_id=${id}&metric_key=total_profit_pct`,
    );
    expect(history.body.metrics).toEqual([expect.objectContaining({ value: 1, step: 0 })]);
  });

  it('are hyperopt jobs too, with their trials by the filter of the parent', async () => {
    const { owner, person, ids } = await withRuns();
    const id = `ho-${ulids.ulid()}`;
    await scene.fixture.hyperoptJobs.create({
      ...pendingHyperopt(id),
      owner,
      created_at: '2026-07-01T00:00:09.000Z',
    });
    expect(await runsOf(person, {})).toEqual([id, ...ids.toReversed()]);
    expect(await runsOf(person, { filter: `tags.mlflow.parentRunId = '${id}'` })).toEqual([]);
    const { body } = await person.get(`${MLFLOW}/runs/get?run_id=${id}`);
    expect(body.run.info.status).toBe('SCHEDULED');
    const trial = await person.get(`${MLFLOW}/runs/get?run_id=${id}_0`);
    expect([trial.status, trial.body.error_code]).toEqual([404, 'RESOURCE_DOES_NOT_EXIST']);
  });

  it('are no staging checks', async () => {
    const owner = `user-${ulids.ulid()}`;
    const id = `va-${ulids.ulid()}`;
    await scene.fixture.backtest(owner, { job_id: id });
    const { status, body } = await scene.fixture.person(owner).get(`${MLFLOW}/runs/get?run_id=${id}`);
    expect([status, body.error_code]).toEqual([404, 'RESOURCE_DOES_NOT_EXIST']);
  });

  it('of others are neither listed nor read', async () => {
    const { person, ids } = await withRuns();
    const stranger = scene.fixture.person(`user-${ulids.ulid()}`);
    expect(await runsOf(stranger, {})).toEqual([]);
    const read = await stranger.get(`${MLFLOW}/runs/get?run_id=${ids[0]}`);
    expect([read.status, read.body.error_code]).toEqual([403, 'PERMISSION_DENIED']);
    const file = await stranger.get(`/api/2.0/mlflow-artifacts/artifacts/${ids[0]}/trades.csv`);
    expect([file.status, file.body.error_code]).toEqual([403, 'PERMISSION_DENIED']);
    const listed = await stranger.get(`/api/2.0/mlflow-artifacts/artifacts?path=${ids[0]}`);
    expect(listed.status).toBe(403);
    const { body } = await person.get(`/api/2.0/mlflow-artifacts/artifacts?path=${ids[0]}`);
    expect(body.files).toContainEqual({ path: 'report.html', is_dir: false });
  });
});

describe("MLflow's experiments", () => {
  it('are those of the caller, after the default one', async () => {
    const { person } = await withRuns();
    const { body } = await person.post(`${MLFLOW}/experiments/search`, { view_type: 'ACTIVE_ONLY' });
    const names = body.experiments.map(({ experiment_id, name }: any) => [experiment_id, name]);
    expect(names).toEqual([
      ['0', 'Default'],
      ['e-trend', 'trend'],
    ]);
    const found = await person.get(`${MLFLOW}/experiments/get-by-name?experiment_name=trend`);
    expect(found.body.experiment).toMatchObject({ experiment_id: 'e-trend', lifecycle_stage: 'active' });
    const byId = await person.get(`${MLFLOW}/experiments/get?experiment_id=e-trend`);
    expect(byId.body).toEqual(found.body);
    const none = await person.get(`${MLFLOW}/experiments/get-by-name?experiment_name=none`);
    expect([none.status, none.body.error_code]).toEqual([404, 'RESOURCE_DOES_NOT_EXIST']);
  });
});

describe("MLflow's registry", () => {
  it('has models, versions, stages and aliases, and changes stages by the rules of the registry', async () => {
    const { fixture, ann } = scene;
    const approver = fixture.person('ann', 'approver');
    const registered = [
      await fixture.backtest('ann', {}, 'completed'),
      await fixture.backtest('ann', {}, 'completed'),
    ];
    for (const run of registered) expect((await ann.register(run, MODEL)).status).toBe(201);
    const transition = (person: Person, version: string, stage: string) =>
      person.post(`${MLFLOW}/model-versions/transition-stage`, { name: MODEL, version, stage });

    const early = await transition(approver, '1', 'Production');
    expect([early.status, early.body.error_code]).toEqual([409, 'RESOURCE_CONFLICT']);
    const staged = await transition(ann, '1', 'Staging');
    expect(staged.body.model_version).toMatchObject({
      version: '1',
      current_stage: 'Staging',
      run_id: registered[0],
    });
    const denied = await transition(ann, '1', 'Production');
    expect([denied.status, denied.body.error_code]).toEqual([403, 'PERMISSION_DENIED']);
    expect((await transition(approver, '1', 'Production')).body.model_version.aliases).toEqual(['champion']);
    await transition(ann, '2', 'staging');
    await transition(approver, '2', 'Production');
    expect((await transition(approver, '1', 'Production')).body.model_version.current_stage).toBe(
      'Production',
    );
    const history = await ann.get(`/api/v1/models/${MODEL}/history`);
    expect(history.body.items[0]).toMatchObject({ action: 'rollback', version: '1', production: '1' });
    for (const stage of ['None', 'Archived']) {
      const refused = await transition(approver, '2', stage);
      expect([stage, refused.status, refused.body.error_code]).toEqual([stage, 409, 'RESOURCE_CONFLICT']);
    }

    const prompt = encodeURIComponent("tag.`mlflow.prompt.is_prompt` != 'true'");
    const { body } = await ann.get(`${MLFLOW}/registered-models/search?filter=${prompt}&max_results=100`);
    expect(body.registered_models.map(({ name }: any) => name)).toEqual([MODEL]);
    expect(body.registered_models[0]).toMatchObject({
      user_id: 'ann',
      aliases: [
        { alias: 'latest', version: '2' },
        { alias: 'champion', version: '1' },
      ],
    });
    const one = await ann.get(`${MLFLOW}/registered-models/get?name=${MODEL}`);
    expect(one.body.registered_model).toEqual(body.registered_models[0]);
    const latest = await ann.post(`${MLFLOW}/registered-models/get-latest-versions`, {
      name: MODEL,
      stages: ['Production'],
    });
    expect(latest.body.model_versions.map(({ version }: any) => version)).toEqual(['1']);
    const champion = await ann.get(`${MLFLOW}/registered-models/alias?name=${MODEL}&alias=champion`);
    expect(champion.body.model_version.version).toBe('1');
    const filter = encodeURIComponent(`name='${MODEL}'`);
    const versions = await ann.get(`${MLFLOW}/model-versions/search?filter=${filter}&max_results=10000`);
    expect(versions.body.model_versions.map(({ version }: any) => version)).toEqual(['2', '1']);
    const version = await ann.get(`${MLFLOW}/model-versions/get?name=${MODEL}&version=2`);
    expect(version.body.model_version).toMatchObject({ current_stage: 'Archived', status: 'READY' });
    const uri = await ann.get(`${MLFLOW}/model-versions/get-download-uri?name=${MODEL}&version=2`);
    expect(uri.body).toEqual({ artifact_uri: `mlflow-artifacts:/${registered[1]}` });

    const stranger = fixture.person('eve', 'approver');
    expect((await transition(stranger, '2', 'Production')).status).toBe(403);
    expect((await stranger.get(`${MLFLOW}/registered-models/search`)).body.registered_models).toEqual([]);
    expect((await stranger.get(`${MLFLOW}/registered-models/get?name=${MODEL}`)).status).toBe(403);
  });
});

describe("MLflow's stage Archived", () => {
  it('stops the version in Production and no other, with the reason MLflow, for an approver', async () => {
    const { fixture, ann } = scene;
    const approver = fixture.person('ann', 'approver');
    const model = 'buy_and_hold';
    const { config } = pendingJob('bt-0');
    for (const version of ['1', '2']) {
      const run = await fixture.backtest('ann', { config: { ...config, strategy: model } }, 'completed');
      expect((await ann.register(run, model)).status).toBe(201);
      await ann.post(`/api/v1/strategies/${model}/stage`, { version });
    }
    const archive = (person: Person, version: string) =>
      person.post(`${MLFLOW}/model-versions/transition-stage`, { name: model, version, stage: 'archived' });
    const refusal = async (person: Person, version: string) => {
      const { status, body } = await archive(person, version);
      return [status, body.error_code];
    };
    expect(await refusal(approver, '1')).toEqual([409, 'RESOURCE_CONFLICT']);
    await approver.post(`/api/v1/strategies/${model}/promote`, { version: '1' });
    expect(await refusal(approver, '2')).toEqual([409, 'RESOURCE_CONFLICT']);
    expect(await refusal(ann, '1')).toEqual([403, 'PERMISSION_DENIED']);
    expect(await refusal(fixture.person('eve', 'approver'), '1')).toEqual([403, 'PERMISSION_DENIED']);
    const history = async () => (await ann.get(`/api/v1/models/${model}/history`)).body.items;
    expect((await history())[0]).toMatchObject({ action: 'promote', production: '1' });

    const stopped = await archive(approver, 'champion');
    expect(stopped.status, JSON.stringify(stopped.body)).toBe(200);
    const answered = { version: '1', current_stage: 'Archived' };
    expect((await archive(approver, '1')).body.model_version).toMatchObject(answered);
    const events = await history();
    expect(events[0]).toMatchObject({ action: 'stop', version: '1', reason: 'MLflow', production: null });
    expect(events[1]).toMatchObject({ action: 'promote' });
    const { body } = await ann.get(`${MLFLOW}/model-versions/get?name=${model}&version=1`);
    expect(body.model_version.tags).toContainEqual({ key: 'touchstone.stopped', value: 'true' });
    expect(await refusal(approver, '2')).toEqual([409, 'RESOURCE_CONFLICT']);
  });
});

describe("writes of MLflow's client", () => {
  const of = (person: Person, name = MODEL) => ({
    setAlias: (alias: string, version: string) =>
      person.post(`${MLFLOW}/registered-models/alias`, { name, alias, version }),
    deleteAlias: (alias: string) => person.delete(`${MLFLOW}/registered-models/alias`, { name, alias }),
    setTag: (version: string, key: string, value: string) =>
      person.post(`${MLFLOW}/model-versions/set-tag`, { name, version, key, value }),
    deleteTag: (version: string, key: string) =>
      person.delete(`${MLFLOW}/model-versions/delete-tag`, { name, version, key }),
    create: (body: object) => person.post(`${MLFLOW}/model-versions/create`, { name, ...body }),
    createModel: (body = {}) => person.post(`${MLFLOW}/registered-models/create`, { name, ...body }),
    version: async (reference: string) =>
      (await person.get(`/api/v1/models/${name}/versions/${reference}`)).body,
    events: async () => (await person.get(`/api/v1/models/${name}/history`)).body.items,
  });
  const said = ({ status, body }: { status: number; body: any }) => [status, body.error_code];
  /** A model with two versions, of a strategy and an owner that no other test uses. */
  const registered = async (strategy: string) => {
    const owner = `user-${ulids.ulid()}`;
    const person = scene.fixture.person(owner);
    const { config } = pendingJob('bt-0');
    const job = () => scene.fixture.backtest(owner, { config: { ...config, strategy } }, 'completed');
    const runs = [await job(), await job()];
    return { owner, person, runs, job, calls: of(person, strategy) };
  };

  it('registers a backtest as a version, by run or by source, under the rules of registration', async () => {
    const { calls, runs, job, owner } = await registered('bollinger_breakout');
    const fresh = await calls.createModel();
    expect(fresh.body.registered_model).toMatchObject({ user_id: owner, latest_versions: [] });
    expect(said(await calls.createModel({ tags: [{ key: 'a', value: 'b' }] }))[0]).toBe(400);
    const image = { key: 'touchstone.container_image_uri', value: 'registry.example/mine:1' };
    const first = await calls.create({
      source: `mlflow-artifacts:/${runs[0]}`,
      run_id: runs[0],
      description: 'why',
      tags: [{ key: 'desk', value: 'fx' }, image],
    });
    expect(first.body.model_version).toMatchObject({
      version: '1',
      run_id: runs[0],
      status: 'READY',
      current_stage: 'None',
      description: 'why',
      tags: expect.arrayContaining([{ key: 'desk', value: 'fx' }, image]),
    });
    expect(await calls.version('1')).toMatchObject({ container_image_uri: image.value, tags: ['desk=fx'] });
    expect(said(await calls.createModel())).toEqual([409, 'RESOURCE_ALREADY_EXISTS']);
    const second = await calls.create({ source: `runs:/${runs[1]}/model` });
    expect(second.body.model_version).toMatchObject({ version: '2', run_id: runs[1] });

    for (const [body, status, code] of [
      [{}, 400, 'INVALID_PARAMETER_VALUE'],
      [{ source: 's3://elsewhere/model', run_id: runs[0] }, 400, 'INVALID_PARAMETER_VALUE'],
      [{ source: `runs:/${runs[1]}/model`, run_id: runs[0] }, 400, 'INVALID_PARAMETER_VALUE'],
      [{ run_id: 'ho-1_0' }, 400, 'INVALID_PARAMETER_VALUE'],
      [{ run_id: 'bt-none' }, 404, 'RESOURCE_DOES_NOT_EXIST'],
      [{ run_id: runs[0], tags: [{ key: 'touchstone.trials', value: '1' }] }, 409, 'RESOURCE_CONFLICT'],
    ] as const) {
      expect(said(await calls.create(body)), JSON.stringify(body)).toEqual([status, code]);
    }
    const unfinished = await scene.fixture.backtest(owner, {}, 'running');
    expect(said(await calls.create({ run_id: unfinished }))).toEqual([409, 'RESOURCE_CONFLICT']);
    const ofOther = of(scene.fixture.person('eve'), 'bollinger_breakout');
    expect(said(await ofOther.create({ run_id: await job() }))).toEqual([403, 'PERMISSION_DENIED']);
    expect(said(await of(scene.ann, 'nothing').create({ run_id: runs[0] }))).toEqual([
      404,
      'RESOURCE_DOES_NOT_EXIST',
    ]);
    expect((await calls.events()).map(({ action }: any) => action)).toEqual(['register', 'register']);
  });

  it('moves aliases between versions, with an event each, and refuses those that follow the stages', async () => {
    const { calls, runs, person, owner } = await registered('supertrend');
    for (const run_id of runs) await calls.create({ run_id });
    expect((await calls.setAlias('shadow', '1')).body).toEqual({});
    await calls.setAlias('shadow', '1');
    await calls.setAlias('shadow', 'latest');
    await calls.setAlias('Blue-1', '2');
    expect((await calls.version('shadow')).aliases).toEqual(['latest', 'Blue-1', 'shadow']);
    expect((await calls.version('1')).aliases).toEqual([]);
    const model = await person.get(`${MLFLOW}/registered-models/get?name=supertrend`);
    expect(model.body.registered_model.aliases).toEqual([
      { alias: 'latest', version: '2' },
      { alias: 'Blue-1', version: '2' },
      { alias: 'shadow', version: '2' },
    ]);
    const alias = await person.get(`${MLFLOW}/registered-models/alias?name=supertrend&alias=shadow`);
    expect(alias.body.model_version).toMatchObject({ version: '2', aliases: ['latest', 'Blue-1', 'shadow'] });
    const staged = await person.post(`${MLFLOW}/model-versions/transition-stage`, {
      name: 'supertrend',
      version: 'shadow',
      stage: 'Staging',
    });
    expect(staged.body.model_version).toMatchObject({ version: '2', current_stage: 'Staging' });
    await calls.deleteAlias('shadow');
    expect((await calls.deleteAlias('shadow')).body).toEqual({});
    const gone = await person.get(`${MLFLOW}/registered-models/alias?name=supertrend&alias=shadow`);
    expect(said(gone)).toEqual([404, 'RESOURCE_DOES_NOT_EXIST']);

    const notes = (await calls.events()).flatMap(({ action, actor, version, notes: said }: any) =>
      action === 'label' ? [[actor, version, said]] : [],
    );
    expect(notes).toEqual([
      [owner, '2', ['Alias shadow removed']],
      [owner, '2', ['Alias Blue-1']],
      [owner, '2', ['Alias shadow, before of version 1']],
      [owner, '1', ['Alias shadow']],
    ]);
    for (const own of ['champion', 'latest', 'Champion']) {
      expect(said(await calls.setAlias(own, '1')), own).toEqual([409, 'RESOURCE_CONFLICT']);
      expect(said(await calls.deleteAlias(own)), own).toEqual([409, 'RESOURCE_CONFLICT']);
    }
    for (const wrong of ['', '7', 'v2', 'a b', 'a/b', '\u0000', 'é', 'x'.repeat(101), '__proto__/x']) {
      expect(said(await calls.setAlias(wrong, '1')), wrong).toEqual([400, 'INVALID_PARAMETER_VALUE']);
    }
    await calls.setAlias('__proto__', '1');
    expect((await calls.version('__proto__')).version).toBe('1');
    // The key of one deletion with another alias is another request.
    await calls.setAlias('Green-1', '2');
    const deleted = (alias: string) =>
      person.delete(`${MLFLOW}/registered-models/alias`, { name: 'supertrend', alias }, KEY);
    expect(said(await deleted('Blue-1'))).toEqual([200, undefined]);
    expect(said(await deleted('Green-1'))).toEqual([409, 'RESOURCE_CONFLICT']);
    for (let number = 0; number < 18; number++) await calls.setAlias(`a${number}`, '1');
    expect(said(await calls.setAlias('one-too-many', '2'))).toEqual([400, 'INVALID_PARAMETER_VALUE']);
    expect(said(await calls.setAlias('a0', '2'))).toEqual([200, undefined]);
    expect(said(await calls.setAlias('a0', '9'))).toEqual([404, 'RESOURCE_DOES_NOT_EXIST']);
    const long = of(person, 'x'.repeat(5_000));
    for (const answer of [
      await long.setAlias('a', '1'),
      await long.deleteAlias('a'),
      await long.setTag('1', 'a', 'b'),
      await long.create({ run_id: runs[0] }),
      await long.createModel(),
    ]) {
      expect(said(answer)).toEqual([404, 'RESOURCE_DOES_NOT_EXIST']);
    }
  });

  it('sets and deletes tags of a version, in its history and in the catalog', async () => {
    const { calls, runs, person } = await registered('donchian_trend');
    await calls.create({ run_id: runs[0], tags: [{ key: 'desk', value: 'fx' }] });
    await person.post('/api/v1/strategies/donchian_trend/stage', { version: '1' });
    await calls.setTag('1', 'desk', 'eq');
    await calls.setTag('1', 'build', 'https://ci.example/1?a=b');
    await calls.setTag('1', 'kept', '');
    await calls.setTag('1', 'kept', '');
    await calls.deleteTag('1', 'none');
    const tags = ['desk=eq', 'build=https://ci.example/1?a=b', 'kept'];
    expect((await calls.version('1')).tags).toEqual(tags);
    const { body } = await person.get('/api/v1/catalog/strategies?limit=100');
    const row = body.items.find(({ name }: any) => name === 'donchian_trend');
    expect(row.tags).toEqual(tags);
    const read = await person.get(`${MLFLOW}/model-versions/get?name=donchian_trend&version=1`);
    expect(read.body.model_version.tags).toContainEqual({ key: 'build', value: 'https://ci.example/1?a=b' });
    await calls.deleteTag('1', 'desk');
    expect((await calls.version('1')).tags).toEqual(tags.slice(1));
    const labels = (await calls.events()).filter(({ action }: any) => action === 'label');
    expect(labels.map(({ notes }: any) => notes)).toEqual([
      ['Removed tag desk=eq'],
      ['Tag kept'],
      ['Tag build=https://ci.example/1?a=b'],
      ['Removed tag desk=fx', 'Tag desk=eq'],
    ]);
    for (const [key, value] of [['', 'x'], ['a=b', 'x'], ['a\nb', 'x'], ['long', 'x'.repeat(246)] as const]) {
      expect(said(await calls.setTag('1', key, value)), key).toEqual([400, 'INVALID_PARAMETER_VALUE']);
    }
    expect(said(await calls.setTag('1', 'touchstone.trials', '1'))).toEqual([409, 'RESOURCE_CONFLICT']);
    for (let number = 0; number < 18; number++) await calls.setTag('1', `t${number}`, 'x');
    expect(said(await calls.setTag('1', 'more', 'x'))).toEqual([400, 'INVALID_PARAMETER_VALUE']);
  });

  it('is refused to readers of the model, and to viewers', async () => {
    const { calls, runs, person } = await registered('rsi_mean_reversion');
    await calls.create({ run_id: runs[0] });
    await person.share('/api/v1/models/rsi_mean_reversion', 'user:bob');
    const viewer = scene.fixture.person('bob', 'viewer');
    for (const each of [of(scene.bob, 'rsi_mean_reversion'), of(viewer, 'rsi_mean_reversion')]) {
      expect((await each.version('1')).version).toBe('1');
      for (const answer of [
        await each.setAlias('mine', '1'),
        await each.deleteAlias('mine'),
        await each.setTag('1', 'a', 'b'),
        await each.deleteTag('1', 'a'),
      ]) {
        expect(said(answer)).toEqual([403, 'PERMISSION_DENIED']);
      }
    }
    const patched = await scene.bob.patch('/api/v1/models/rsi_mean_reversion/versions/1', { tags: [] });
    expect([patched.status, patched.code]).toEqual([403, 'AUTH005']);
  });

  it("obeys the platform's own operation: lists that replace those before", async () => {
    const { calls, runs, person } = await registered('macd_momentum');
    for (const run_id of runs) await calls.create({ run_id });
    const label = (version: string, body: object) =>
      person.patch(`/api/v1/models/macd_momentum/versions/${version}`, body);
    const first = await label('1', { aliases: ['a', 'b'], tags: ['x', 'x'] });
    expect(first.body).toMatchObject({ version: '1', aliases: ['a', 'b'], tags: ['x'] });
    const second = await label('2', { aliases: ['latest', 'b', 'c'] });
    expect(second.body).toMatchObject({ aliases: ['latest', 'b', 'c'], tags: [] });
    expect((await label('a', { aliases: [] })).body).toMatchObject({
      version: '1',
      aliases: [],
      tags: ['x'],
    });
    expect((await label('1', { aliases: ['latest'] })).code).toBe('RES005');
    expect((await label('1', { tags: ['x'.repeat(251)] })).code).toBe('VAL005');
    expect((await label('9', { tags: [] })).code).toBe('RES003');
    const key = { 'Idempotency-Key': ulids.ulid() };
    const body = { name: 'macd_momentum', version: '2', alias: 'd' };
    const set = (alias: string) => person.post(`${MLFLOW}/registered-models/alias`, { ...body, alias }, key);
    expect([(await set('d')).status, (await set('d')).status]).toEqual([200, 200]);
    expect(said(await set('e'))).toEqual([409, 'RESOURCE_CONFLICT']);
    const changes = await Promise.all(
      Array.from({ length: 8 }, (_, number) => calls.setTag('2', `t${number}`, 'x')),
    );
    expect(changes.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect((await calls.version('2')).tags).toHaveLength(8);
  });
});

describe("errors of MLflow's paths", () => {
  it.each([
    ['filter that ends early', 'metrics.x >', /A number or a quoted text is missing at the end/],
    ['filter of an unknown group', 'weights.x > 1', /no group of fields/],
    ['filter without an operator', 'metrics.x', /An operator/],
    ['filter that is too much', "metrics.x = 1 OR params.y = 'z'", /AND is expected/],
  ])('%s is INVALID_PARAMETER_VALUE with an example', async (_, filter, message) => {
    const { status, body } = await scene.ann.post(`${MLFLOW}/runs/search`, { filter });
    expect([status, body.error_code]).toEqual([400, 'INVALID_PARAMETER_VALUE']);
    expect(body.message).toMatch(message);
  });

  it.each([
    ['filter', { filter: 'x'.repeat(6_001) }],
    ['order_by', { order_by: Array.from({ length: 11 }, () => 'start_time') }],
  ])('%s beyond its bound is INVALID_PARAMETER_VALUE', async (field, query) => {
    for (const search of ['runs', 'experiments']) {
      const { status, body } = await scene.ann.post(`${MLFLOW}/${search}/search`, query);
      expect([status, body.error_code]).toEqual([400, 'INVALID_PARAMETER_VALUE']);
      expect(body.message).toContain(`${field} must have at most`);
    }
  });

  it.each([
    ['registered-models/search', 'get'],
    ['model-versions/search', 'get'],
    ['experiments/search', 'get'],
    ['experiments/search', 'post'],
    ['runs/search', 'post'],
  ] as const)('%s (%s) takes its turn among all searches', async (search, method) => {
    const gate = Promise.withResolvers<void>();
    const others = Array.from({ length: 16 }, () => afterOtherSearches(() => gate.promise));
    const sent = () =>
      method === 'get' ? scene.ann.get(`${MLFLOW}/${search}`) : scene.ann.post(`${MLFLOW}/${search}`, {});
    const refused = await sent();
    gate.resolve();
    await Promise.all(others);
    expect(refused.status).toBe(503);
    expect((await sent()).status).toBe(200);
  });

  it('thousands of experiments are searched like a few', async () => {
    const { person, ids } = await withRuns();
    const others = Array.from({ length: 5_000 }, (_, index) => `e-${index}`);
    expect(await runsOf(person, { experiment_ids: ['e-trend', ...others] })).toEqual([ids[2], ids[1]]);
  });

  it('a pattern of LIKE costs no more than the product of the lengths', async () => {
    const { person } = await withRuns();
    const filter = `params.strategy LIKE '${'%a'.repeat(2_000)}b'`;
    expect(await runsOf(person, { filter })).toEqual([]);
  });

  it('have the shape of MLflow for every reason, and other paths do not', async () => {
    const { ann, fixture } = scene;
    const missing = await ann.get(`${MLFLOW}/runs/get`);
    expect([missing.status, missing.body]).toEqual([
      400,
      { error_code: 'INVALID_PARAMETER_VALUE', message: 'run_id is required (VAL004)' },
    ]);
    const body = await ann.post(`${MLFLOW}/registered-models/get-latest-versions`, {});
    expect([body.status, body.body.error_code]).toEqual([400, 'INVALID_PARAMETER_VALUE']);
    const unserved = await ann.post(`${MLFLOW}/runs/create`, {});
    expect([unserved.status, unserved.body.error_code]).toEqual([404, 'NOT_IMPLEMENTED']);
    const anonymous = await fixture.withoutToken.get(`${MLFLOW}/runs/get?run_id=x`);
    expect([anonymous.status, anonymous.body.error_code]).toEqual([401, 'UNAUTHENTICATED']);
    expect((await ann.get('/api/v1/nothing')).code).toBe('HTTP404');
  });
});
