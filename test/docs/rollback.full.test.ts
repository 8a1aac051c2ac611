import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CreateAliasCommand,
  CreateFunctionCommand,
  GetAliasCommand,
  LambdaClient,
  PublishVersionCommand,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasMoto, startMoto } from '../support/moto.ts';

/** Runs the commands of docs/runbook.md as an operator does, with the AWS command line against moto. */

const runbook = readFileSync(join(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
const [, commands] = /## Roll back a function\n[\s\S]*?```sh aws\n([\s\S]*?)```/.exec(runbook)!;
const available = hasMoto() && spawnSync('aws', ['--version']).status === 0;
/** Environment of the command line. */
const account = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test', AWS_REGION: 'us-east-1' };

describe.skipIf(!available)('rollback by alias (skipped without moto and the AWS command line)', () => {
  const bash = (script: string) =>
    spawnSync('bash', ['-euo', 'pipefail', '-c', script], {
      encoding: 'utf8',
      env: {
        ...{ PATH: process.env.PATH, HOME: process.env.HOME },
        ...account,
        ...{ AWS_DEFAULT_REGION: account.AWS_REGION, AWS_ENDPOINT_URL: moto.endpoint, AWS_PAGER: '' },
      },
    });
  let moto: Awaited<ReturnType<typeof startMoto>>;
  let lambda: LambdaClient;
  beforeAll(async () => {
    moto = await startMoto();
    lambda = new LambdaClient({
      endpoint: moto.endpoint,
      region: account.AWS_REGION,
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    });
    const role = bash("aws iam create-role --role-name function --assume-role-policy-document '{}'");
    expect(role.status, role.stderr).toBe(0);
  });
  afterAll(() => moto.stop());

  const live = (FunctionName: string) => lambda.send(new GetAliasCommand({ FunctionName, Name: 'live' }));

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

  test('commands of the runbook point the alias to the version before, with all calls', async () => {
    await deploy('touchstone-prod-platform-BackendFunction0A1B2C3D-x');
    await deploy('touchstone-prod-platform-StrategyServiceFunction0A1B2C3D-x');
    const { status, stderr } = bash(commands!);
    expect(status, stderr).toBe(0);
    const backend = await live('touchstone-prod-platform-BackendFunction0A1B2C3D-x');
    expect(backend.FunctionVersion).toBe('9');
    expect(backend.RoutingConfig?.AdditionalVersionWeights ?? {}).toEqual({});
    const strategy = await live('touchstone-prod-platform-StrategyServiceFunction0A1B2C3D-x');
    expect(strategy.FunctionVersion).toBe('10');
  });
});
