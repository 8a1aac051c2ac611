import { get } from 'node:http';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { signedCall } from '#adapters/aws/signed-call.ts';
import {
  ACCOUNT,
  authorizationOf,
  clientConfig,
  type Emulator,
  missingForEmulator,
  query,
  startEmulator,
} from '../rehearsal/emulator.ts';

/** The emulator of the rehearsal keeps and deletes what CloudFormation would. */

const log = (LogGroupName: string, DeletionPolicy?: string) => ({
  Type: 'AWS::Logs::LogGroup',
  ...(DeletionPolicy && { DeletionPolicy }),
  Properties: { LogGroupName },
});
const ROLE = `arn:aws:iam::${ACCOUNT}:role/caller`;
/** A function that lets a role call it. */
const CALLED = {
  Role: { Type: 'AWS::IAM::Role', Properties: { AssumeRolePolicyDocument: {} } },
  Function: {
    Type: 'AWS::Lambda::Function',
    Properties: {
      Runtime: 'nodejs24.x',
      Handler: 'index.handler',
      Role: { 'Fn::GetAtt': ['Role', 'Arn'] },
      Code: { ZipFile: 'exports.handler = async () => 1' },
    },
  },
  Permission: {
    Type: 'AWS::Lambda::Permission',
    Properties: {
      FunctionName: { 'Fn::GetAtt': ['Function', 'Arn'] },
      Principal: ROLE,
      Action: 'lambda:InvokeFunction',
    },
  },
};
const LOGS = {
  Kept: log('kept', 'Retain'),
  Later: log('later', 'RetainExceptOnCreate'),
  Plain: log('plain'),
};

describe.skipIf(missingForEmulator())('emulated stacks', () => {
  let emulator: Emulator;
  beforeAll(async () => {
    emulator = await startEmulator();
  });
  afterAll(() => emulator.stop());

  test.each<Record<string, string>>([
    { host: 'evil.example' },
    { host: 'evil.example:5000' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('a page of a browser calls nothing: %j', async (headers) => {
    const status = (more: Record<string, string>) =>
      new Promise<number | undefined>((resolve, reject) => {
        const asked = { headers: { authorization: authorizationOf('lambda'), ...more } };
        get(new URL('/2015-03-31/functions/', emulator.endpoint), asked, (response) => {
          response.resume();
          resolve(response.statusCode);
        }).on('error', reject);
      });
    expect(await status({})).toBe(200);
    expect(await status(headers)).toBe(403);
  });

  async function deploy(StackName: string, type: 'CREATE' | 'UPDATE', Resources: object): Promise<string> {
    const change = { StackName, ChangeSetName: 'change' };
    const TemplateBody = JSON.stringify({ Resources });
    await query(emulator, 'cloudformation', 'CreateChangeSet', {
      ...change,
      ChangeSetType: type,
      TemplateBody,
    });
    await query(emulator, 'cloudformation', 'ExecuteChangeSet', change);
    return (await emulator.report()).stacks[StackName]!.status;
  }
  const erase = (StackName: string) => query(emulator, 'cloudformation', 'DeleteStack', { StackName });
  async function logGroups(): Promise<string[]> {
    const { findings } = await emulator.report();
    expect(findings).toEqual([]);
    const client = new DynamoDBClient(clientConfig(emulator));
    const call = {
      service: 'logs',
      target: 'Logs_20140328.DescribeLogGroups',
      version: '1.1',
      body: '{}',
    } as const;
    const { logGroups } = JSON.parse(await signedCall(client, new URL(emulator.endpoint), call));
    return logGroups.map(({ logGroupName }: { logGroupName: string }) => logGroupName).sort();
  }

  test('creation that fails keeps only what is retained in any case, and a later deletion also what it made', async () => {
    expect(await deploy('first', 'CREATE', { ...LOGS, ...CALLED })).toBe('ROLLBACK_COMPLETE');
    expect(await logGroups()).toEqual(['kept']);
    await erase('first');
    // What was kept has the name that the next creation needs.
    expect(await deploy('second', 'CREATE', LOGS)).toBe('ROLLBACK_COMPLETE');
    await erase('second');
    const { Later, Plain } = LOGS;
    expect(await deploy('third', 'CREATE', { Later, Plain })).toBe('CREATE_COMPLETE');
    const New = log('new', 'RetainExceptOnCreate');
    expect(await deploy('third', 'UPDATE', { Later, Plain, New, ...CALLED })).toBe(
      'UPDATE_ROLLBACK_COMPLETE',
    );
    expect(await logGroups()).toEqual(['kept', 'later', 'plain']);
    await erase('third');
    expect(await logGroups()).toEqual(['kept', 'later']);
  });

  test('permission for a role is created once the role exists', async () => {
    expect(await deploy('early', 'CREATE', CALLED)).toBe('ROLLBACK_COMPLETE');
    await query(emulator, 'iam', 'CreateRole', { RoleName: 'caller', AssumeRolePolicyDocument: '{}' });
    expect(await deploy('late', 'CREATE', CALLED)).toBe('CREATE_COMPLETE');
  });
});
