import { describe, expect, it } from 'vitest';
import { ulids } from '#adapters/ids.ts';
import type { Person } from '../support/access-fixture.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { accessScene } from './access-backtests-fixture.ts';

const scene = accessScene();
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
  });

  it('have info, metrics, parameters and tags; the history of a metric has its last value', async () => {
    const { owner, person, ids } = await withRuns();
    const id = ids[1]!;
    await person.patch(`/api/v1/backtests/${id}`, { notes: 'why', tags: ['desk=fx', 'kept'] });
    const { body } = await person.get(`${MLFLOW}/runs/get?run_id=${id}&run_uuid=${id}`);
    const { info, data } = body.run;
    expect(info).toMatchObject({
      ...{ run_id: id, run_uuid: id, run_name: MODEL, user_id: owner, experiment_id: 'e-trend' },
      ...{ status: 'FINISHED', lifecycle_stage: 'active', artifact_uri: `mlflow-artifacts:/${id}` },
    });
    expect(data.metrics).toContainEqual(expect.objectContaining({ key: 'total_profit_pct', value: 1 }));
    expect(data.params).toContainEqual({ key: 'strategy', value: MODEL });
    for (const [key, value] of Object.entries({
      ...{ desk: 'fx', kept: '', 'mlflow.user': owner, 'mlflow.note.content': 'why' },
      ...{ 'touchstone.kind': 'backtest' },
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
    const archived = await transition(approver, '2', 'None');
    expect([archived.status, archived.body.error_code]).toEqual([409, 'RESOURCE_CONFLICT']);

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
