import {
  CreateRepositoryCommand,
  DescribeImagesCommand,
  ECRClient,
  ImageNotFoundException,
  InvalidParameterException,
  PutImageCommand,
  RepositoryNotFoundException,
} from '@aws-sdk/client-ecr';
import {
  ClientException,
  DescribeTaskDefinitionCommand,
  ECSClient,
  RegisterTaskDefinitionCommand,
} from '@aws-sdk/client-ecs';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EcrImages } from '#adapters/aws/ecr-images.ts';
import { TaskDefinitions } from '#adapters/aws/ecs-tasks.ts';
import { resolveImage } from '#domain/registry/container-image.ts';
import { hasMoto, startMoto } from '../support/moto.ts';

const DIGEST = `sha256:${'ab'.repeat(32)}`;
const REPOSITORY = '111122223333.dkr.ecr.eu-west-1.amazonaws.com/strategies/trend';
const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' };
const meta = { $metadata: {}, message: 'no' };

describe('EcrImages', () => {
  const ecr = mockClient(ECRClient);
  const asked: string[] = [];
  const images = new EcrImages((region) => {
    asked.push(region);
    return new ECRClient({ region });
  });
  beforeEach(() => {
    ecr.reset();
    asked.length = 0;
  });

  it.each([
    [`${REPOSITORY}:1.0`, { imageTag: '1.0' }],
    [REPOSITORY, { imageTag: 'latest' }],
    [`${REPOSITORY}@${DIGEST}`, { imageDigest: DIGEST }],
    [`${REPOSITORY}:1.0@${DIGEST}`, { imageDigest: DIGEST }],
  ])('resolveImage looks up %s in its account and region', async (uri, imageId) => {
    ecr.on(DescribeImagesCommand).resolves({ imageDetails: [{ imageDigest: DIGEST }] });
    expect(await resolveImage(images, uri)).toBe(DIGEST);
    expect(asked).toEqual(['eu-west-1']);
    expect(ecr.commandCalls(DescribeImagesCommand)[0]!.args[0].input).toEqual({
      registryId: '111122223333',
      repositoryName: 'strategies/trend',
      imageIds: [imageId],
    });
  });

  it.each([
    new ImageNotFoundException(meta),
    new RepositoryNotFoundException(meta),
    new InvalidParameterException(meta),
  ])('resolveImage rejects a missing image: $name', async (error) => {
    ecr.on(DescribeImagesCommand).rejects(error);
    await expect(resolveImage(images, `${REPOSITORY}:1.0`)).rejects.toMatchObject({ code: 'VAL005' });
  });

  it('resolveImage rejects an unreadable image with its repository', async () => {
    ecr.on(DescribeImagesCommand).rejects(Object.assign(new Error('no'), { name: 'AccessDeniedException' }));
    await expect(resolveImage(images, `${REPOSITORY}:1.0`)).rejects.toMatchObject({
      code: 'VAL005',
      context: { repository: REPOSITORY },
    });
  });

  it('resolveImage returns the given digest or null for other registries, without a request', async () => {
    expect(await resolveImage(images, `ghcr.io/desk/trend:1.0@${DIGEST}`)).toBe(DIGEST);
    expect(await resolveImage(images, 'ghcr.io/desk/trend:1.0')).toBeNull();
    expect(asked).toEqual([]);
  });
});

