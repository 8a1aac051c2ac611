import {
  ClientException,
  DescribeTaskDefinitionCommand,
  ECSClient,
  RegisterTaskDefinitionCommand,
} from '@aws-sdk/client-ecs';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeAll, expect, it, vi } from 'vitest';
import { LAMBDA_CONTEXT } from '../support/gateway.ts';

const BASE = 'arn:aws:ecs:us-east-1:123456789012:task-definition/backtest:7';
const OWN = 'arn:aws:ecs:us-east-1:123456789012:task-definition/backtest-image-1:1';
const DIGEST = `sha256:${'ab'.repeat(32)}`;
const ecs = mockClient(ECSClient);

type TaskImage = typeof import('#lambdas/task-image.ts');
let taskImage: TaskImage;

beforeAll(async () => {
  const environment = {
    AWS_REGION: 'us-east-1',
    LOG_LEVEL: 'ERROR',
    IMAGE_TASK_DEFINITION: BASE,
    ALLOWED_REGISTRIES: 'registry.example/strategies,ghcr.io/desk',
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  taskImage = await import('#lambdas/task-image.ts');
  ecs.on(DescribeTaskDefinitionCommand).rejects(new ClientException({ $metadata: {}, message: 'none' }));
  ecs.on(DescribeTaskDefinitionCommand, { taskDefinition: BASE }).resolves({
    taskDefinition: { containerDefinitions: [{ name: 'task', image: 'platform' }] },
  });
  ecs.on(RegisterTaskDefinitionCommand).resolves({ taskDefinition: { taskDefinitionArn: OWN } });
});

it.each(['registry.example/strategies/trend', 'ghcr.io/desk/trend'])(
  'function returns the task definition of an image of %s',
  async (name) => {
    const image = `${name}@${DIGEST}`;
    expect(await taskImage.handler({ image }, LAMBDA_CONTEXT)).toEqual({ task_definition: OWN });
    const { containerDefinitions } = ecs.commandCalls(RegisterTaskDefinitionCommand).at(-1)!.args[0].input;
    expect(containerDefinitions).toEqual([{ name: 'task', image }]);
  },
);

it.each([
  `registry.example/other/trend@${DIGEST}`,
  `registry.example/strategies-too/trend@${DIGEST}`,
  `evil.example/registry.example/strategies/trend@${DIGEST}`,
  'not an image',
])('function rejects %s and registers no definition', async (image) => {
  ecs.resetHistory();
  await expect(taskImage.handler({ image }, LAMBDA_CONTEXT)).rejects.toMatchObject({
    code: expect.stringMatching(/^VAL00[56]$/),
  });
  expect(ecs.calls()).toEqual([]);
});
