import { ConflictException, CreateScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import type { ChallengeTimer } from '#domain/challenges/process-due-challenges.ts';
import { reportUnavailable } from '../dynamo/unavailable-errors.ts';

/**
 * Worst case of one call: 2 attempts of 2 s, during which a request waits. Commands throw HTTP503 when EventBridge
 * Scheduler is unavailable.
 */
export function createSchedulerClient(): SchedulerClient {
  const client = new SchedulerClient({
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
  });
  return reportUnavailable(client, 'HTTP503');
}

export interface SchedulerTarget {
  /** Group of the schedules. */
  readonly group: string;
  /** ARN of the alias of the function to invoke with `{challenge_id}`. */
  readonly functionArn: string;
  /** ARN of the role with which EventBridge Scheduler invokes the function. */
  readonly roleArn: string;
}

/** One-time schedules. Each name has the challenge and the second of the deadline. EventBridge Scheduler deletes past schedules. */
export class SchedulerTimer implements ChallengeTimer {
  readonly #client: SchedulerClient;
  readonly #target: SchedulerTarget;

  constructor(client: SchedulerClient, target: SchedulerTarget) {
    this.#client = client;
    this.#target = target;
  }

  async at(challengeId: string, time: number): Promise<void> {
    const { group, functionArn, roleArn } = this.#target;
    // Rounded up: an invocation before the deadline would change nothing.
    const second = Math.ceil(time / 1000);
    try {
      await this.#client.send(
        new CreateScheduleCommand({
          Name: `${challengeId}.${second}`,
          GroupName: group,
          ScheduleExpression: `at(${new Date(second * 1000).toISOString().slice(0, 19)})`,
          ScheduleExpressionTimezone: 'UTC',
          FlexibleTimeWindow: { Mode: 'OFF' },
          ActionAfterCompletion: 'DELETE',
          Target: {
            Arn: functionArn,
            RoleArn: roleArn,
            Input: JSON.stringify({ challenge_id: challengeId }),
            // After a failed delivery the regular repair runs apply the deadline.
            RetryPolicy: { MaximumEventAgeInSeconds: 3_600, MaximumRetryAttempts: 10 },
          },
        }),
      );
    } catch (error) {
      if (!(error instanceof ConflictException)) throw error;
    }
  }
}
