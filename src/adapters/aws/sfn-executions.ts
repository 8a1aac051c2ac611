import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  type ExecutionStatus,
  paginateListExecutions,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { ExecutionRejected, type ExecutionState, type Executions } from '#domain/jobs/execution-ports.ts';
import { reportUnavailable } from '../dynamo/unavailable-errors.ts';

/** A redrive continues an execution that had ended. */
const STATES: Readonly<Record<ExecutionStatus, ExecutionState['status']>> = {
  RUNNING: 'running',
  PENDING_REDRIVE: 'running',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  ABORTED: 'aborted',
  TIMED_OUT: 'timed_out',
};

/** Errors of StartExecution that every repetition would return. */
const REJECTIONS = new Set([
  'AccessDeniedException',
  'InvalidArn',
  'InvalidExecutionInput',
  'InvalidName',
  'StateMachineDoesNotExist',
]);

/** Limit of StopExecution for a cause, characters. */
const MAX_CAUSE = 32_768;

/** Worst case of one call: 3 attempts of 5 s. Commands throw HTTP503 when Step Functions is unavailable. */
export function createSfnClient(): SFNClient {
  const client = new SFNClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
  return reportUnavailable(client, 'HTTP503');
}

/**
 * Executions of a Standard state machine, each named after its job. Step Functions rejects a second execution of the
 * same name for 90 days.
 */
export class SfnExecutions<Input extends { readonly job_id: string }> implements Executions<Input> {
  readonly #client: SFNClient;
  readonly #stateMachineArn: string;

  constructor(client: SFNClient, stateMachineArn: string) {
    this.#client = client;
    this.#stateMachineArn = stateMachineArn;
  }

  async start(input: Input, name: string): Promise<void> {
    try {
      await this.#client.send(
        new StartExecutionCommand({
          stateMachineArn: this.#stateMachineArn,
          name,
          input: JSON.stringify(input),
        }),
      );
    } catch (error) {
      // The execution has ended. A second start of a running one with the same input succeeds in Step Functions.
      if (error instanceof ExecutionAlreadyExists) return;
      const { name: reason } = error as Error;
      throw REJECTIONS.has(reason) ? new ExecutionRejected(reason, { cause: error }) : error;
    }
  }

  async stop(name: string, cause: string): Promise<void> {
    try {
      await this.#client.send(
        new StopExecutionCommand({ executionArn: this.#arnOf(name), cause: cause.slice(0, MAX_CAUSE) }),
      );
    } catch (error) {
      if (!(error instanceof ExecutionDoesNotExist)) throw error;
    }
  }

  async state(name: string): Promise<ExecutionState | undefined> {
    try {
      const { status } = await this.#client.send(
        new DescribeExecutionCommand({ executionArn: this.#arnOf(name) }),
      );
      return { status: STATES[status!] };
    } catch (error) {
      if (error instanceof ExecutionDoesNotExist) return undefined;
      throw error;
    }
  }

  async running(): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    const pages = paginateListExecutions(
      { client: this.#client, pageSize: 1_000 },
      { stateMachineArn: this.#stateMachineArn, statusFilter: 'RUNNING' },
    );
    for await (const { executions = [] } of pages) for (const { name } of executions) names.add(name!);
    return names;
  }

  #arnOf(name: string): string {
    return `${this.#stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
  }
}
