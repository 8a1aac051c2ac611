import { createHash } from 'node:crypto';
import {
  ClientException,
  DescribeTaskDefinitionCommand,
  type DescribeTaskDefinitionResponse,
  type ECSClient,
  RegisterTaskDefinitionCommand,
} from '@aws-sdk/client-ecs';

/** The family of a task definition's ARN, `…:task-definition/{family}:{revision}`. */
const FAMILY = /:task-definition\/([^:]+):\d+$/;

/**
 * Task definitions of registered images: the platform's own one with another image. Each has a family of its own, named
 * after the image and the definition that it is made from, so that one made before is found again and a deployment that
 * changes the platform's makes new ones.
 */
export class TaskDefinitions {
  readonly #client: ECSClient;
  readonly #base: string;
  readonly #known = new Map<string, string>();

  /** @param base ARN of the platform's own definition, with its revision */
  constructor(client: ECSClient, base: string) {
    this.#client = client;
    this.#base = base;
  }

  /** ARN of the definition that runs `image` (`name@sha256:…`). Two at once may make two revisions: either is right. */
  async forImage(image: string): Promise<string> {
    const known = this.#known.get(image);
    if (known) return known;
    const family = this.#familyOf(image);
    const arn = (await this.#find(family)) ?? (await this.#register(family, image));
    this.#known.set(image, arn);
    return arn;
  }

  #familyOf(image: string): string {
    const digest = createHash('sha256').update(`${this.#base}\n${image}`).digest('hex').slice(0, 32);
    return `${FAMILY.exec(this.#base)?.[1]}-image-${digest}`;
  }

  async #find(family: string): Promise<string | undefined> {
    try {
      const { taskDefinition } = await this.#client.send(
        new DescribeTaskDefinitionCommand({ taskDefinition: family }),
      );
      return taskDefinition?.taskDefinitionArn;
    } catch (error) {
      // What ECS says of a family without an active revision.
      if (error instanceof ClientException) return undefined;
      throw error;
    }
  }

  async #register(family: string, image: string): Promise<string> {
    const base = await this.#client.send(
      new DescribeTaskDefinitionCommand({ taskDefinition: this.#base, include: ['TAGS'] }),
    );
    const { taskDefinition } = await this.#client.send(
      new RegisterTaskDefinitionCommand({ ...settingsOf(base, image), family }),
    );
    return taskDefinition!.taskDefinitionArn!;
  }
}

/** What registering takes of a definition as it is described. */
function settingsOf({ taskDefinition, tags = [] }: DescribeTaskDefinitionResponse, image: string) {
  const base = taskDefinition!;
  return {
    cpu: base.cpu,
    memory: base.memory,
    ephemeralStorage: base.ephemeralStorage,
    networkMode: base.networkMode,
    requiresCompatibilities: base.requiresCompatibilities,
    runtimePlatform: base.runtimePlatform,
    taskRoleArn: base.taskRoleArn,
    executionRoleArn: base.executionRoleArn,
    volumes: base.volumes,
    containerDefinitions: base.containerDefinitions?.map((container) => ({ ...container, image })),
    // Those of CloudFormation cannot be given by anybody else.
    tags: tags.filter(({ key }) => !key?.startsWith('aws:')),
  };
}
