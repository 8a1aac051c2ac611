import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { DynamoDBClient, UpdateContinuousBackupsCommand } from '@aws-sdk/client-dynamodb';
import {
  CreateAliasCommand,
  CreateFunctionCommand,
  GetAliasCommand,
  LambdaClient,
  PublishVersionCommand,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { createTables } from '#adapters/dynamo/create-tables.ts';
import { readStageConfig } from '#lib/settings/settings-file.ts';
import { FakeDeployment } from '../support/fake-deployment.ts';
import { hasMoto, startMoto } from '../support/moto.ts';

/**
 * Runs every command of docs/runbook.md as an operator does: with the AWS command line against moto, and with the programs of this
 * repository. test/docs/runbook-routes.full.test.ts calls its routes, test/lambdas/log-fields.test.ts reads its filters.
 */

const ROOT = join(import.meta.dirname, '../..');
const runbook = readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8');
const FENCE = /^```sh aws\n([\s\S]*?)^```$/gm;
/** Scripts by their entry. */
const fences = new Map(
  runbook
    .split(/^## /m)
    .flatMap((entry) => [...entry.matchAll(FENCE)].map(([, script]) => [entry.split('\n')[0]!, script!])),
);
/** Commands between backquotes. */
const commands = [
  ...new Set(
    [...runbook.replaceAll(FENCE, '').matchAll(/`((?:[a-z]\w*) [^`]+)`/g)]
      .map(([, command]) => command!)
      .filter((command) =>
        /^(aws|npm|npx|cdk|touchstone|docker|node|curl|git|psql|ssh|sh|bash) /.test(command),
      ),
  ),
];

/** Commands that moto executes; the environment has their placeholders. */
const EXECUTED = [
  'aws ecs update-service --cluster CLUSTER --service SERVICE --force-new-deployment',
  'aws lambda put-function-concurrency --function-name FUNCTION --reserved-concurrent-executions 0',
  'aws lambda delete-function-concurrency --function-name FUNCTION',
];

/** Commands that moto lacks. The AWS command line checks their input by the service's model and sends nothing. */
const NOT_IN_MOTO: Readonly<Record<string, string>> = {
  'aws deploy stop-deployment --deployment-id d-… --auto-rollback-enabled':
    'moto has no StopDeployment of CodeDeploy',
  'aws backup start-restore-job --recovery-point-arn ARN --iam-role-arn ROLE --metadata targetTableName=NAME':
    'moto has no StartRestoreJob of AWS Backup',
  'aws backup start-restore-job --recovery-point-arn ARN --iam-role-arn ROLE --metadata DestinationBucketName=BUCKET,NewBucket=false,Encrypted=false':
    'moto has no StartRestoreJob of AWS Backup',
  'aws backup list-recovery-points-by-backup-vault --backup-vault-name touchstone-prod-copies':
    'moto has no ListRecoveryPointsByBackupVault of AWS Backup',
  'aws dynamodb update-contributor-insights --table-name TABLE --contributor-insights-action ENABLE --contributor-insights-mode THROTTLED_KEYS':
    'moto has no UpdateContributorInsights',
  'aws dynamodb update-contributor-insights --table-name TABLE --contributor-insights-action DISABLE':
    'moto has no UpdateContributorInsights',
};

/** Test that starts the program of a command, and its text there. */
const ELSEWHERE: Readonly<Record<string, readonly [file: string, text: string]>> = {
  'npm run build': ['test/stacks/bundles-fixture.ts', 'bin/build/build.ts'],
  'npm run cost': ['test/stacks/cost.test.ts', "'bin/operate/cost.ts'"],
  'npm run base-image': ['test/cli/base-image.test.ts', "'bin/operate/base-image.ts'"],
  'cdk deploy': ['test/rehearsal/cdk.ts', "['deploy', '--all'"],
};

test('each command is run by a test', () => {
  const known = [...EXECUTED, ...Object.keys(NOT_IN_MOTO), ...Object.keys(ELSEWHERE)];
  expect(commands.toSorted()).toEqual(known.toSorted());
  expect([...fences.keys()]).toEqual([
    'Roll back a function',
    'Restoring tables',
    'Loss of a region',
    'Rotate the service token',
  ]);
  const all = [...runbook.matchAll(/^```(\w.*)$/gm)].map(([, info]) => info);
  expect(all, 'each fence is run here').toEqual(Array(fences.size).fill('sh aws'));
  for (const [command, [file, part]] of Object.entries(ELSEWHERE)) {
    expect(readFileSync(join(ROOT, file), 'utf8'), command).toContain(part);
  }
});

