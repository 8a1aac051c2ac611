import type { BacktestExecutionInput } from '#contract/backtests/backtest.ts';

export interface ExecutionState {
  readonly status: 'running' | 'succeeded' | 'failed' | 'aborted' | 'timed_out';
}

export type EndedStatus = Exclude<ExecutionState['status'], 'running'>;

/** Error of {@link Executions.start} that every repetition would return, with its name as the message. */
export class ExecutionRejected extends Error {
  override readonly name = 'ExecutionRejected';
}

/** Message of a job whose execution was rejected. */
export function rejectionMessage(kind: string, reason: string): string {
  return `Step Functions rejected the workflow of the ${kind} (${reason}). Report the job id to the platform operator.`;
}

/** State machine of one kind of job; the default `Input` is that of backtests. Executions are named after their job and run. */
export interface Executions<Input extends { readonly job_id: string } = BacktestExecutionInput> {
  /** Starts an execution; a second start of the same name and input does nothing. Throws ExecutionRejected. */
  start(input: Input, name: string): Promise<void>;
  stop(name: string, cause: string): Promise<void>;
  /** Undefined for an unknown execution name. */
  state(name: string): Promise<ExecutionState | undefined>;
  /** Names of all executions that run; it may lack those that started or include those that ended within seconds. */
  running(): Promise<ReadonlySet<string>>;
}

/** Stops the task that the job item names. */
export interface TaskControl {
  stop(task: string, reason: string): Promise<void>;
}
