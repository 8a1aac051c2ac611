import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from 'vitest';
import { checkTables } from '#adapters/dynamo/restore-tables.ts';
import type { TableNames } from '#contract/values/tables.ts';
import { fileEngine } from '../support/file-engine.ts';
import { MODEL, registryFixture } from '../support/registry-fixture.ts';

const engine = fileEngine();
let tables: TableNames;

beforeEach(async () => {
  tables = await engine.freshTables();
  const fixture = await registryFixture(engine, { tables });
  expect((await fixture.register()).status).toBe(201);
});

test('tables of a working platform have no problems', async () => {
  const { items, problems } = await checkTables(engine.client, tables);
  expect(problems).toEqual([]);
  expect(items).toMatchObject({ series: 0 });
  expect(items.jobs).toBeGreaterThan(0);
  expect(items.registry).toBeGreaterThan(2);
});

test('version without its backtest is a problem', async () => {
  await engine.client.send(
    new DeleteCommand({ TableName: tables.jobs, Key: { job_id: 'bt-1', item: 'JOB' } }),
  );
  expect((await checkTables(engine.client, tables)).problems).toEqual([
    `bt-1, the backtest of version 1 of ${MODEL}, is missing`,
  ]);
});

test('item that this version cannot read is a problem', async () => {
  await engine.client.send(
    new UpdateCommand({
      TableName: tables.jobs,
      Key: { job_id: 'bt-1', item: 'JOB' },
      UpdateExpression: 'REMOVE config',
    }),
  );
  expect((await checkTables(engine.client, tables)).problems).toEqual([
    expect.stringMatching(/^JOB of bt-1 cannot be read: config/),
  ]);
});

test('table with other indexes is a problem', async () => {
  const swapped = { ...tables, series: tables.registry };
  expect((await checkTables(engine.client, swapped)).problems).toContainEqual(
    expect.stringMatching(/has other keys or indexes than the table series/),
  );
});