describe('TaskDefinitions', () => {
  const ecs = mockClient(ECSClient);
  const base = 'arn:aws:ecs:eu-west-1:111122223333:task-definition/backtest:7';
  const image = `${REPOSITORY}@${DIGEST}`;
  const described = {
    taskDefinition: {
      taskDefinitionArn: base,
      family: 'backtest',
      revision: 7,
      status: 'ACTIVE' as const,
      cpu: '1024',
      memory: '4096',
      networkMode: 'awsvpc' as const,
      requiresCompatibilities: ['FARGATE' as const],
      compatibilities: ['EC2' as const, 'FARGATE' as const],
      runtimePlatform: { cpuArchitecture: 'ARM64' as const },
      taskRoleArn: 'role/task',
      executionRoleArn: 'role/execution',
      volumes: [{ name: 'tmp' }],
      containerDefinitions: [
        { name: 'task', image: 'platform:1', command: ['/app/backtest.mjs'], readonlyRootFilesystem: true },
      ],
    },
    tags: [
      { key: 'service', value: 'touchstone' },
      { key: 'aws:cloudformation:stack-name', value: 'x' },
    ],
  };
  const own = 'arn:aws:ecs:eu-west-1:111122223333:task-definition/own:1';
  beforeEach(() => {
    ecs.reset();
    ecs.on(DescribeTaskDefinitionCommand).rejects(new ClientException(meta));
    ecs.on(DescribeTaskDefinitionCommand, { taskDefinition: base }).resolves(described);
    ecs.on(RegisterTaskDefinitionCommand).resolves({ taskDefinition: { taskDefinitionArn: own } });
  });
  const registered = () => ecs.commandCalls(RegisterTaskDefinitionCommand).map(({ args }) => args[0].input);

  it('forImage registers the backtest definition with the image in a separate family', async () => {
    expect(await new TaskDefinitions(new ECSClient({}), base).forImage(image)).toBe(own);
    const {
      compatibilities: _,
      taskDefinitionArn: __,
      revision: ___,
      status: ____,
      ...settings
    } = described.taskDefinition;
    expect(registered()).toEqual([
      {
        ...settings,
        family: expect.stringMatching(/^backtest-image-[0-9a-f]{32}$/),
        containerDefinitions: [{ ...settings.containerDefinitions[0], image }],
        tags: [{ key: 'service', value: 'touchstone' }],
      },
    ]);
  });

  it('forImage registers a definition once and finds it again in the next process', async () => {
    const definitions = new TaskDefinitions(new ECSClient({}), base);
    expect([await definitions.forImage(image), await definitions.forImage(image)]).toEqual([own, own]);
    const { family } = registered()[0]!;
    ecs
      .on(DescribeTaskDefinitionCommand, { taskDefinition: family! })
      .resolves({ taskDefinition: { taskDefinitionArn: own } });
    expect(await new TaskDefinitions(new ECSClient({}), base).forImage(image)).toBe(own);
    expect(registered()).toHaveLength(1);
  });

  it('forImage registers another definition per image and per deployment', async () => {
    await new TaskDefinitions(new ECSClient({}), base).forImage(image);
    await new TaskDefinitions(new ECSClient({}), base).forImage(image.replace('trend', 'other'));
    const next = base.replace(':7', ':8');
    ecs.on(DescribeTaskDefinitionCommand, { taskDefinition: next }).resolves(described);
    await new TaskDefinitions(new ECSClient({}), next).forImage(image);
    expect(new Set(registered().map(({ family }) => family)).size).toBe(3);
  });

  it('forImage registers nothing when ECS does not respond', async () => {
    ecs.on(DescribeTaskDefinitionCommand).rejects(new Error('down'));
    await expect(new TaskDefinitions(new ECSClient({}), base).forImage(image)).rejects.toThrow('down');
    expect(registered()).toEqual([]);
  });
});

describe.skipIf(!hasMoto())('ECR and ECS on moto (skipped without moto)', () => {
  let moto: Awaited<ReturnType<typeof startMoto>>;
  let settings: { endpoint: string; region: string; credentials: typeof CREDENTIALS };
  beforeAll(async () => {
    // The mocks above intercept every client of their kind.
    mockClient(ECRClient).restore();
    mockClient(ECSClient).restore();
    moto = await startMoto();
    settings = { endpoint: moto.endpoint, region: 'eu-west-1', credentials: CREDENTIALS };
  });
  afterAll(() => moto.stop());

  it('forImage registers a tagged definition once that the next process finds', async () => {
    const client = new ECSClient(settings);
    const { taskDefinition } = await client.send(
      new RegisterTaskDefinitionCommand({
        family: 'backtest',
        cpu: '1024',
        memory: '4096',
        networkMode: 'awsvpc',
        requiresCompatibilities: ['FARGATE'],
        volumes: [{ name: 'tmp' }],
        containerDefinitions: [
          { name: 'task', image: 'platform:1', command: ['/app/backtest.mjs'], readonlyRootFilesystem: true },
        ],
        tags: [{ key: 'service', value: 'touchstone' }],
      }),
    );
    const base = taskDefinition!.taskDefinitionArn!;
    const image = `${REPOSITORY}@${DIGEST}`;
    const arn = await new TaskDefinitions(client, base).forImage(image);
    expect(await new TaskDefinitions(client, base).forImage(image)).toBe(arn);
    const made = await client.send(
      new DescribeTaskDefinitionCommand({ taskDefinition: arn, include: ['TAGS'] }),
    );
    expect(arn).toMatch(/:task-definition\/backtest-image-[0-9a-f]{32}:1$/);
    expect(made.taskDefinition).toMatchObject({
      cpu: '1024',
      volumes: [{ name: 'tmp' }],
      containerDefinitions: [{ image, command: ['/app/backtest.mjs'], readonlyRootFilesystem: true }],
    });
    expect(made.tags).toEqual([{ key: 'service', value: 'touchstone' }]);
  });

  it('resolveImage returns the digest of a tag and rejects a missing tag', async () => {
    const client = new ECRClient(settings);
    await client.send(new CreateRepositoryCommand({ repositoryName: 'strategies/trend' }));
    const { image } = await client.send(
      new PutImageCommand({
        repositoryName: 'strategies/trend',
        imageTag: '1.0',
        imageManifest: JSON.stringify({
          schemaVersion: 2,
          mediaType: 'application/vnd.oci.image.manifest.v1+json',
          config: { mediaType: 'application/vnd.oci.image.config.v1+json', size: 2, digest: DIGEST },
          layers: [],
        }),
      }),
    );
    const images = new EcrImages(() => client);
    const repository = REPOSITORY.replace('111122223333', '123456789012');
    expect(await resolveImage(images, `${repository}:1.0`)).toBe(image!.imageId!.imageDigest);
    for (const missing of [`${repository}:2.0`, `${repository.replace('trend', 'other')}:1.0`]) {
      await expect(resolveImage(images, missing)).rejects.toMatchObject({ code: 'VAL005' });
    }
  });
});
