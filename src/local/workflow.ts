import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeFile } from '#adapters/code-file.ts';
import { LocalExecutions, LocalStateMachine, localIntegrations } from '#adapters/local/state-machine.ts';
import { TaskLogs } from '#adapters/local/task-log.ts';
import { resultsPrefix } from '#adapters/objects/result-store.ts';
import type { Stores } from '#adapters/open-stores.ts';
import { compileCache } from '#adapters/processes/compile-cache.ts';
import type { SandboxGrants } from '#adapters/processes/sandbox.ts';
import {
  type TaskHost,
  type TaskLimits,
  type TaskRequest,
  TaskRunner,
  type TaskRunnerOptions,
} from '#adapters/processes/task-runner.ts';
import { SIGNALS_PREFIX } from '#adapters/signals/keys.ts';
import { USER_STRATEGIES } from '#adapters/strategies/strategy-files.ts';
import type { BacktestExecutionInput } from '#contract/backtests/backtest.ts';
import type { HyperoptExecutionInput } from '#contract/hyperopt/hyperopt.ts';
import { HYPEROPT_ALLOCATOR, TASK_ALLOCATOR } from '#contract/values/allocators.ts';
import { SANDBOX_FLAGS } from '#contract/values/sandbox-flags.ts';
import type { TaskControl } from '#domain/jobs/execution-ports.ts';
import type { Log } from '#runtime/log.ts';

export interface WorkflowOptions {
  readonly stores: Stores;
  readonly jobsTable: string;
  /** Data proxy function that the state machines invoke. */
  readonly dataProxy: (event: unknown) => Promise<unknown>;
  /** Environment of the tasks. */
  readonly environment: TaskEnvironment;
  /** Folder for temporary files of the tasks. */
  readonly temporary: string;
  readonly limits: TaskLimits;
  readonly bundledTask: (() => string | undefined) | undefined;
  readonly tasks: ((options: TaskRunnerOptions) => TaskHost) | undefined;
  /** Command line options of Node for the tasks. */
  readonly nodeOptions: readonly string[];
  /** Called with the name of each ended execution. Rejects never. */
  readonly onEnd: (execution: string) => Promise<void>;
  readonly log: Log;
}

/** Environment of the tasks, with the locations of their data. */
export type TaskEnvironment = Readonly<Record<string, string>> & {
  readonly OBJECTS_DIRECTORY: string;
  readonly CANDLES_BUCKET: string;
  readonly RESULTS_BUCKET: string;
};

/** The local state machines with the runners of their tasks. */
export interface Workflow {
  readonly executions: LocalExecutions<BacktestExecutionInput>;
  readonly hyperoptExecutions: LocalExecutions<HyperoptExecutionInput>;
  readonly tasks: TaskControl;
  /**
   * Ends executions and tasks; their jobs stay unfinished and resume at the next start. Resolves when the ends that were
   * reported before are handled: they use the stores.
   */
  stop(): Promise<void>;
}

/** Values for parameters of the state machine files that local mode ignores. */
const AWS_ONLY = {
  Cluster: 'local',
  PublicSubnetA: 'local',
  PublicSubnetB: 'local',
  BacktestSubnetA: 'local',
  BacktestSubnetB: 'local',
  BacktestPublicIp: 'DISABLED',
  WorkerSubnetA: 'local',
  WorkerSubnetB: 'local',
  WorkerPublicIp: 'DISABLED',
  TaskSecurityGroup: 'local',
};

const LOCAL_NAMES = {
  DataProxy: 'DataProxy',
  TaskImage: 'TaskImage',
  ImageRun: 'ImageRun',
  // Only jobs of the fast lane use functions, and local mode has no such lane.
  BacktestFunction: 'none',
  CollectFunction: 'none',
  BacktestTask: 'BacktestTask',
  CollectTask: 'CollectTask',
  HyperoptTask: 'HyperoptTask',
};

