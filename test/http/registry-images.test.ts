import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessFixture, accessFixture, type Person } from '../support/access-fixture.ts';
import { IMAGE, MODEL } from '../support/registry-fixture.ts';

/** Registered images in a stage with a public network. */

const DIGEST = `sha256:${'ab'.repeat(32)}`;
const VERSIONS = `/api/v1/models/${MODEL}/versions`;
let fixture: AccessFixture;
let caller: Person;
/** Digest of the image of the next registration; null when its registry cannot be queried. */
let digest: string | null = DIGEST;

beforeAll(async () => {
  fixture = await accessFixture({ rejectImages: true, images: { digestOf: async () => digest } });
  caller = fixture.development;
});
afterAll(() => fixture?.stop());

const register = async () => caller.register(await fixture.backtest('anonymous', {}, 'completed'));
const submit = (more: object) =>
  caller.post('/api/v1/backtests', { config: { strategy: MODEL, pairs: ['BTC/USDT:USDT'] }, ...more });
const stageOf = async (version: string) => (await caller.get(`${VERSIONS}/${version}`)).body.stage;

test('version with an image is registered, and neither submitted nor staged', async () => {
  const registered = await register();
  expect(registered.status).toBe(201);
  const { version } = registered.body;
  const rejections: readonly (readonly [string, Awaited<ReturnType<typeof submit>>])[] = [
    ['model_version', await submit({ model_version: version })],
    ['model_version', await submit({ model_version: 'latest' })],
    ['version', await caller.post(`/api/v1/strategies/${MODEL}/stage`, { version })],
  ];
  for (const [field, { status, code, body }] of rejections) {
    expect([status, code, body.detail.field]).toEqual([400, 'VAL005', field]);
    expect(body.detail.message).toMatch(/set network to isolated, or allowForeignImages to true$/);
    expect(body.detail.context.value).toBe(`${IMAGE.replace(/:\d+$/, '')}@${DIGEST}`);
  }
  expect(await stageOf(version)).toBe('None');
  const { items } = (await caller.get('/api/v1/backtests?status=pending')).body;
  expect(items).toEqual([]);
});

test('strategy without a version, and a version without a resolved image, run in the image of the platform', async () => {
  digest = null;
  const { version } = (await register()).body;
  for (const more of [{}, { model_version: version }]) {
    const { status, body } = await submit(more);
    expect(status, JSON.stringify(body)).toBe(201);
    expect((await fixture.jobs.get(body.job_id))?.execution_input.image).toBeNull();
  }
  expect((await caller.post(`/api/v1/strategies/${MODEL}/stage`, { version })).status).toBe(200);
});
