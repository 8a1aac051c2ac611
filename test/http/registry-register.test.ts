import { beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '#adapters/sha256.ts';
import { canonicalJson } from '#engine/digest.ts';
import { fileEngine } from '../support/file-engine.ts';
import { pendingJob, SOME_RESULT, SOME_RESULTS } from '../support/jobs.ts';
import {
  BACKTEST,
  IMAGE,
  MODEL,
  PROVENANCE,
  type RegistryFixture,
  registryFixture,
} from '../support/registry-fixture.ts';

const engine = fileEngine();
let fixture: RegistryFixture;
beforeAll(async () => {
  fixture = await registryFixture(engine);
});

const DIGEST = `sha256:${'f'.repeat(64)}`;
const version = async (number: string, from = fixture) =>
  (await from.get(`/api/v1/models/${MODEL}/versions/${number}`)).body;

describe('registered version', () => {
  it('version records its inputs and their content hash', async () => {
    const own = await registryFixture(engine);
    const thresholds = { min_sharpe: 1.1, min_profit_factor: 1.8, max_drawdown: 4.2 };
    const { status, body } = await own.register({ description: 'first', thresholds, tags: ['a', 'a', 'b'] });
    expect(status).toBe(201);
    expect(body).toMatchObject({ success: true, version: '1', model_name: MODEL, stage: 'None' });
    // Equality passes.
    expect(body.validation.status).toBe('passed');
    const { config } = pendingJob(BACKTEST);
    const content = {
      backtest_run_id: BACKTEST,
      config,
      container_image_uri: IMAGE,
      image_digest: null,
      metrics: SOME_RESULT,
      results: SOME_RESULTS,
      thresholds,
      candle_digest: PROVENANCE.data_digest,
      strategy_digest: PROVENANCE.strategy_digest,
      engine_version: PROVENANCE.engine_version,
      trials: 1,
      // 31 days of 5-minute candles: the last opens five minutes before their end.
      evidence: {
        from: '2025-01-01T00:00:00.000Z',
        to: '2025-02-01T00:00:00.000Z',
        hyperopt_job_id: null,
        deflated_sharpe_ratio: null,
      },
    };
    const stored = (await own.items()).find(({ sk }) => sk === 'VERSION#000001');
    expect(stored).toMatchObject(content);
    const { results: _, ...shown } = content;
    expect(await version('1', own)).toMatchObject({
      ...shown,
      content_hash: sha256(canonicalJson(content)),
      description: 'first',
      tags: ['a', 'b'],
      created_by: 'anonymous',
      aliases: ['latest'],
      validation_status: 'passed',
    });
  });

  it('version has the image digest when images are resolved', async () => {
    const images = { digestOf: async (uri: string) => (uri === IMAGE ? DIGEST : undefined) };
    const own = await registryFixture(engine, { deps: { images } });
    await own.register();
    expect(await version('1', own)).toMatchObject({ image_digest: DIGEST });
    const gone = await own.register({ container_image_uri: 'registry.example/other:1' });
    expect(gone).toMatchObject({ status: 400, body: { detail: { code: 'VAL005' } } });
  });

  it('version is marked skipped without thresholds and with skip_validation', async () => {
    const none = await fixture.register();
    const skipped = await fixture.register({ thresholds: { min_sharpe: 99 }, skip_validation: true });
    for (const { status, body } of [none, skipped]) {
      expect(status).toBe(201);
      expect(body.message).toContain('skipped');
      expect((await version(body.version)).validation_status).toBe('skipped');
    }
    const { items } = (await fixture.get(`/api/v1/models/${MODEL}/history?limit=1`)).body;
    expect(items[0]).toMatchObject({ action: 'register', version: '2', notes: ['validation skipped'] });
  });
});

describe('registration thresholds', () => {
  it('rejection lists every missed threshold and uses no version number', async () => {
    const before = await fixture.items();
    const { status, body } = await fixture.register({
      thresholds: { min_sharpe: 1.2, min_profit_factor: 1.5, max_drawdown: -4.1 },
    });
    expect(status).toBe(400);
    expect(body.detail).toMatchObject({
      code: 'VAL005',
      field: 'thresholds.min_sharpe',
      context: {
        failures: [
          { metric: 'sharpe_ratio', value: 1.1, threshold: 1.2 },
          { metric: 'max_drawdown_pct', value: 4.2, threshold: -4.1 },
        ],
      },
    });
    expect(await fixture.items()).toEqual(before);
  });

  it('drawdown threshold compares magnitudes', async () => {
    expect((await fixture.register({ thresholds: { max_drawdown: -4.2 } })).status).toBe(201);
    await fixture.backtest('bt-negative', MODEL, { ...SOME_RESULT, max_drawdown_pct: -4.2 });
    const negative = { backtest_run_id: 'bt-negative', thresholds: { max_drawdown: 4.1 } };
    expect((await fixture.register(negative)).status).toBe(400);
    expect((await fixture.register({ ...negative, thresholds: { max_drawdown: 4.2 } })).status).toBe(201);
  });
});

it.each([
  [{ max_drawdown: 90, min_sharp: 9 }, 'passed', 'warning'],
  [{ min_sharp: 9 }, 'skipped', 'skipped'],
])('misspelled threshold is ignored with a warning: %j', async (thresholds, ...wanted) => {
  const { status, body } = await fixture.register({ thresholds });
  expect(status).toBe(201);
  expect([body.validation.status, body.validation.checks[0].status]).toEqual(wanted);
  expect(body.message).toContain(
    'Unknown key thresholds.min_sharp was ignored; did you mean thresholds.min_sharpe?',
  );
});

describe('rejected registration', () => {
  beforeAll(async () => {
    await fixture.backtest('bt-other', 'macd_momentum');
    await fixture.jobs.create(pendingJob('bt-waiting'));
  });

  it.each([
    ['a body without a backtest', { backtest_run_id: undefined }, 400, 'missing'],
    ['a threshold that is not a number', { thresholds: { min_sharpe: 'high' } }, 400, 'float_type'],
    ['an unknown backtest', { backtest_run_id: 'bt-unknown' }, 404, 'RES001'],
    ['a malformed backtest ID', { backtest_run_id: '../x' }, 400, 'VAL005'],
    ['a backtest that is not completed', { backtest_run_id: 'bt-waiting' }, 409, 'RES005'],
    ['a backtest of another strategy', { backtest_run_id: 'bt-other' }, 400, 'VAL005'],
    ['an invalid image reference', { container_image_uri: 'https://x/y z' }, 400, 'VAL006'],
    ['an image without a name', { container_image_uri: '' }, 400, 'VAL006'],
    ['a description that is too long', { description: 'x'.repeat(1001) }, 400, 'VAL005'],
    ['too many tags', { tags: Array.from({ length: 21 }, String) }, 400, 'VAL005'],
    // The first failing check of this order is reported.
    [
      'an unknown backtest before an invalid image',
      { backtest_run_id: 'bt-no', container_image_uri: '' },
      404,
      'RES001',
    ],
    [
      'an invalid image before thresholds',
      { container_image_uri: '', thresholds: { min_sharpe: 99 } },
      400,
      'VAL006',
    ],
  ])('registration rejects %s', async (_, body, status, code) => {
    const response = await fixture.register(body);
    expect(response.status).toBe(status);
    const { detail } = response.body;
    expect(Array.isArray(detail) ? detail[0].type : detail.code).toBe(code);
  });

  it('registration rejects an unknown strategy and lists the known ones', async () => {
    const { status, body } = await fixture.register({}, {}, 'unheard_of');
    expect({ status, code: body.detail.code }).toEqual({ status: 404, code: 'RES002' });
    expect(body.detail.context.known).toContain(MODEL);
  });

  it('registration rejects an image of a registry outside the allow list', async () => {
    const own = await registryFixture(engine, { deps: { allowedRegistries: ['registry.example'] } });
    expect((await own.register()).status).toBe(201);
    const { status, body } = await own.register({
      container_image_uri: 'registry.example.evil/touchstone:1',
    });
    expect({ status, code: body.detail.code }).toEqual({ status: 400, code: 'VAL005' });
  });
});

it.each([
  'touchstone',
  'touchstone:1.0',
  'localhost:5000/a/b:tag',
  `123456789012.dkr.ecr.us-east-1.amazonaws.com/touchstone@${DIGEST}`,
  `Registry.example/touchstone:v1@${DIGEST}`,
])('registration accepts %s as an image reference', async (uri) => {
  expect((await fixture.register({ container_image_uri: uri })).status).toBe(201);
});

it('registering a backtest twice without a key creates two versions', async () => {
  const first = await fixture.register();
  const second = await fixture.register();
  expect(Number(second.body.version)).toBe(Number(first.body.version) + 1);
  expect(second.body.content_hash).toBe(first.body.content_hash);
});