/** Connects the files of statemachines/ to local implementations. */
export function createWorkflow(options: WorkflowOptions): Workflow {
  const { stores, log } = options;
  const logs = new TaskLogs(options.environment, Date.now);
  const { runner, workers } = taskRunners(options, logs);
  const integrations = localIntegrations({
    functions: { DataProxy: options.dataProxy, TaskImage: noImages, ImageRun: noImages },
    tasks: {
      BacktestTask: {
        entry: () => options.bundledTask?.() ?? taskEntry('backtest'),
        runner,
        sandbox: (jobId) => backtestGrants(options.environment, jobId),
      },
      CollectTask: { entry: () => taskEntry('collect'), runner },
      HyperoptTask: { entry: () => taskEntry('hyperopt'), runner: workers },
    },
    failJob: async (jobId, reason) => {
      const strategy = (await stores.jobs.get(jobId))?.config.strategy;
      const message = `Strategy ${strategy} was stopped. ${reason}`;
      await stores.jobs.fail(jobId, null, { code: 'VAL006', message }, new Date().toISOString());
    },
    dynamo: stores.dynamo,
  });
  const machineOf = (file: string) =>
    new LocalStateMachine(
      new URL(`../../statemachines/${file}.asl.json`, import.meta.url),
      { ...AWS_ONLY, ...LOCAL_NAMES, JobsTable: options.jobsTable },
      integrations,
    );
  const ends = new Set<Promise<void>>();
  const executionsOf = <Input extends { readonly job_id: string }>(machine: LocalStateMachine) =>
    new LocalExecutions<Input>(machine, (name, state, error) => {
      if (state.status !== 'succeeded')
        log.warn('execution ended', { execution: name, ...state, error: String(error) });
      logs.end(name.slice(0, name.lastIndexOf('-')));
      const end = options.onEnd(name).finally(() => ends.delete(end));
      ends.add(end);
    });
  const executions = executionsOf<BacktestExecutionInput>(machineOf('backtest'));
  const hyperoptExecutions = executionsOf<HyperoptExecutionInput>(machineOf('hyperopt'));
  return {
    executions,
    hyperoptExecutions,
    tasks: { stop: async (task) => void (await Promise.all([runner.stop(task), workers.stop(task)])) },
    stop: async () => {
      executions.stopAll();
      hyperoptExecutions.stopAll();
      await Promise.all([runner.stopAll(), workers.stopAll()]);
      await Promise.all(ends);
    },
  };
}

/** Runners of tasks: `workers` runs those of hyperopt jobs. */
function taskRunners(options: WorkflowOptions, logs: TaskLogs) {
  const { log, tasks = (each) => new TaskRunner(each) } = options;
  const keepOutput = (request: TaskRequest, line: string) => {
    try {
      logs.append(request.environment.JOB_ID, line);
    } catch (error) {
      log.error('failed to keep the output of a task', error as Error);
    }
  };
  const runnerOf = (environment: Readonly<Record<string, string>>, flags: readonly string[] = []) =>
    tasks({
      environment: { ...options.environment, ...environment },
      temporary: options.temporary,
      compiled: compileCache(),
      nodeOptions: [...options.nodeOptions, ...flags],
      limits: options.limits,
      onOutput: (task, line, request) => {
        log.info('task output', { task, line });
        keepOutput(request, line);
      },
      onCrash: (exit) => log.warn('task crashed', { ...exit }),
      onStall: (request, task, text) => reportStall(options, request, task, text),
    });
  return {
    runner: runnerOf(TASK_ALLOCATOR),
    workers: runnerOf(HYPEROPT_ALLOCATOR, SANDBOX_FLAGS),
  };
}

/** Local mode resolves no image: every version runs the current code, and its job has a warning. */
async function noImages(): Promise<never> {
  throw new Error('Local mode runs no images');
}

/** A backtest reads candles and writes its results. The folders are created first: its process must not create them. */
function backtestGrants(environment: TaskEnvironment, jobId: string): SandboxGrants {
  const { OBJECTS_DIRECTORY: objects, CANDLES_BUCKET, RESULTS_BUCKET, STRATEGIES_DIRECTORY } = environment;
  const candles = join(objects, CANDLES_BUCKET);
  const results = join(objects, RESULTS_BUCKET, resultsPrefix(jobId));
  const signals = join(objects, RESULTS_BUCKET, SIGNALS_PREFIX);
  for (const folder of [candles, results, signals]) mkdirSync(folder, { recursive: true });
  const strategies = STRATEGIES_DIRECTORY ?? USER_STRATEGIES;
  return {
    read: [candles, signals],
    write: [results],
    strategies: existsSync(strategies) ? strategies : undefined,
  };
}

/** Logs the stall and stores it in the job. */
function reportStall(
  { stores, log }: WorkflowOptions,
  request: TaskRequest,
  task: string,
  text: string | null,
) {
  const jobId = request.environment.JOB_ID!;
  if (text) log.warn(text, { job_id: jobId });
  stores.jobs
    .setStalled(jobId, task, text)
    .catch((error: unknown) => log.error('failed to store the stall of a task', error as Error));
}

function taskEntry(name: string): string {
  return fileURLToPath(codeFile(`../tasks/${name}`, import.meta.url));
}
