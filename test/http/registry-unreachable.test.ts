import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDocumentClient } from '#adapters/aws/dynamo-client.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';
import { MODEL, type RegistryWorld, registryWorld } from '../support/registry-world.ts';

let engine: TestEngine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine?.stop());

const unreachable = async () => {
  const client = createDocumentClient({ endpoint: 'http://127.0.0.1:1', unavailable: 'SVC005' });
  return { client, world: await registryWorld(engine, { client }) };
};

const withoutTable = async () => {
  const client = createDocumentClient({ endpoint: engine.endpoint, unavailable: 'SVC005' });
  const world = await registryWorld(engine, { client });
  await client.send(new DeleteTableCommand({ TableName: world.table }));
  return { client, world };
};

const CALLS: readonly ((world: RegistryWorld) => ReturnType<RegistryWorld['get']>)[] = [
  (world) => world.register(),
  (world) => world.stage(1),
  (world) => world.promote(1),
  (world) => world.promote(1, {}, { 'Idempotency-Key': 'k' }),
  (world) => world.rollback(1),
  ...['/versions', '/versions/1', '/versions/champion', '/history', '/production'].map(
    (path) => (world: RegistryWorld) => world.get(`/api/v1/models/${MODEL}${path}`),
  ),
  ...['', '?min_sharpe=1', `/${MODEL}/compare?version_a=1&version_b=2`].map(
    (path) => (world: RegistryWorld) => world.get(`/api/v1/catalog/strategies${path}`),
  ),
];

it.each([
  ['cannot be reached', unreachable],
  ['has lost its table', withoutTable],
])('a registry that %s is SVC005 on every operation', async (_, start) => {
  const { client, world } = await start();
  for (const { status, body, headers } of await Promise.all(CALLS.map((call) => call(world)))) {
    expect({ status, code: body.detail.code }).toEqual({ status: 503, code: 'SVC005' });
    expect(headers.get('Retry-After')).toBe('1');
  }
  client.destroy();
});
