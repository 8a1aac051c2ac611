import { describe, expect, it } from 'vitest';
import { ulids } from '#adapters/ids.ts';
import { accessFixture, type Person } from '../support/access-fixture.ts';
import { pendingHyperopt } from '../support/hyperopt-workers.ts';
import { pendingJob } from '../support/jobs.ts';
import { accessScene } from './access-backtests-fixture.ts';

const scene = accessScene();
const MLFLOW = '/api/2.0/mlflow';
const ARTIFACTS = '/api/2.0/mlflow-artifacts/artifacts';

const said = ({ status, body }: { status: number; body: any }) => [status, body.error_code];
const INVALID = [400, 'INVALID_PARAMETER_VALUE'];

/** A user of their own, a strategy, and two versions of it. */
async function withVersions(strategy: string, fixture = scene.fixture) {
  const owner = `user-${ulids.ulid()}`;
  const person = fixture.person(owner);
  const approver = fixture.person(owner, 'approver');
  const { config } = pendingJob('bt-0');
  const job = () => fixture.backtest(owner, { config: { ...config, strategy } }, 'completed');
  const runs = [await job(), await job()];
  for (const run_id of runs) {
    const created = await person.post(`${MLFLOW}/model-versions/create`, { name: strategy, run_id });
    expect(created.status).toBe(200);
  }
  const transition = (version: string, stage: string, more = {}) =>
    approver.post(`${MLFLOW}/model-versions/transition-stage`, { name: strategy, version, stage, ...more });
  return { person, approver, runs, transition };
}

const query = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString();

/** The searches of MLflow: each takes a filter and an order. */
const SEARCHES: Record<string, (person: Person, fields: { filter?: string; order_by?: string }) => any> = {
  runs: (person, { filter, order_by }) =>
    person.post(`${MLFLOW}/runs/search`, { filter, order_by: order_by && [order_by] }),
  experiments: (person, { filter, order_by }) =>
    person.post(`${MLFLOW}/experiments/search`, { filter, order_by: order_by && [order_by] }),
  models: (person, fields) => person.get(`${MLFLOW}/registered-models/search?${query(fields)}`),
  versions: (person, fields) => person.get(`${MLFLOW}/model-versions/search?${query(fields)}`),
};

describe('searches of MLflow', () => {
  it.each([
    ['runs', 'start_tme', 'start_time'],
    ['runs', 'attributes.sharpe_ratio', 'metrics.<name>'],
    ['experiments', 'creation', 'last_update_time'],
    ['experiments', 'metrics.x', 'tags.<name>'],
    ['models', 'stage', 'last_updated_timestamp'],
    ['models', 'params.fast', 'tags.<name>'],
    ['versions', 'run', 'run_id'],
    ['versions', 'metrics.x', 'version_number'],
  ])('of %s reject the unknown field %s with the known ones', async (list, field, known) => {
    for (const [name, fields] of [
      ['filter', { filter: `${field} = 'x'` }],
      ['order_by', { order_by: `${field} DESC` }],
    ] as const) {
      const answer = await SEARCHES[list]!(scene.ann, fields);
      expect(said(answer)).toEqual(INVALID);
      expect(answer.body.message).toContain(`${name}: ${list} have no field "${field}": they have `);
      expect(answer.body.message).toContain(known);
    }
  });

  it.each([
    ['runs', ['run_id', 'run_name', 'status', 'user_id', 'start_time', 'end_time', 'artifact_uri']],
    ['runs', ['created', 'Created', '`Run Name`', '`run name`', 'metrics.m', 'params.p', 'tags.t']],
    ['experiments', ['name', 'experiment_id', 'last_update_time']],
    ['models', ['name', 'creation_timestamp', 'last_updated_timestamp']],
    ['versions', ['name', 'version_number', 'creation_timestamp', 'last_updated_timestamp']],
  ])('of %s know the fields of the client: %s', async (list, fields) => {
    for (const field of fields) {
      const answer = await SEARCHES[list]!(scene.ann, {
        filter: `${field} != 'x'`,
        order_by: `${field} ASC`,
      });
      expect(said(answer), field).toEqual([200, undefined]);
    }
  });

  it('find nothing for an unknown name, and for one of somebody else', async () => {
    await withVersions('bollinger_breakout');
    for (const name of ['nothing', 'bollinger_breakout', '', 'x'.repeat(500)]) {
      const answer = await SEARCHES.versions!(scene.bob, { filter: `name = '${name}'` });
      expect([answer.status, answer.body.model_versions], name).toEqual([200, []]);
    }
    const of = { ...pendingHyperopt(`ho-${ulids.ulid()}`), owner: 'ann' };
    await scene.fixture.hyperoptJobs.create(of);
    for (const parent of ['ho-none', 'bt-none', '', of.job_id]) {
      const answer = await SEARCHES.runs!(scene.bob, { filter: `tags.mlflow.parentRunId = '${parent}'` });
      expect([answer.status, answer.body.runs], parent).toEqual([200, []]);
    }
  });

  it('know that no model is a prompt', async () => {
    const { person } = await withVersions('supertrend');
    const models = async (comparison: string) => {
      const filter = `tag.\`mlflow.prompt.is_prompt\` ${comparison}`;
      const { body } = await SEARCHES.models!(person, { filter });
      return body.registered_models.length;
    };
    expect(await models("!= 'true'")).toBe(1);
    expect(await models("= 'false'")).toBe(1);
    expect(await models("= 'true'")).toBe(0);
  });

  it('take a 64-bit integer as a text, as clients of protobuf send it', async () => {
    for (const path of ['runs', 'experiments']) {
      const search = (max_results: unknown) => scene.ann.post(`${MLFLOW}/${path}/search`, { max_results });
      for (const each of [1, '1']) expect(said(await search(each))).toEqual([200, undefined]);
      for (const each of ['one', '1.5', '', 1.5, '99999999999999999999', true])
        expect(said(await search(each)), String(each)).toEqual(INVALID);
    }
    const { body } = await scene.ann.post(`${MLFLOW}/experiments/search`, { max_results: '1' });
    expect(body.experiments).toHaveLength(1);
  });
});

