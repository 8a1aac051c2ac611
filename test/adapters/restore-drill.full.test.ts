import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  UpdateContinuousBackupsCommand,
} from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { createTables } from '#adapters/dynamo/create-tables.ts';
import type { TableNames } from '#contract/values/tables.ts';
import { readStageConfig } from '#lib/settings/settings-file.ts';
import { hasMoto, startMoto } from '../support/moto.ts';
import { MODEL, registryFixture } from '../support/registry-fixture.ts';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES: TableNames = { jobs: 'Jobs', registry: 'Registry', series: 'Series' };

describe.skipIf(!hasMoto())('restore drill (skipped without moto)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-restore-'));
  const settings = join(folder, 'settings.json');
  let moto: Awaited<ReturnType<typeof startMoto>>;
  let client: ReturnType<typeof createDocumentClient>;

  beforeAll(async () => {
    moto = await startMoto();
    client = createDocumentClient({ endpoint: moto.endpoint });
    await createTables(client, SOURCES);
    for (const TableName of Object.values(SOURCES)) {
      const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
      await client.send(new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }));
    }
    const fixture = await registryFixture({ client, freshTables: async () => SOURCES }, { tables: SOURCES });
    expect((await fixture.register()).status).toBe(201);
    writeFileSync(settings, JSON.stringify({ stages: { prod: { logLevel: 'ERROR' } } }));
  });
  afterAll(async () => {
    await moto?.stop();
    rmSync(folder, { recursive: true });
  });

  const bin = join(folder, 'bin');
  /** Stands for `npx`: prints its arguments. */
  const fakeNpx = () => {
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, 'npx'), '#!/bin/sh\necho "npx $*"\n', { mode: 0o755 });
  };

  function drill(...args: string[]): string {
    const named = Object.entries(SOURCES).flatMap(([id, name]) => [`--${id}`, name]);
    return execFileSync(process.execPath, [join(ROOT, 'bin/operate/restore-drill.ts'), ...named, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${bin}:${process.env.PATH}`,
        AWS_ENDPOINT_URL: moto.endpoint,
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
        AWS_REGION: 'us-east-1',
      },
    });
  }

  test('ends with the platform on the restored tables, and repeats without harm', async () => {
    const output = drill('--suffix', 'one', '--switch', 'prod', '--settings', settings);
    expect(output).toMatch(/checked: this version can use the tables/);
    expect(drill('--suffix', 'one', '--switch', 'prod', '--settings', settings)).toMatch(/exists/);

    const { restoredTables, logLevel } = readStageConfig('prod', settings);
    expect({ restoredTables, logLevel }).toEqual({
      restoredTables: {
        jobs: 'Jobs-restored-one',
        registry: 'Registry-restored-one',
        series: 'Series-restored-one',
      },
      logLevel: 'ERROR',
    });
    // The sources are lost; the platform works on the restored tables.
    await client.send(new DeleteCommand({ TableName: 'Jobs', Key: { job_id: 'bt-1', item: 'JOB' } }));
    const tables = restoredTables as TableNames;
    const fixture = await registryFixture({ client, freshTables: async () => tables }, { tables });
    expect((await fixture.get(`/api/v1/models/${MODEL}/versions`)).body.count).toBe(1);
    expect((await fixture.stage('1')).body.new_stage).toBe('Staging');
  });

  test('restored tables have expiry, recovery and protection', async () => {
    for (const [id, expires] of [
      ['Jobs', 'expires_at'],
      ['Registry', 'expires_at'],
      ['Series', undefined],
    ] as const) {
      const TableName = `${id}-restored-one`;
      const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
      expect(TimeToLiveDescription?.AttributeName, id).toBe(expires);
      const { ContinuousBackupsDescription } = await client.send(
        new DescribeContinuousBackupsCommand({ TableName }),
      );
      expect(ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus).toBe(
        'ENABLED',
      );
      const { Table } = await client.send(new DescribeTableCommand({ TableName }));
      expect(Table?.DeletionProtectionEnabled, id).toBe(true);
    }
  });

  test.each(['Jobs-restored-one', 'Registry-restored-one', 'Series-restored-one'])(
    'restored table %s has the stream that the settings name',
    async (TableName) => {
      const { Table } = await client.send(new DescribeTableCommand({ TableName }));
      expect(Table?.StreamSpecification).toEqual({
        StreamEnabled: true,
        StreamViewType: 'NEW_AND_OLD_IMAGES',
      });
      const streams = Object.values(readStageConfig('prod', settings).restoredStreams);
      expect(streams).toContain(Table?.LatestStreamArn);
    },
  );

  test('deploys with the settings file that it wrote', () => {
    fakeNpx();
    const output = drill('--suffix', 'one', '--switch', 'prod', '--settings', settings, '--deploy');
    expect(output).toContain(`npx cdk deploy --all -c stage=prod -c config=${settings}`);
  });

  test('tables of an earlier layout are copied into new ones and switched to', async () => {
    const old = JSON.parse(
      readFileSync(new URL('fixtures/layout-2.json', import.meta.url), 'utf8'),
      (_, value) => (value?.$bytes ? new Uint8Array(Buffer.from(value.$bytes, 'base64')) : value),
    );
    const sources = { jobs: 'OldJobs', registry: 'OldRegistry', series: 'OldSeries' };
    await createTables(client, sources);
    for (const [id, TableName] of Object.entries(sources)) {
      for (const Item of old[id]) await client.send(new PutCommand({ TableName, Item }));
    }
    const named = Object.entries(sources).flatMap(([id, name]) => [`--${id}`, name]);
    const output = drill(...named, '--upgrade-from', '2', '--switch', 'prod', '--settings', settings);
    expect(output).toMatch(/copied from layout 2 to 3[\s\S]*checked: this version can use the tables/);
    const { restoredTables, restoredStreams } = readStageConfig('prod', settings);
    expect(restoredTables.jobs).toBe('OldJobs-layout-3');
    expect(restoredStreams.jobs).toContain(':table/OldJobs-layout-3/stream/');
    // As the tables of the data stack.
    const { Table } = await client.send(new DescribeTableCommand({ TableName: 'OldJobs-layout-3' }));
    expect(Table?.SSEDescription).toMatchObject({ Status: 'ENABLED', SSEType: 'KMS' });
  });

  test('tables that cannot be used are not switched to', () => {
    // The job was deleted by the first test.
    expect(() => drill('--suffix', 'two', '--switch', 'prod', '--settings', settings)).toThrow(
      /bt-1, the backtest of version 1/,
    );
    expect(readFileSync(settings, 'utf8')).not.toContain('restored-two');
  });
});
