import type { BacktestExecutionInput } from '#contract/backtest.ts';

export interface ExecutionState {
  readonly status: 'running' | 'succeeded' | 'failed' | 'aborted' | 'timed_out';
}

/** State machine of one kind of job; the default `Input` is that of backtests. Executions are named after their job and run. */
export interface Executions<Input extends { readonly job_id: string } = BacktestExecutionInput> {
  /** Starts an execution; a second start of the same name and input does nothing. */
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
