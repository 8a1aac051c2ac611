import { fileURLToPath } from 'node:url';
import { LocalExecutions } from '#adapters/local/executions.ts';
import { localIntegrations } from '#adapters/local/integrations.ts';
import { LocalStateMachine } from '#adapters/local/state-machine.ts';
import { TaskRunner } from '#adapters/local/task-runner.ts';
import type { Stores } from '#adapters/open-stores.ts';
import type { Log } from '#runtime/log.ts';

export interface WorkflowOptions {
  readonly stores: Stores;
  readonly jobsTable: string;
  /** The data proxy, as the state machine invokes it. */
  readonly dataProxy: (event: unknown) => Promise<unknown>;
  /** Environment of the tasks. */
  readonly environment: Readonly<Record<string, string>>;
  readonly concurrency: number;
  /** Options of Node for the tasks. */
  readonly nodeOptions: readonly string[];
  /** Told when a job's execution has ended. */
  readonly onEnd: (jobId: string) => void;
  readonly log: Log;
}

/** The backtest state machine of one machine with the runner of its tasks. */
export interface Workflow {
  readonly executions: LocalExecutions;
  readonly runner: TaskRunner;
  /** Ends executions and tasks; their jobs stay unfinished and go on at the next start. */
  stop(): Promise<void>;
}

/** Parameters that mean something in AWS alone: the file is the same, here nothing reads them. */
const AWS_ONLY = {
  Cluster: 'local',
  PublicSubnetA: 'local',
  PublicSubnetB: 'local',
  BacktestSubnetA: 'local',
  BacktestSubnetB: 'local',
  BacktestPublicIp: 'DISABLED',
  TaskSecurityGroup: 'local',
};

/** Wires statemachines/backtest.asl.json to this machine. */
export function createWorkflow(options: WorkflowOptions): Workflow {
  const { stores, log } = options;
  const runner = new TaskRunner({
    concurrency: options.concurrency,
    environment: options.environment,
    nodeOptions: options.nodeOptions,
    onOutput: (task, line) => log.info('task output', { task, line }),
  });
  const integrations = localIntegrations({
    // Images are not run here: every version runs the current code, and its job says so.
    functions: { DataProxy: options.dataProxy, TaskImage: async () => ({ task_definition: 'BacktestTask' }) },
    tasks: { BacktestTask: taskEntry('backtest'), CollectTask: taskEntry('collect') },
    runner,
    priorityOf: async (jobId) => (await stores.jobs.get(jobId))?.priority ?? 0,
    dynamo: stores.dynamo,
  });
  const machine = new LocalStateMachine(
    new URL('../../statemachines/backtest.asl.json', import.meta.url),
    {
      ...AWS_ONLY,
      DataProxy: 'DataProxy',
      TaskImage: 'TaskImage',
      BacktestTask: 'BacktestTask',
      CollectTask: 'CollectTask',
      JobsTable: options.jobsTable,
    },
    integrations,
  );
  const executions = new LocalExecutions(machine, (jobId, state, error) => {
    if (state.status !== 'succeeded')
      log.warn('execution ended', { job_id: jobId, ...state, error: String(error) });
    options.onEnd(jobId);
  });
  return {
    executions,
    runner,
    stop: async () => {
      executions.stopAll();
      await runner.stopAll();
    },
  };
}

function taskEntry(name: string): string {
  return fileURLToPath(new URL(`../tasks/${name}.ts`, import.meta.url));
}
