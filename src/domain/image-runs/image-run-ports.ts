import type { JobRun } from '#contract/backtests/backtest.ts';
import type { ImageRunInput } from '#contract/backtests/image-run.ts';
import type { CompletedRun } from '../ports.ts';

/** Code of others wrote something that is not a run of this job. The message says what, without a full stop. */
export class InvalidRunError extends Error {}

/** Results as a task says that it has written them. */
export interface ClaimedResults {
  readonly digest: string;
  readonly trade_pages: number;
}

/** Results of a task as the platform has checked and stored them. */
export interface AdoptedRun {
  readonly completed: Pick<CompletedRun, 'result' | 'results' | 'sparkline'>;
  /** Equity at the end of each day. */
  readonly equity: readonly number[];
}

/** Inputs and outputs of the tasks of registered images. `task` is the ARN of a task: it determines the only prefix that is read. */
export interface ImageRuns {
  /** Stores an input and returns its key, which cannot be guessed. */
  writeInput(input: ImageRunInput): Promise<string>;
  /** Outcome as parsed JSON; undefined without one. Throws InvalidRunError. */
  readOutcome(task: string): Promise<unknown>;
  /** Checks the results of a task and stores them as those of the job's attempt. Throws InvalidRunError. */
  adoptResults(job: JobRun, task: string, claimed: ClaimedResults): Promise<AdoptedRun>;
}

/** Progress of a task from 0 to 1; undefined without a valid one. */
export type ReadProgress = (task: string) => Promise<number | undefined>;