describe('calls of MLflow with two methods', () => {
  it('search experiments and read the newest versions the same way by GET and POST', async () => {
    const { person } = await withVersions('macd_momentum');
    const experiments = { filter: "name LIKE '%'", max_results: '5', order_by: 'name ASC', page_token: '' };
    const found = await person.get(`${MLFLOW}/experiments/search?${query(experiments)}`);
    expect(found.body.experiments.map(({ name }: any) => name)).toEqual(['Default']);
    expect(found.body).toEqual(
      (await person.post(`${MLFLOW}/experiments/search`, { ...experiments, order_by: ['name ASC'] })).body,
    );
    const path = `${MLFLOW}/registered-models/get-latest-versions`;
    const newest = await person.get(`${path}?name=macd_momentum&stages=NONE&stages=Archived`);
    expect(newest.body.model_versions.map(({ version }: any) => version)).toEqual(['2']);
    expect(newest.body).toEqual(
      (await person.post(path, { name: 'macd_momentum', stages: ['none', 'archived'] })).body,
    );
    const all = await person.get(`${path}?name=macd_momentum&stages=`);
    expect(all.body).toEqual((await person.post(path, { name: 'macd_momentum', stages: [] })).body);
    const wrong = await person.get(`${path}?name=macd_momentum&stages=Prod`);
    expect(said(wrong)).toEqual(INVALID);
    expect(wrong.body).toEqual((await person.post(path, { name: 'macd_momentum', stages: ['Prod'] })).body);
  });
});

describe('stages of MLflow', () => {
  it('are named in any case, and others are rejected', async () => {
    const { person, transition } = await withVersions('donchian_trend');
    const latest = (stages: readonly string[]) =>
      person.post(`${MLFLOW}/registered-models/get-latest-versions`, { name: 'donchian_trend', stages });
    expect((await transition('1', 'STAGING')).status).toBe(200);
    const { body } = await latest(['staging', 'none', 'None']);
    expect(body.model_versions.map((each: any) => [each.version, each.current_stage])).toEqual([
      ['2', 'None'],
      ['1', 'Staging'],
    ]);
    const unknown = await latest(['production', 'prod']);
    expect(said(unknown)).toEqual(INVALID);
    expect(unknown.body.message).toMatch(/"prod": the stages are None, Staging, Production, Archived/);
    expect(said(await transition('1', 'prod'))).toEqual(INVALID);
    expect(said(await transition('1', 'Archived'))).toEqual([409, 'RESOURCE_CONFLICT']);
  });

  it('archive_existing_versions=false is refused only while another version is in Production', async () => {
    const { transition } = await withVersions('rsi_mean_reversion');
    const none = { archive_existing_versions: false };
    for (const version of ['1', '2']) await transition(version, 'Staging', none);
    const production = async (version: string, more: object) => {
      const { status, body } = await transition(version, 'Production', more);
      return status === 200 ? body.model_version.current_stage : [body.error_code, body.message];
    };
    expect(await production('1', none)).toBe('Production');
    expect(await production('1', none)).toBe('Production');
    const refused = [
      'RESOURCE_CONFLICT',
      expect.stringMatching(/^Version 1 is in Production and .*pass archive_existing_versions=True/),
    ];
    expect(await production('2', none)).toEqual(refused);
    expect(await production('2', { archive_existing_versions: true })).toBe('Production');
    expect(await production('1', none)).toEqual([
      'RESOURCE_CONFLICT',
      expect.stringMatching(/^Version 2 is in Production/),
    ]);
    expect(await production('1', {})).toBe('Production');
  });
});

