import { expect, it } from 'vitest';
import { type Aws, rotateServiceTokens } from '../../bin/operate/rotate-secret.ts';
import { rotationFixture } from './rotate-secret-fixture.ts';

const { fixture, callAll, rotate, tokens } = rotationFixture();

it('rotation replaces both tokens without a rejected request', async () => {
  const before = tokens();
  await rotate();
  const { deployment, rejected, requests, log } = fixture;
  expect(rejected).toEqual([]);
  expect(requests).toBeGreaterThan(20);
  expect(deployment.slot).toBe('2');
  expect(tokens().filter((token) => before.includes(token))).toEqual([]);
  // The remaining task accepts only the new tokens, and the proxy sends one of them.
  expect(deployment.responding).toEqual([tokens()]);
  expect(deployment.sent).toEqual([tokens()[1]]);
  expect(new Set(tokens()).size).toBe(2);
  for (const token of tokens()) expect(token).toMatch(/^[\w-]{64}$/);
  for (const token of [...before, ...tokens()]) expect(log.join('\n')).not.toContain(token);
});

it('failed update of the stack leaves the token in use', async () => {
  const { deployment } = fixture;
  const [first] = tokens();
  deployment.updateEnds = 'UPDATE_ROLLBACK_COMPLETE';
  await expect(rotate()).rejects.toThrow(/ended with UPDATE_ROLLBACK_COMPLETE.*run this again/);
  expect([fixture.rejected, deployment.slot, tokens()[0]]).toEqual([[], '1', first]);
});

it('failed restart of data collection ends the rotation before the switch', async () => {
  const { deployment } = fixture;
  deployment.failsToStart = true;
  await expect(rotate()).rejects.toThrow(/ECS ended the new deployment/);
  expect([fixture.rejected, deployment.slot, deployment.calls.includes('UpdateStack')]).toEqual([
    [],
    '1',
    false,
  ]);
});

it('concurrent rotation ends this one before its switch', async () => {
  const { deployment } = fixture;
  let others = 0;
  deployment.onChange = async () => {
    await callAll();
    if (deployment.calls.at(-1) !== 'UpdateService' || others++ > 0) return;
    deployment.secrets.set('arn:2', { version: 'other', value: 'a-token-of-another-rotation' });
  };
  await expect(rotate()).rejects.toThrow(/Another rotation or a deployment .* is running/);
  expect([fixture.rejected, deployment.slot]).toEqual([[], '1']);
});

it.each([
  ['canary', 'CanaryTokenArn'],
  ['CloudFront', 'OriginTokenArn'],
])(
  'rotation replaces the unused token of the %s before the switch and the used one after it',
  async (_, key) => {
    const { deployment } = fixture;
    const steps: string[] = [];
    const aws: Aws = async <Output>(service: string, operation: string, input: any) => {
      if (input.SecretId?.startsWith('arn:other')) {
        if (operation === 'put-secret-value') steps.push(input.SecretId);
        return { VersionId: 'v', VersionIdsToStages: { v: ['AWSCURRENT'] } } as Output;
      }
      const output = (await deployment.aws(service, operation, input)) as any;
      if (operation === 'update-stack') steps.push('switch');
      if (operation === 'describe-stacks') {
        for (const slot of [1, 2]) {
          output.Stacks[0].Outputs.push({
            OutputKey: `${key}${slot}`,
            OutputValue: `arn:other:${slot}`,
          });
        }
      }
      return output;
    };
    await rotateServiceTokens('touchstone-prod-platform', {
      aws,
      log: () => undefined,
      wait: deployment.wait,
    });
    expect(steps).toEqual(['arn:other:2', 'switch', 'arn:other:1']);
    expect(fixture.rejected).toEqual([]);
  },
);

it('stage with another data collection has only the tokens of the canary', async () => {
  const steps: string[] = [];
  let slot = '1';
  const aws: Aws = async <Output>(_: string, operation: string, input: any) => {
    if (operation === 'update-stack') slot = input.Parameters[0].ParameterValue;
    if (operation !== 'describe-stacks' && operation !== 'describe-secret') steps.push(operation);
    const stack = {
      StackName: 'stage',
      StackStatus: 'UPDATE_COMPLETE',
      Parameters: [{ ParameterKey: 'ServiceTokenSlot', ParameterValue: slot }],
      Outputs: ['1', '2'].map((n) => ({ OutputKey: `CanaryTokenArn${n}`, OutputValue: n })),
    };
    return { Stacks: [stack], VersionId: 'v', VersionIdsToStages: { v: ['AWSCURRENT'] } } as Output;
  };
  await rotateServiceTokens('stage', { aws, log: () => undefined, wait: async () => undefined });
  expect([slot, steps]).toEqual(['2', ['put-secret-value', 'update-stack', 'put-secret-value']]);
});
