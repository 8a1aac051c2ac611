import type * as ecs from 'aws-cdk-lib/aws-ecs';
import type { Construct } from 'constructs';
import type * as z from 'zod';
import { HYPEROPT_ALLOCATOR, TASK_ALLOCATOR } from '#contract/allocators.ts';
import type { BacktestTaskEnv, CollectTaskEnv, HyperoptTaskEnv } from '#contract/env.ts';
import { STUDY_ID_PREFIX } from '#contract/hyperopt.ts';
import type { StageConfig } from './config.ts';
import type { DataStack } from './data-stack.ts';
import { allowObjects, allowTable } from './grants.ts';
import { JobTask } from './job-task.ts';

export interface JobTasksProps {
  readonly config: StageConfig;
  readonly data: DataStack;
  readonly image: ecs.ContainerImage;
  /** What every entry point of the stage is told. */
  readonly common: Pick<z.input<typeof CollectTaskEnv>, 'ENVIRONMENT' | 'LOG_LEVEL'>;
}

/** An entry point's environment without what the state machine sets for each task. */
type TaskEnvironment<Env extends z.ZodType> = Omit<z.input<Env>, 'JOB_ID' | 'CORRELATION_ID' | 'WORKER'>;

/** Collects candles before a job runs. */
export function collectTask(scope: Construct, { config, data, image, common }: JobTasksProps): JobTask {
  const environment: TaskEnvironment<typeof CollectTaskEnv> = {
    ...common,
    CANDLES_BUCKET: data.candles.bucketName,
    JOBS_TABLE: data.tables.jobs.tableName,
    SERIES_TABLE: data.tables.series.tableName,
    ...TASK_ALLOCATOR,
  };
  const task = new JobTask(scope, 'CollectTask', {
    config,
    image,
    entry: 'collect',
    // It waits for exchanges most of the time; a month of one-minute candles at once is 3 MB.
    cpu: 256,
    memoryMiB: 1024,
    environment,
  });
  allowTable(task.role, 'jobs', data.tables.jobs, ['GetItem', 'UpdateItem']);
  allowTable(task.role, 'series', data.tables.series, ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem']);
  allowObjects(task.role, data.candles, ['GetObject', 'PutObject']);
  return task;
}

/** Runs one backtest. */
export function backtestTask(scope: Construct, { config, data, image, common }: JobTasksProps): JobTask {
  const environment: TaskEnvironment<typeof BacktestTaskEnv> = {
    ...common,
    ...storage(data),
    ...TASK_ALLOCATOR,
  };
  const task = new JobTask(scope, 'BacktestTask', {
    ...{ config, image, environment },
    entry: 'backtest',
    ...config.backtestTask,
  });
  allowTable(task.role, 'jobs', data.tables.jobs, ['GetItem', 'UpdateItem']);
  allowCandles(task, data);
  allowObjects(task.role, data.results, ['GetObject', 'PutObject']);
  return task;
}

/** Runs trials of one study, on all its cores, until there are none left. */
export function hyperoptTask(scope: Construct, { config, data, image, common }: JobTasksProps): JobTask {
  const environment: TaskEnvironment<typeof HyperoptTaskEnv> = {
    ...common,
    ...storage(data),
    ...HYPEROPT_ALLOCATOR,
  };
  const task = new JobTask(scope, 'HyperoptTask', {
    ...{ config, image, environment },
    entry: 'hyperopt',
    ...config.hyperoptTask,
  });
  // Studies, with their trials and daily returns: what a study finds is in the table, and no backtest's job is its business.
  allowTable(task.role, 'jobs', data.tables.jobs, ['GetItem', 'Query', 'PutItem', 'UpdateItem'], {
    keys: [`${STUDY_ID_PREFIX}*`],
  });
  allowCandles(task, data);
  return task;
}

function storage({ tables, results, candles }: DataStack) {
  return {
    RESULTS_BUCKET: results.bucketName,
    CANDLES_BUCKET: candles.bucketName,
    JOBS_TABLE: tables.jobs.tableName,
    SERIES_TABLE: tables.series.tableName,
  };
}

/** Reading candles, and noting which files were found damaged. */
function allowCandles({ role }: JobTask, { tables, candles }: DataStack): void {
  allowTable(role, 'series', tables.series, ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem']);
  allowObjects(role, candles, ['GetObject']);
}
