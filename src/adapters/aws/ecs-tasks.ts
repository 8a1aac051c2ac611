import { createHash } from 'node:crypto';
import {
  ClientException,
  DescribeTaskDefinitionCommand,
  type DescribeTaskDefinitionResponse,
  ECSClient,
  InvalidParameterException,
  RegisterTaskDefinitionCommand,
  StopTaskCommand,
} from '@aws-sdk/client-ecs';
import type { TaskControl } from '#domain/jobs/execution-ports.ts';
import { reportUnavailable } from '../dynamo/unavailable-errors.ts';

/** Limit of a stop reason in ECS, characters. */
const MAX_REASON = 255;

/** Worst case of one call: 3 attempts of 5 s. Commands throw HTTP503 when ECS is unavailable. */
export function createEcsClient(): ECSClient {
  const client = new ECSClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
  return reportUnavailable(client, 'HTTP503');
}

/** Cluster in the ARN of a task, `arn:aws:ecs:{region}:{account}:task/{cluster}/{id}`. */
const TASK_CLUSTER = /^arn:[^/]+:task\/([^/]+)\/[^/]+$/;

/** Stops Fargate tasks by their ARN. */
export class EcsTaskControl implements TaskControl {
  readonly #client: ECSClient;

  constructor(client: ECSClient) {
    this.#client = client;
  }

  /**
   * A task that has stopped already, or that ECS does not know any more, is not an error. Any other id than an ARN is that
   * of a run in a function, which nobody can stop: it ends at the time limit of the function at the latest.
   */
  async stop(task: string, reason: string): Promise<void> {
    const cluster = TASK_CLUSTER.exec(task)?.[1];
    if (cluster === undefined) return;
    try {
      await this.#client.send(new StopTaskCommand({ cluster, task, reason: reason.slice(0, MAX_REASON) }));
    } catch (error) {
      const forgotten = error instanceof InvalidParameterException && /not found/i.test(error.message);
      if (!forgotten) throw error;
    }
  }
}

/** Family in the ARN of a task definition, `…:task-definition/{family}:{revision}`. */
const FAMILY = /:task-definition\/([^:]+):\d+$/;

/**
 * Task definitions of registered images: copies of the platform's task definition with another image. The family name is
 * a hash of the image and the platform's definition. So an existing copy is found again, and a deployment that changes
 * the platform's definition creates new copies.
 */
export class TaskDefinitions {
  readonly #client: ECSClient;
  readonly #base: string;
  readonly #known = new Map<string, string>();

  /** @param base ARN of the platform's definition, with its revision */
  constructor(client: ECSClient, base: string) {
    this.#client = client;
    this.#base = base;
  }

  /** ARN of the definition that runs `image` (`name@sha256:…`). Concurrent calls may register two equal revisions. */
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
      // The family has no active revision.
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

/** Input of RegisterTaskDefinition from a described definition. */
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
    // Only CloudFormation can set tags that start with `aws:`.
    tags: tags.filter(({ key }) => !key?.startsWith('aws:')),
  };
}
