import { describe, expect, it } from 'vitest';
import { ulids } from '#adapters/ids.ts';
import { OPERATIONS } from '#contract/operations/operations.ts';
import type { Operation } from '#contract/values/operation.ts';
import { FOUND_LOOK_AHEAD, pendingJob } from '../support/jobs.ts';
import { accessScene } from './access-backtests-fixture.ts';

const scene = accessScene();
const MLFLOW = '/api/2.0/mlflow';
const MODEL = 'supertrend';
const TAGS = [
  'touchstone.look_ahead=certified',
  'Touchstone.look_ahead=certified',
  ' touchstone.x',
  'touchstone.',
  '\u200Btouchstone.look_ahead=certified',
  'touchstone\u2060.look_ahead=certified',
  'touchstone .look_ahead=certified',
  '\uFF54ouchstone.look_ahead=certified',
  'touch\u017Ftone.look_ahead=certified',
  'touch\u3164stone.look_ahead=certified',
  'touchstone\u115F.look_ahead=certified',
  '\u2800touchstone.look_ahead=certified',
  'touchstone\uFF61look_ahead=certified',
];

/** A user's own backtest of a strategy. */
const backtest = (owner: string) => {
  const { config } = pendingJob('bt-0');
  return scene.fixture.backtest(owner, { config: { ...config, strategy: MODEL } }, 'completed');
};

describe('tags of the platform', () => {
  it('no operation with a body of tags lets a user set one', async () => {
    const run = await backtest('ann');
    expect((await scene.ann.register(run, MODEL)).status).toBe(201);
    const { ann } = scene;
    const image = { backtest_run_id: run, container_image_uri: 'registry.example/a:1' };
    const pairOf = (tag: string) => {
      const [key, value = ''] = tag.split('=');
      return { key, value };
    };
    const calls: Record<string, (tag: string) => Promise<{ status: number }>> = {
      updateBacktest: (tag) => ann.patch(`/api/v1/backtests/${run}`, { tags: ['kept', tag] }),
      registerStrategy: (tag) =>
        ann.strategy('POST', `/api/v1/strategies/${MODEL}/register`, { ...image, tags: [tag] }),
      labelVersion: (tag) => ann.patch(`/api/v1/models/${MODEL}/versions/1`, { tags: [tag] }),
      mlflowCreateModel: (tag) =>
        ann.post(`${MLFLOW}/registered-models/create`, { name: MODEL, tags: [pairOf(tag)] }),
      mlflowCreateVersion: (tag) =>
        ann.post(`${MLFLOW}/model-versions/create`, { name: MODEL, run_id: run, tags: [pairOf(tag)] }),
      mlflowSetVersionTag: (tag) =>
        ann.post(`${MLFLOW}/model-versions/set-tag`, { name: MODEL, version: '1', ...pairOf(tag) }),
      mlflowDeleteVersionTag: (tag) =>
        ann.delete(`${MLFLOW}/model-versions/delete-tag`, { name: MODEL, version: '1', ...pairOf(tag) }),
    };
    const takesTags = ({ id, body }: Operation) =>
      /Tag$/.test(id) || (body !== undefined && 'shape' in body && 'tags' in (body.shape as object));
    const rows: readonly Operation[] = OPERATIONS;
    expect(Object.keys(calls).sort()).toEqual(
      rows
        .filter(takesTags)
        .map(({ id }) => id)
        .sort(),
    );
    for (const tag of TAGS) {
      for (const [id, call] of Object.entries(calls)) {
        const { status, ...rest } = await call(tag);
        expect([400, 409], `${id} ${JSON.stringify(tag)} ${JSON.stringify(rest)}`).toContain(status);
      }
    }
    const { body: version } = await ann.get(`/api/v1/models/${MODEL}/versions/1`);
    const { body: job } = await ann.get(`/api/v1/backtests/${run}`);
    expect([version.tags, job.tags]).toEqual([[], []]);
  });

  it("a filter on touchstone.look_ahead sees the platform's value only, also past tags that were stored before", async () => {
    const owner = `user-${ulids.ulid()}`;
    const person = scene.fixture.person(owner);
    const leaking = await scene.fixture.backtest(owner, {}, 'completed', {}, FOUND_LOOK_AHEAD);
    const running = await scene.fixture.backtest(owner, {}, 'running');
    for (const id of [leaking, running]) {
      await scene.fixture.jobs.annotate(id, {
        tags: ['touchstone.look_ahead=certified', 'mlflow.user=root', 'desk=fx'],
      });
    }
    const found = async (filter: string) => {
      const { body } = await person.post(`${MLFLOW}/runs/search`, { filter });
      return body.runs.map(({ info }: { info: { run_id: string } }) => info.run_id).sort();
    };
    expect(await found("tags.touchstone.look_ahead = 'certified'")).toEqual([]);
    expect(await found("tags.`touchstone.look_ahead` = 'found'")).toEqual([leaking]);
    expect(await found("tags.desk = 'fx'")).toEqual([leaking, running].sort());
    const { body } = await person.get(`${MLFLOW}/runs/get?run_id=${leaking}`);
    const values = (key: string) =>
      body.run.data.tags
        .filter((tag: { key: string }) => tag.key === key)
        .map(({ value }: { value: string }) => value);
    expect([values('touchstone.look_ahead'), values('mlflow.user')]).toEqual([['found'], [owner]]);
  });
});
