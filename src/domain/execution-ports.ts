import type { BacktestExecutionInput } from '#contract/backtest.ts';

export interface ExecutionState {
  readonly status: 'running' | 'succeeded' | 'failed' | 'aborted' | 'timed_out';
}

/** The backtest state machine. */
export interface Executions {
  /** Starts the execution named after the job; a second start of the same name and input does nothing. */
  start(input: BacktestExecutionInput, priority: number): Promise<void>;
  stop(jobId: string, cause: string): Promise<void>;
  /** Undefined when no execution of that job is known. */
  state(jobId: string): Promise<ExecutionState | undefined>;
}

/** Stops what a job left running: the task that the job item names. */
export interface TaskControl {
  stop(task: string, reason: string): Promise<void>;
}
