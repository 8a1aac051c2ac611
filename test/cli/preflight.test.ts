import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { signedCall } from '#adapters/aws/signed-call.ts';
import { stageConfig } from '#lib/settings/config.ts';
import { preflight } from '../../bin/cli/preflight/preflight.ts';
import {
  ACCOUNT,
  clientConfig,
  type Emulator,
  missingForEmulator,
  postJson,
  query,
  REGION,
  startEmulator,
} from '../rehearsal/emulator.ts';
import { runScript } from '../support/command.ts';

const env = { account: ACCOUNT, region: REGION };
const COPIES = 'eu-west-1';
const BOUNDARY = 'touchstone-boundary';
const [OWN, FOREIGN] = [ACCOUNT, '111122223333'].map(
  (account) => `arn:aws:iam::${account}:role/desk/workflow`,
);
const SETTINGS = {
  env,
  alarmEmail: 'desk@example.com',
  permissionsBoundary: BOUNDARY,
  backup: { copyToRegion: COPIES },
  trustedCallers: [OWN, FOREIGN],
};

describe.skipIf(missingForEmulator())('touchstone preflight', () => {
  let emulator: Emulator;
  let [pending, issued] = ['', ''];
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-preflight-'));

  beforeAll(async () => {
    emulator = await startEmulator();
    pending = await request({ ValidationMethod: 'DNS' });
    // A certificate of an own authority needs no validation.
    issued = await request({
      CertificateAuthorityArn: `arn:aws:acm-pca:${REGION}:${ACCOUNT}:certificate-authority/01234567`,
    });
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  afterAll(async () => {
    await emulator.stop();
    rmSync(folder, { recursive: true });
  });

  function json(service: string, target: string, body: object, region = REGION): Promise<string> {
    const client = new DynamoDBClient({ ...clientConfig(emulator), region });
    const call = { service, target, version: '1.1', body: JSON.stringify(body) } as const;
    return signedCall(client, new URL(emulator.endpoint), call);
  }

  async function request(options: object): Promise<string> {
    const wanted = { DomainName: '*.desk.example.com', ...options };
    return JSON.parse(await json('acm', 'CertificateManager.RequestCertificate', wanted)).CertificateArn;
  }

  /** Lines by their subject. */
  async function linesOf(changes: object, stage = 'prod') {
    for (const [name, value] of Object.entries(emulator.env)) vi.stubEnv(name, value);
    const lines = await preflight(stageConfig(stage, changes), process.env);
    for (const { advice } of lines) expect(advice).not.toBe('');
    return new Map(lines.map((line) => [line.subject, line]));
  }

  const under = (certificateArn: string) => ({ domain: { name: 'desk.example.com', certificateArn } });
  const subjectsIn = (lines: Awaited<ReturnType<typeof linesOf>>, state: string) =>
    [...lines.values()].filter((line) => line.state === state).map(({ subject }) => subject);

  /** Stack that fails because of its permission, if it has one. */
  async function createStack(StackName: string, Resources: object): Promise<void> {
    const change = { StackName, ChangeSetName: 'change' };
    const TemplateBody = JSON.stringify({ Resources });
    await query(emulator, 'cloudformation', 'CreateChangeSet', {
      ...change,
      ChangeSetType: 'CREATE',
      TemplateBody,
    });
    const protect = { StackName, EnableTerminationProtection: 'true' };
    await query(emulator, 'cloudformation', 'UpdateTerminationProtection', protect);
    await query(emulator, 'cloudformation', 'ExecuteChangeSet', change);
  }

  test('new account lacks the bootstrap, roles, quota and callers, and each line says what to do', async () => {
    const lines = await linesOf({ ...SETTINGS, ...under(`${issued}0`) });
    expect(subjectsIn(lines, 'fix')).toEqual([
      `bootstrap of ${COPIES}`,
      `bootstrap of ${REGION}`,
      'role of ECS',
      `boundary ${BOUNDARY}`,
      'Lambda: concurrent executions',
      'certificate of backend.desk.example.com and strategy.desk.example.com',
      `caller ${OWN}`,
    ]);
    expect(subjectsIn(lines, 'check')).toEqual([
      'Fargate: vCPU on demand',
      'Fargate: vCPU Spot',
      `caller ${FOREIGN}`,
      'CloudFront',
    ]);
    expect(lines.get('role of ECS')!.advice).toContain('EcsServiceRole=create');
    expect(lines.get('Lambda: concurrent executions')!.advice).toContain('at least 350');
    expect(lines.get(`bootstrap of ${COPIES}`)!.advice).toMatch(
      /^npx cdk bootstrap aws:\/\/123456789012\/eu-west-1 --cloudformation-execution-policies arn:aws:iam::123456789012:policy\/touchstone-deploy$/,
    );
  });

  test('preflight calls nothing that changes the account', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch');
    await linesOf({ ...SETTINGS, ...under(issued) });
    const calls = fetched.mock.calls.map(([, init]) => {
      const target = new Headers(init!.headers).get('x-amz-target')?.split('.')[1];
      const action = new URLSearchParams(String(init!.body)).get('Action');
      return init!.method === 'GET' ? 'Get' : (target ?? action ?? '');
    });
    expect(calls.length).toBeGreaterThan(12);
    for (const call of calls) expect(call).toMatch(/^(Get|Describe|List)/);
  });

  test('credentials of another account end the checks', async () => {
    const lines = await linesOf({ ...SETTINGS, env: { ...env, account: '999988887777' } });
    expect([...lines.values()]).toEqual([
      {
        subject: 'account',
        state: 'fix',
        found: `the credentials are those of ${ACCOUNT}`,
        advice: 'use credentials of 999988887777, or correct env',
      },
    ]);
  });

  test('command prints the table, exits with 1 while something is to be fixed, and knows settings files', async () => {
    const config = join(folder, 'settings.json');
    writeFileSync(config, JSON.stringify({ stages: { prod: SETTINGS } }));
    const run = (...args: string[]) =>
      runScript(folder, 'bin/touchstone.ts', ['preflight', ...args], { ...emulator.env, HOME: folder });
    const [printed, wrong, asJson] = await Promise.all([
      run('--stage', 'prod', '--config', config),
      run('--stage', 'prod', '--config', join(folder, 'none.json')),
      run('--stage', 'dev', '--config', config, '--json'),
    ]);
    expect([printed.code, printed.err]).toEqual([1, '']);
    expect(printed.out).toMatch(/fix +│ role of ECS +│ does not exist +│ deploy deploy\/account\.json/);
    expect(printed.out).toMatch(/6 to fix before the deployment, 4 to check by hand, \d+ ok\n$/);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('the file does not exist')]);
    expect(JSON.parse(asJson.out)[0]).toEqual({
      subject: 'account',
      state: 'ok',
      found: `${ACCOUNT}, ${REGION}`,
      advice: 'nothing',
    });
  });

  test('prepared account has nothing to fix', async () => {
    const version = { Name: '/cdk-bootstrap/desk/version', Value: '31', Type: 'String' };
    for (const region of [REGION, COPIES]) await json('ssm', 'AmazonSSM.PutParameter', version, region);
    const role = { AssumeRolePolicyDocument: '{}' };
    await query(emulator, 'iam', 'CreateRole', { ...role, RoleName: 'AWSServiceRoleForECS' });
    await query(emulator, 'iam', 'CreateRole', { ...role, RoleName: 'workflow', Path: '/desk/' });
    const PolicyDocument = JSON.stringify({
      Version: '2012-10-17',
      Statement: { Effect: 'Allow', Action: 's3:*', Resource: '*' },
    });
    await query(emulator, 'iam', 'CreatePolicy', { PolicyName: BOUNDARY, PolicyDocument });
    await postJson(emulator, '/moto-api/quotas', {
      'L-B99A9384': 1000,
      'L-3032A538': 500,
      'L-36FBB829': 500,
    });
    const lines = await linesOf({ ...SETTINGS, bootstrapQualifier: 'desk' });
    expect(subjectsIn(lines, 'fix')).toEqual([]);
    expect(subjectsIn(lines, 'check')).toEqual([`caller ${FOREIGN}`, 'CloudFront']);
  });

  test('certificate that is not issued or lacks a name is to be fixed', async () => {
    const subject = 'certificate of backend.desk.example.com and strategy.desk.example.com';
    const line = async (arn: string) => (await linesOf({ ...SETTINGS, ...under(arn) })).get(subject)!;
    expect(await line(pending)).toMatchObject({ state: 'fix', found: 'PENDING_VALIDATION' });
    expect(await line(issued)).toMatchObject({ state: 'ok', found: `ISSUED in ${REGION}` });
    const web = { domain: { name: 'www.desk.example', certificateArn: issued } };
    expect((await linesOf({ ...SETTINGS, web })).get('certificate of www.desk.example')).toMatchObject({
      state: 'fix',
      found: 'does not cover www.desk.example',
    });
  });

  test('name that an earlier stack left and stack that failed have the way out', async () => {
    const Name = '/touchstone/prod/data-proxy-arn';
    await json('ssm', 'AmazonSSM.PutParameter', { Name, Value: 'arn', Type: 'String' });
    for (const part of ['data', 'platform']) {
      await createStack(`touchstone-prod-${part}`, {
        Permission: { Type: 'AWS::Lambda::Permission', Properties: { Principal: `${OWN}-none` } },
      });
    }
    const lines = await linesOf(SETTINGS);
    expect(lines.get(`parameter ${Name}`)).toMatchObject({
      state: 'fix',
      advice: `aws ssm delete-parameter --name ${Name}`,
    });
    expect(lines.get('stack touchstone-prod-data')).toMatchObject({
      state: 'fix',
      found: 'ROLLBACK_COMPLETE, and is protected',
      advice:
        'aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name touchstone-prod-data',
    });
  });
});