const account = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_PAGER: '',
  AWS_REGION: 'us-east-1',
  AWS_DEFAULT_REGION: 'us-east-1',
};

/** Runs the scripts of `npm run` with this Node. Deployments are rehearsed by `npm run rehearse`: here they are printed. */
const PRELUDE = `
npm() {
  [ "$1" = run ] && [ "$3" = -- ] || return 9
  program="$ROOT/bin/operate/$2.ts"; shift 3
  "$NODE" "$program" "$@"
}
npx() { echo "npx $*"; }
`;

const available = hasMoto() && spawnSync('aws', ['--version']).status === 0;

describe.skipIf(!available)('commands of the runbook (skipped without moto and the AWS command line)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-runbook-'));
  let moto: Awaited<ReturnType<typeof startMoto>>;
  let lambda: LambdaClient;

  /** The output of a script. Throws when it fails. */
  async function bash(script: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', PRELUDE + script], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        ROOT,
        NODE: process.execPath,
        ...account,
        AWS_ENDPOINT_URL: moto.endpoint,
        ...environment,
      },
    });
    const ended = new Promise((done) => child.once('close', done));
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if ((await ended) !== 0) throw new Error(`${script}\n${output}\n${errors}`);
    return output;
  }

  beforeAll(async () => {
    moto = await startMoto();
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    lambda = new LambdaClient({ endpoint: moto.endpoint, region: account.AWS_REGION, credentials });
    await bash("aws iam create-role --role-name function --assume-role-policy-document '{}'");
  });
  afterAll(async () => {
    await moto.stop();
    rmSync(folder, { recursive: true });
  });

  /** Function with versions 1 to 10; the alias has the latest. */
  async function deploy(FunctionName: string) {
    await lambda.send(
      new CreateFunctionCommand({
        FunctionName,
        Runtime: 'nodejs22.x',
        Handler: 'index.handler',
        Role: 'arn:aws:iam::123456789012:role/function',
        Code: { ZipFile: Buffer.from('PK\u0005\u0006'.padEnd(22, '\0')) },
      }),
    );
    for (let version = 1; version <= 10; version++) {
      await lambda.send(
        new UpdateFunctionConfigurationCommand({ FunctionName, Description: `commit ${version}` }),
      );
      await lambda.send(new PublishVersionCommand({ FunctionName }));
    }
    await lambda.send(new CreateAliasCommand({ FunctionName, Name: 'live', FunctionVersion: '10' }));
  }

  test('rollback points the alias to the version before, with all calls', async () => {
    const live = (FunctionName: string) => lambda.send(new GetAliasCommand({ FunctionName, Name: 'live' }));
    await deploy('touchstone-prod-platform-BackendFunction0A1B2C3D-x');
    await deploy('touchstone-prod-platform-StrategyServiceFunction0A1B2C3D-x');
    await bash(fences.get('Roll back a function')!);
    const backend = await live('touchstone-prod-platform-BackendFunction0A1B2C3D-x');
    expect(backend.FunctionVersion).toBe('9');
    expect(backend.RoutingConfig?.AdditionalVersionWeights ?? {}).toEqual({});
    const strategy = await live('touchstone-prod-platform-StrategyServiceFunction0A1B2C3D-x');
    expect(strategy.FunctionVersion).toBe('10');
  });

  test('restore reads the names of the tables, restores them and switches the stage', async () => {
    const tables = { jobs: 'Jobs', registry: 'Registry', series: 'Series' };
    const client = createDocumentClient({ endpoint: moto.endpoint });
    await createTables(client, tables);
    for (const TableName of Object.values(tables)) {
      const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true };
      await client.send(new UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }));
    }
    const Outputs = Object.fromEntries(
      Object.values(tables).map((name) => [`${name}Table`, { Value: name }]),
    );
    const Resources = { Topic: { Type: 'AWS::SNS::Topic' } };
    writeFileSync(join(folder, 'data.json'), JSON.stringify({ Resources, Outputs }));
    await bash(
      'aws cloudformation create-stack --stack-name touchstone-prod-data --template-body file://data.json',
    );
    const settings = join(folder, 'touchstone.config.json');
    writeFileSync(settings, '{"stages":{"prod":{"logLevel":"ERROR"}}}');

    const output = await bash(fences.get('Restoring tables')!);
    expect(output).toContain('npx cdk deploy --all -c stage=prod');
    expect(Object.keys(readStageConfig('prod', settings).restoredStreams)).toEqual(Object.keys(tables));
    expect(readStageConfig('prod', settings).restoredTables).toEqual({
      jobs: 'Jobs-restored-20261123T040000',
      registry: 'Registry-restored-20261123T040000',
      series: 'Series-restored-20261123T040000',
    });
  });

  test('a lost region: the stage uses the tables that were restored from the copies in the second one', async () => {
    const tables = {
      jobs: 'touchstone-jobs',
      registry: 'touchstone-registry',
      series: 'touchstone-series',
    };
    // As AWS Backup restores them: without a stream, an expiry and a protection.
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const client = new DynamoDBClient({ endpoint: moto.endpoint, region: 'eu-west-1', credentials });
    await createTables(DynamoDBDocumentClient.from(client), tables);
    const settings = join(folder, 'recovery.config.json');
    const env = { account: '123456789012', region: 'eu-west-1' };
    writeFileSync(settings, JSON.stringify({ stages: { prod: { env } } }));
    // The script starts it: prints the deployment.
    writeFileSync(join(folder, 'npx'), '#!/bin/sh\necho "deployed by npx $*"\n', { mode: 0o755 });

    const output = await bash(fences.get('Loss of a region')!, { PATH: `${folder}:${process.env.PATH}` });
    expect(output).toContain('deployed by npx cdk deploy --all -c stage=prod -c config=recovery.config.json');
    const { restoredTables, restoredStreams } = readStageConfig('prod', settings);
    expect(restoredTables).toEqual(tables);
    for (const [id, name] of Object.entries(tables)) {
      expect(Object(restoredStreams)[id]).toContain(`:dynamodb:eu-west-1:123456789012:table/${name}/stream/`);
    }
  });

  test('rotation replaces both service tokens', async () => {
    const deployment = await new FakeDeployment().start();
    const before = [...deployment.secrets.values()].map(({ value }) => value);
    // Waits take no time here; the deployment goes on with each.
    const waits = join(folder, 'waits.mjs');
    writeFileSync(
      waits,
      `import timers from 'node:timers/promises';
       import { syncBuiltinESMExports } from 'node:module';
       timers.setTimeout = (ms) => fetch(process.env.WAITS + ms);
       syncBuiltinESMExports();`,
    );
    try {
      const output = await bash(fences.get('Rotate the service token')!, {
        AWS_ENDPOINT_URL: deployment.endpoint,
        WAITS: `${deployment.endpoint}/wait/`,
        NODE_OPTIONS: `--import=${waits}`,
      });
      expect(output).toMatch(/^Done/m);
      expect(deployment.slot).toBe('2');
      const after = [...deployment.secrets.values()].map(({ value }) => value);
      expect(after.filter((token) => before.includes(token))).toEqual([]);
      expect(deployment.errors).toEqual([]);
    } finally {
      await deployment.stop();
    }
  });

  test.each(EXECUTED)('%s', async (command) => {
    if (command.startsWith('aws ecs')) {
      const definition = '[{"name":"main","image":"image","memory":128}]';
      await bash(`aws ecs create-cluster --cluster-name touchstone
        aws ecs register-task-definition --family collection --container-definitions '${definition}'
        aws ecs create-service --cluster touchstone --service-name collection --task-definition collection --desired-count 1`);
    }
    const named = command
      .replace('CLUSTER', 'touchstone')
      .replace('SERVICE', 'collection')
      .replace('FUNCTION', 'touchstone-prod-platform-BackendFunction0A1B2C3D-x');
    expect(named, 'a placeholder without a value').not.toMatch(/ [A-Z]{3,}/);
    await bash(named);
  });

  test('limit of a function stops it, and its removal starts it again', async () => {
    const limit = async () =>
      await bash(
        'aws lambda get-function-concurrency --function-name touchstone-prod-platform-BackendFunction0A1B2C3D-x --query ReservedConcurrentExecutions --output text',
      );
    const run = (command: string) =>
      bash(command.replace('FUNCTION', 'touchstone-prod-platform-BackendFunction0A1B2C3D-x'));
    await run(EXECUTED[1]!);
    expect((await limit()).trim()).toBe('0');
    await run(EXECUTED[2]!);
    expect((await limit()).trim()).toBe('None');
  });

  test.each(Object.entries(NOT_IN_MOTO))('%s: %s, its input is valid', async (command) => {
    expect(await bash(`${command} --generate-cli-skeleton output`)).toContain('{');
    await expect(bash(`${command} --no-such-option 1 --generate-cli-skeleton output`)).rejects.toThrow(
      'no-such-option',
    );
  });
});
