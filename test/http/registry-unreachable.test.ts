import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL, type RegistryFixture, registryFixture } from '../support/registry-fixture.ts';

const engine = fileEngine();

const unreachable = async () => {
  const client = createDocumentClient({ endpoint: 'http://127.0.0.1:1', unavailable: 'SVC005' });
  return { client, fixture: await registryFixture(engine, { client }) };
};

const withoutTable = async () => {
  const client = createDocumentClient({ endpoint: engine.endpoint, unavailable: 'SVC005' });
  const fixture = await registryFixture(engine, { client });
  await client.send(new DeleteTableCommand({ TableName: fixture.table }));
  return { client, fixture };
};

const CALLS: readonly ((fixture: RegistryFixture) => ReturnType<RegistryFixture['get']>)[] = [
  (fixture) => fixture.register(),
  (fixture) => fixture.stage(1),
  (fixture) => fixture.promote(1),
  (fixture) => fixture.promote(1, {}, { 'Idempotency-Key': 'k' }),
  (fixture) => fixture.rollback(1),
  ...['/versions', '/versions/1', '/versions/champion', '/history', '/production'].map(
    (path) => (fixture: RegistryFixture) => fixture.get(`/api/v1/models/${MODEL}${path}`),
  ),
  ...['', '?min_sharpe=1', `/${MODEL}/compare?version_a=1&version_b=2`].map(
    (path) => (fixture: RegistryFixture) => fixture.get(`/api/v1/catalog/strategies${path}`),
  ),
];

it.each([
  ['cannot be reached', unreachable],
  ['has lost its table', withoutTable],
])('every operation returns SVC005 when the registry %s', async (_, start) => {
  const { client, fixture } = await start();
  for (const { status, body, headers } of await Promise.all(CALLS.map((call) => call(fixture)))) {
    expect({ status, code: body.detail.code }).toEqual({ status: 503, code: 'SVC005' });
    expect(headers.get('Retry-After')).toBe('1');
  }
  client.destroy();
});
