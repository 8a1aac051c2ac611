import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { expect, it } from 'vitest';
import { challengeEventKey, eventKey } from '#adapters/dynamo/registry-item.ts';
import { ulids } from '#adapters/ids.ts';
import type { ChallengeEvent } from '#contract/registry/stored-challenge.ts';
import type { RegistryEvent } from '#contract/registry/stored-registry.ts';
import { pendingJob } from '../support/jobs.ts';
import { accessScene } from './access-backtests-fixture.ts';

const scene = accessScene();
const MODEL = 'rsi_mean_reversion';
const of = `/api/v1/models/${MODEL}`;
const MLFLOW = '/api/2.0/mlflow';

/** Entries of a resource, newest first, over pages of three. */
async function trailOf(resource: string, query = ''): Promise<any[]> {
  const entries: any[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await scene.admin.get(
      `/api/v1/audit?resource=${resource}&limit=3${query}${cursor}`,
    );
    expect(status, JSON.stringify(body)).toBe(200);
    entries.push(...body.items);
    if (body.next_cursor === null) return entries;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

const shown = (entries: readonly any[]) =>
  entries.map(({ operation, version, principal, outcome }) =>
    [operation, version ?? '-', principal, outcome].join(' '),
  );

it('the trail of a model has each call about it with the version, also by a challenge, and what the platform did itself', async () => {
  const { ann, admin, fixture } = scene;
  const { config } = pendingJob('bt-0');
  const run = () => fixture.backtest('ann', { config: { ...config, strategy: MODEL } }, 'completed');
  const done = async (answer: Promise<{ status: number; body: any }>) => {
    const { status, body } = await answer;
    expect(status, JSON.stringify(body)).toBeLessThan(300);
    return body;
  };
  await done(ann.register(await run(), MODEL));
  await done(ann.register(await run(), MODEL));
  await done(ann.post(`/api/v1/strategies/${MODEL}/stage`, { version: 1 }));
  await done(ann.post(`/api/v1/strategies/${MODEL}/stage`, { version: 2 }));
  await done(ann.patch(`${of}/versions/2`, { aliases: ['shadow'], tags: ['desk=fx'] }));
  await done(
    ann.post(`${MLFLOW}/model-versions/set-tag`, { name: MODEL, version: '2', key: 'a', value: 'b' }),
  );
  await done(ann.share(of, 'group:desk'));
  await done(admin.post(`/api/v1/strategies/${MODEL}/promote`, { version: 1, comment: 'first' }));
  const versions = { champion_version: '1', challenger_version: '2' };
  const { challenge_id: id } = await done(ann.strategy('POST', `${of}/challenges`, versions));
  const challenge = `/api/v1/challenges/${id}`;
  await done(admin.strategy('POST', `${challenge}/hold`, { reason: 'wait' }));
  await done(admin.strategy('POST', `${challenge}/resume`, {}));
  await admin.strategy('POST', `${challenge}/promote`, {});
  await scene.bob.post(`/api/v1/strategies/${MODEL}/stage`, { version: 2 });

  expect(shown(await trailOf(MODEL))).toEqual([
    'stageVersion 2 bob refused',
    'promoteChallenge 2 root refused',
    'resumeChallenge 2 root succeeded',
    'holdChallenge 2 root succeeded',
    'createChallenge 2 ann succeeded',
    'promoteVersion 1 root succeeded',
    'shareModel - ann succeeded',
    'mlflowSetVersionTag 2 ann succeeded',
    'labelVersion 2 ann succeeded',
    'stageVersion 2 ann succeeded',
    'stageVersion 1 ann succeeded',
    'registerStrategy 2 ann succeeded',
    'registerStrategy 1 ann succeeded',
  ]);
  const [hold] = await trailOf(MODEL, '&operation=holdChallenge');
  expect(hold).toMatchObject({
    model_name: MODEL,
    resource: { kind: 'challenges', id },
    request: { body: { reason: 'wait' } },
  });

  // The platform held the challenge, and promoted its winner in one transaction with a trade: no call did.
  const at = new Date().toISOString();
  const held: ChallengeEvent = {
    schema_version: 2,
    challenge_id: id,
    sequence: 90,
    at,
    actor: 'platform',
    action: 'hold',
    status: 'active',
    outcome: null,
    canary_stage: 'stage_1',
    reason: 'sample_ratio_mismatch',
    warnings: [],
    correlation_id: null,
  };
  const [latest] = (await ann.get(`${of}/history`)).body.items as [RegistryEvent];
  const promoted: RegistryEvent = {
    ...latest,
    schema_version: 1,
    model_name: MODEL,
    event_id: ulids.ulid(),
    sequence: 90,
    at: new Date(Date.parse(at) + 1).toISOString(),
    actor: 'ann',
    action: 'promote',
    version: '2',
    challenge_id: id,
    correlation_id: id,
  };
  const { client, registryTable: TableName } = fixture;
  for (const Item of [
    { ...challengeEventKey(held), ...held },
    { ...eventKey(promoted), ...promoted },
  ]) {
    await client.send(new PutCommand({ TableName, Item }));
  }
  await expect.poll(() => Date.now()).toBeGreaterThan(Date.parse(promoted.at));
  await ann.share(of);
  expect(shown(await trailOf(MODEL)).slice(0, 4)).toEqual([
    'shareModel - ann succeeded',
    'promote 2 ann succeeded',
    'hold 2 platform succeeded',
    'stageVersion 2 bob refused',
  ]);
  const [, promotion, hold90] = await trailOf(MODEL);
  expect(promotion).toMatchObject({ service: 'platform', request: { body: { challenge_id: id } } });
  expect(hold90.request.body.reason).toBe('sample_ratio_mismatch');
  expect(await trailOf(MODEL)).toHaveLength(16);
  expect(shown(await trailOf(id)).map((each) => each.split(' ')[0])).toEqual([
    'hold',
    'promoteChallenge',
    'resumeChallenge',
    'holdChallenge',
  ]);
});

it("a promotion by a user is not the platform's, whatever challenge and correlation ID the call names", async () => {
  const { ann, admin, fixture } = scene;
  const { config } = pendingJob('bt-0');
  const strategy = 'donchian_trend';
  const run = await fixture.backtest('ann', { config: { ...config, strategy } }, 'completed');
  await ann.register(run, strategy);
  await ann.post(`/api/v1/strategies/${strategy}/stage`, { version: 1 });
  const body = { version: 1, challenge_id: 'autopilot' };
  const headers = { 'X-Correlation-ID': 'autopilot' };
  expect((await admin.post(`/api/v1/strategies/${strategy}/promote`, body, headers)).status).toBe(200);
  const [promotion, ...others] = await trailOf(strategy);
  expect(promotion).toMatchObject({ operation: 'promoteVersion', principal: 'root', service: 'backend' });
  expect(others.map(({ service }) => service)).not.toContain('platform');
});

it('call that names a version by an alias has its number, also after the alias has moved', async () => {
  const { ann, admin, fixture } = scene;
  const model = 'macd_momentum';
  const { config } = pendingJob('bt-0');
  const called = async (answer: Promise<{ status: number; body: any }>) =>
    expect((await answer).status, JSON.stringify((await answer).body)).toBeLessThan(300);
  for (const version of [1, 2]) {
    const run = await fixture.backtest('ann', { config: { ...config, strategy: model } }, 'completed');
    await called(ann.register(run, model));
    await called(ann.post(`/api/v1/strategies/${model}/stage`, { version }));
    await called(admin.post(`/api/v1/strategies/${model}/promote`, { version }));
  }
  const name = model;
  await called(ann.post(`${MLFLOW}/registered-models/alias`, { name, version: 'latest', alias: 'blue' }));
  await called(ann.post(`${MLFLOW}/model-versions/set-tag`, { name, version: 'blue', key: 'a', value: 'b' }));
  await called(ann.patch(`/api/v1/models/${model}/versions/1`, { aliases: ['blue'] }));
  await called(admin.post(`/api/v1/models/${model}/rollback`, { version: 'blue', reason: 'losses' }));
  await called(admin.post(`/api/v1/models/${model}/stop`, { reason: 'losses' }));
  expect(shown(await trailOf(model)).slice(0, 5)).toEqual([
    'stopModel 1 root succeeded',
    'rollbackModel 1 root succeeded',
    'labelVersion 1 ann succeeded',
    'mlflowSetVersionTag 2 ann succeeded',
    'mlflowSetAlias 2 ann succeeded',
  ]);
});
