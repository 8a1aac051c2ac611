import { spawnSync } from 'node:child_process';
import { describe, expect, it, vi } from 'vitest';
import { commandLine } from '../../bin/operate/rotate-secret.ts';
import { rotationFixture } from './rotate-secret-fixture.ts';

const { fixture, rotate, tokens } = rotationFixture();

const mutations = [
  ['PutSecretValue', 1],
  ['UpdateService', 1],
  ['UpdateStack', 1],
  ['PutSecretValue', 2],
  ['UpdateService', 2],
] as const;
it.each(mutations.flatMap(([call, n]) => [false, true].map((after) => ({ call, n, after }))))(
  'next rotation completes one that dies at $call $n (after its effect: $after)',
  async (crash) => {
    const { deployment, rejected } = fixture;
    const before = tokens();
    deployment.crash = crash;
    await expect(rotate()).rejects.toThrow();
    deployment.crash = undefined;
    await rotate();
    expect(rejected).toEqual([]);
    expect(tokens().filter((token) => before.includes(token))).toEqual([]);
    expect(deployment.responding).toEqual([tokens()]);
  },
);

it('next rotation switches back to the first slot', async () => {
  await rotate();
  await rotate();
  expect([fixture.deployment.slot, fixture.rejected]).toEqual(['1', []]);
});

it('rotation waits for a running update of the stack', async () => {
  fixture.deployment.status = 'UPDATE_IN_PROGRESS';
  await rotate();
  expect([fixture.deployment.slot, fixture.rejected]).toEqual(['2', []]);
});

const available = spawnSync('aws', ['--version']).status === 0;
describe.skipIf(!available)('AWS command line (skipped where it is not installed)', () => {
  it('command line sends the calls of a rotation', async () => {
    const { deployment } = fixture;
    vi.stubEnv('AWS_ENDPOINT_URL', deployment.endpoint);
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
    vi.stubEnv('AWS_DEFAULT_REGION', 'us-east-1');
    const secret = { SecretId: 'arn:2', SecretString: 'the-next-token-of-the-proxy' };
    expect(await commandLine('secretsmanager', 'put-secret-value', secret)).toEqual({ VersionId: 'v3' });
    expect(tokens()[1]).toBe(secret.SecretString);
    const service = { cluster: 'cluster', service: 'service', forceNewDeployment: true };
    expect(await commandLine('ecs', 'update-service', service)).toMatchObject({
      service: { deployments: [{ id: 'ecs-svc/1', status: 'PRIMARY' }] },
    });
    const StackName = 'touchstone-prod-platform';
    const Parameters = [
      { ParameterKey: 'BootstrapVersion', UsePreviousValue: true },
      { ParameterKey: 'ServiceTokenSlot', ParameterValue: '2' },
    ];
    await commandLine('cloudformation', 'update-stack', { StackName, UsePreviousTemplate: true, Parameters });
    expect(await commandLine('cloudformation', 'describe-stacks', { StackName })).toMatchObject({
      Stacks: [{ StackStatus: 'UPDATE_IN_PROGRESS', Parameters: [{}, { ParameterValue: '2' }] }],
    });
    await expect(commandLine('ecs', 'describe-services', {})).rejects.toThrow(
      /^aws ecs describe-services failed: /,
    );
  });
});
