import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { TASK_ALLOCATOR } from '#contract/values/allocators.ts';
import type { SandboxGrants } from '../processes/sandbox.ts';
import { TaskRunner } from '../processes/task-runner.ts';

/** Payload with which the state machine invokes the function. */
export interface TaskEvent {
  readonly job_id: string;
  readonly correlation_id: string;
}

/** The parts of Lambda's context that are used. */
export interface Invocation {
  readonly awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

export interface TaskFunctionOptions {
  /** Entry point of the task: a file that Node runs. */
  readonly entry: string;
  /** Environment of this process. The task gets the variables of {@link TASK_VARIABLES} only. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folder that belongs to this function: it is emptied after each task. */
  readonly temporary: string;
  /** Permissions of a task that runs strategy code; absent: those of this process. */
  readonly sandbox?: SandboxGrants;
  /** Receives each line that a task prints. */
  readonly onOutput: (line: string) => void;
}

/** Variables of the entry points, of the AWS SDK and of Node. */
export const TASK_VARIABLES: readonly string[] = [
  'ENVIRONMENT',
  'LOG_LEVEL',
  'TOUCHSTONE_INSTANCE',
  'JOBS_TABLE',
  'SERIES_TABLE',
  'RESULTS_BUCKET',
  'CANDLES_BUCKET',
  'OBJECTS_DIRECTORY',
  'STRATEGIES_DIRECTORY',
  'DYNAMODB_ENDPOINT',
  'EXCHANGE_URL',
  'EXCHANGE_INTERVAL_MS',
  'AWS_REGION',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_ENDPOINT_URL',
  'AWS_ENDPOINT_URL_S3',
  'NODE_OPTIONS',
  // Lambda's Node loads its libraries from there.
  'LD_LIBRARY_PATH',
];

/** Time for a task to end before Lambda ends the function: a collection finishes its current request within 10 s. */
const RESERVE_MS = 15_000;
/** Longest run of a Lambda function, ms. The function's own limit is shorter. */
const LONGEST_RUN_MS = 15 * 60_000;
/** Maximum time to load the strategy file, ms. */
const LOAD_MS = 10_000;

/**
 * Runs a task's entry point in a Lambda function: one process per invocation, as in local mode. Nothing of a job remains for
 * the next: its processes are killed and the folder for temporary files is emptied.
 */
export class TaskFunction {
  readonly #options: TaskFunctionOptions;
  readonly #runner: TaskRunner;

  constructor(options: TaskFunctionOptions) {
    this.#options = options;
    this.#runner = new TaskRunner({
      environment: { NODE_ENV: 'production', ...TASK_ALLOCATOR, ...taskEnvironment(options.environment) },
      temporary: options.temporary,
      // The signal of each invocation is the time limit, and nobody reads a stall of seconds.
      limits: { taskMs: LONGEST_RUN_MS, stallMs: LONGEST_RUN_MS, loadMs: LOAD_MS },
      onOutput: (_, line) => options.onOutput(line),
      onExit: endProcessesOf,
      onCrash: () => {},
      onStall: () => {},
    });
  }

  /**
   * Runs the task of a job to its end.
   *
   * @throws Error when the task was ended or failed: another attempt must run elsewhere
   */
  async run({ job_id, correlation_id }: TaskEvent, invocation: Invocation): Promise<void> {
    const { entry, sandbox, temporary } = this.#options;
    const limit = Math.max(0, invocation.getRemainingTimeInMillis() - RESERVE_MS);
    const signal = AbortSignal.timeout(limit);
    try {
      const exit = await this.#runner.run({
        entry,
        sandbox,
        signal,
        task: `lambda-${invocation.awsRequestId}`,
        environment: { JOB_ID: job_id, CORRELATION_ID: correlation_id },
      });
      // A collection that was stopped ends with code 0, and has not stored all candles.
      if (signal.aborted) throw new Error(`The task was ended after ${Math.round(limit / 1000)} s`);
      if (exit.final) throw new Error(exit.final);
      if (exit.code !== 0) throw new Error(`The task ended with ${exit.signal ?? `exit code ${exit.code}`}`);
    } finally {
      try {
        empty(temporary);
      } catch (error) {
        this.#options.onOutput(`A task's files cannot be removed, so this function ends: ${error}`);
        // Lambda starts the next invocation in a new environment.
        process.exit(1);
      }
    }
  }
}

function taskEnvironment(environment: TaskFunctionOptions['environment']): Record<string, string> {
  const set = TASK_VARIABLES.filter((name) => environment[name] !== undefined);
  return Object.fromEntries(set.map((name) => [name, environment[name]!]));
}

/** Kills the processes that inherited the environment of a task: one may have left the task's process group. */
function endProcessesOf(task: string): void {
  if (process.platform !== 'linux') return;
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const variables = readFileSync(`/proc/${entry}/environ`, 'latin1').split('\0');
      if (variables.includes(`TASK_ID=${task}`)) process.kill(Number(entry), 'SIGKILL');
    } catch {
      // It has ended, or belongs to another user.
    }
  }
}

function empty(folder: string): void {
  for (const name of readdirSync(folder)) {
    rmSync(join(folder, name), { recursive: true, force: true, maxRetries: 3 });
  }
}
