import { ConflictException, CreateScheduleCommand, SchedulerClient } from '@aws-sdk/client-scheduler';
import type { ChallengeTimer } from '#domain/challenges/process-due-challenges.ts';
import { reportUnavailable } from './unavailable.ts';

/** Worst case of one call: 2 attempts of 2 s, which a request waits for. Commands throw HTTP503 when Scheduler cannot answer. */
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
  /** The function that is invoked with `{challenge_id}`, by the ARN of its alias. */
  readonly functionArn: string;
  /** What EventBridge Scheduler may invoke it with. */
  readonly roleArn: string;
}

/** One-time schedules of EventBridge Scheduler, each named after its challenge and its second. They delete themselves. */
export class SchedulerTimer implements ChallengeTimer {
  readonly #client: SchedulerClient;
  readonly #target: SchedulerTarget;

  constructor(client: SchedulerClient, target: SchedulerTarget) {
    this.#client = client;
    this.#target = target;
  }

  async at(challengeId: string, time: number): Promise<void> {
    const { group, functionArn, roleArn } = this.#target;
    // Not a moment before: then nothing would be due.
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
            // What cannot be delivered is left to the regular passes.
            RetryPolicy: { MaximumEventAgeInSeconds: 3_600, MaximumRetryAttempts: 10 },
          },
        }),
      );
    } catch (error) {
      if (!(error instanceof ConflictException)) throw error;
    }
  }
}