describe('runs of MLflow', () => {
  it('an unknown one is named as a run, whatever its ID looks like', async () => {
    const ho = { ...pendingHyperopt(`ho-${ulids.ulid()}`), owner: 'ann' };
    await scene.fixture.hyperoptJobs.create(ho);
    for (const id of ['bt-none', 'ho-none', 'nothing', `${ho.job_id}_7`, 'ho-none_1', '_1', 'va-1']) {
      const { status, body } = await scene.ann.get(`${MLFLOW}/runs/get?run_id=${id}`);
      expect([status, body]).toEqual([
        404,
        { error_code: 'RESOURCE_DOES_NOT_EXIST', message: `Run with id=${id} not found (RES001)` },
      ]);
    }
  });

  it('that completed are models: runs:/<run>/model has an MLmodel beside the files', async () => {
    const owner = `user-${ulids.ulid()}`;
    const person = scene.fixture.person(owner);
    const run = await scene.fixture.backtest(owner, {}, 'completed');
    const names = async (path: string) => {
      const { status, body } = await person.get(`${ARTIFACTS}?path=${path}`);
      expect(status).toBe(200);
      return body.files.map((file: any) => file.path);
    };
    const files = ['MLmodel', 'orders.csv', 'report.html', 'report.json', 'trades.csv', 'trades.parquet'];
    expect(await names(run)).toEqual(files);
    expect(await names(`${run}/model`)).toEqual(files);
    for (const none of ['trades.csv', 'other', 'model/trades.csv'])
      expect(await names(`${run}/${none}`)).toEqual([]);
    const { body } = await person.get(`${ARTIFACTS}/${run}/model/MLmodel`);
    expect(body).toMatchObject({ run_id: run, flavors: { touchstone: { strategy: 'ema_crossover' } } });
    expect((await person.get(`${ARTIFACTS}/${run}/MLmodel`)).body).toEqual(body);
    expect(said(await scene.bob.get(`${ARTIFACTS}/${run}/model/MLmodel`))).toEqual([
      403,
      'PERMISSION_DENIED',
    ]);
    expect(said(await person.get(`${ARTIFACTS}/${run}/model/other`))).toEqual(INVALID);

    const running = await scene.fixture.backtest(owner, {}, 'running');
    expect(await names(`${running}/model`)).toEqual([]);
    expect(said(await person.get(`${ARTIFACTS}/${running}/MLmodel`))).toEqual([409, 'RESOURCE_CONFLICT']);
    // The client asks so for a model that it did not find among the artifacts.
    const logged = await person.post(`${MLFLOW}/logged-models/search`, {
      experiment_ids: ['0'],
      filter: "name = 'other'",
    });
    expect([logged.status, logged.body]).toEqual([200, { models: [], next_page_token: '' }]);
  });
});

describe('a platform that requires a reason of rollbacks', () => {
  it('refuses one by the client of MLflow, which has none', async () => {
    const fixture = await accessFixture({ rollbackReasonRequired: true });
    try {
      const { transition, person } = await withVersions('ema_crossover', fixture);
      for (const version of ['1', '2']) {
        expect((await transition(version, 'Staging')).status).toBe(200);
        expect((await transition(version, 'Production', { archive_existing_versions: true })).status).toBe(
          200,
        );
      }
      const refused = await transition('1', 'Production', { archive_existing_versions: true });
      expect(said(refused)).toEqual(INVALID);
      expect(refused.body.message).toContain('requires a reason');
      const { version } = (await person.get('/api/v1/models/ema_crossover/production')).body;
      expect(version).toBe('2');
    } finally {
      await fixture.stop();
    }
  });
});
