import { ECSClient, InvalidParameterException, StopTaskCommand } from '@aws-sdk/client-ecs';
import type { TaskControl } from '#domain/execution-ports.ts';
import { reportUnavailable } from './unavailable.ts';

/** What ECS keeps of a reason, characters. */
const MAX_REASON = 255;

/** Worst case of one call: 3 attempts of 5 s. Commands throw HTTP503 when ECS cannot answer. */
export function createEcsClient(): ECSClient {
  const client = new ECSClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
  return reportUnavailable(client, 'HTTP503');
}

/** Stops Fargate tasks by their ARN. */
export class EcsTaskControl implements TaskControl {
  readonly #client: ECSClient;

  constructor(client: ECSClient) {
    this.#client = client;
  }

  /** A task that has stopped, or that ECS has forgotten since, is no error. */
  async stop(task: string, reason: string): Promise<void> {
    // arn:aws:ecs:region:account:task/cluster/id
    const cluster = task.split('/').at(-2);
    try {
      await this.#client.send(new StopTaskCommand({ cluster, task, reason: reason.slice(0, MAX_REASON) }));
    } catch (error) {
      const forgotten = error instanceof InvalidParameterException && /not found/i.test(error.message);
      if (!forgotten) throw error;
    }
  }
}
