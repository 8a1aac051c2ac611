import { Duration, RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import type * as iam from 'aws-cdk-lib/aws-iam';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { IMAGE_INPUT_PREFIX } from '#contract/backtests/image-run-keys.ts';
import type { BacktestTaskEnv, CollectTaskEnv, HyperoptTaskEnv } from '#contract/env/env.ts';
import type { EnvDeclaration, EnvInput } from '#contract/env/env-fields.ts';
import type { ImageBacktestTaskEnv } from '#contract/env/image-run-env.ts';
import { HYPEROPT_ALLOCATOR, TASK_ALLOCATOR } from '#contract/values/allocators.ts';
import { SANDBOX_FLAGS } from '#contract/values/sandbox-flags.ts';
import { acknowledge, defined, type Environment, logGroup } from '../parts/construct-helpers.ts';
import {
  allowObjects,
  allowTable,
  allowTrials,
  BACKTEST_KEYS,
  HYPEROPT_KEYS,
  SIGNAL_FILES,
} from '../parts/permissions.ts';
import type { StageConfig } from '../settings/config.ts';
import type { DataStack } from '../storage/data-stack.ts';

/** Name of the only container of every task, for environment overrides of RunTask. */
const CONTAINER = 'task';

export interface JobTaskProps {
  readonly config: StageConfig;
  readonly image: ecs.ContainerImage;
  /** Bundle of the image to run, for example `backtest`. */
  readonly entry: string;
  /**
   * Flags of Node.
   * @default - none
   */
  readonly flags?: readonly string[];
  /** CPU units: 1024 is one. */
  readonly cpu: number;
  readonly memoryMiB: number;
  readonly environment: Environment;
  /** @default - CloudWatch's standard class */
  readonly logClass?: logs.LogGroupClass;
  /** @default - none */
  readonly secrets?: Record<string, ecs.Secret>;
  /** @default - no port */
  readonly port?: number;
  /** @default - none: a task runs to its end */
  readonly healthCheck?: ecs.HealthCheck;
}

/** Touchstone's Fargate task: ARM, one container that can only write to /tmp, one log. */
export class JobTask extends Construct {
  readonly definition: ecs.FargateTaskDefinition;
  readonly log: logs.LogGroup;

  /** ARN pattern of all revisions. */
  get revisions(): string {
    return Stack.of(this).formatArn({
      service: 'ecs',
      resource: 'task-definition',
      resourceName: `${this.definition.family}:*`,
    });
  }

  constructor(scope: Construct, id: string, props: JobTaskProps) {
    super(scope, id);
    this.definition = new ecs.FargateTaskDefinition(this, 'Definition', {
      cpu: props.cpu,
      memoryLimitMiB: props.memoryMiB,
      runtimePlatform: {
        cpuArchitecture: ecs.CpuArchitecture.ARM64,
        operatingSystemFamily: ecs.OperatingSystemFamily.LINUX,
      },
      volumes: [{ name: 'tmp' }],
    });
    // An execution that a deployment overtakes still starts tasks of its own revision.
    this.definition.applyRemovalPolicy(RemovalPolicy.RETAIN);
    this.log = logGroup(this, 'Log', props.config, { logGroupClass: props.logClass });
    const container = this.definition.addContainer(CONTAINER, {
      containerName: CONTAINER,
      image: props.image,
      command: [...(props.flags ?? []), `/app/${props.entry}.mjs`],
      environment: { NODE_OPTIONS: '--enable-source-maps', ...defined(props.environment) },
      secrets: props.secrets,
      readonlyRootFilesystem: true,
      // A task ends within seconds of SIGTERM; Spot gives 120 s from its warning, so 60 s leave room for both.
      stopTimeout: Duration.seconds(60),
      // Without an init process Node would be process 1, which ignores unhandled SIGTERM.
      linuxParameters: new ecs.LinuxParameters(this, 'Linux', { initProcessEnabled: true }),
      logging: ecs.LogDriver.awsLogs({
        logGroup: this.log,
        streamPrefix: props.entry,
        // A stalled log must not stall the simulation; 4 MiB of lines are buffered.
        mode: ecs.AwsLogDriverMode.NON_BLOCKING,
        maxBufferSize: Size.mebibytes(4),
      }),
      portMappings: props.port === undefined ? [] : [{ containerPort: props.port }],
      healthCheck: props.healthCheck,
    });
    container.addMountPoints({ containerPath: '/tmp', sourceVolume: 'tmp', readOnly: false });
    acknowledge(this.definition.obtainExecutionRole(), {
      'AwsSolutions-IAM5[Resource::*]': 'ecr:GetAuthorizationToken accepts no resource.',
    });
    acknowledge(this.definition, {
      'AwsSolutions-ECS2':
        'The environment holds names of resources and settings. Secrets come from Secrets Manager by reference.',
    });
  }

  /** Role of the task's code. */
  get role(): iam.IRole {
    return this.definition.taskRole;
  }
}

export interface JobTasksProps {
  readonly config: StageConfig;
  readonly data: DataStack;
  readonly image: ecs.ContainerImage;
  /** Environment variables of every entry point of the stage. */
  readonly common: Pick<EnvInput<typeof CollectTaskEnv>, 'ENVIRONMENT' | 'LOG_LEVEL'>;
}

/** Environment of an entry point without the variables that the state machine sets per task. */
type TaskEnvironment<Env extends EnvDeclaration> = Omit<
  EnvInput<Env>,
  'JOB_ID' | 'CORRELATION_ID' | 'WORKER'
>;

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
    // Mostly waits for exchanges; one month of one-minute candles needs 3 MB.
    cpu: 256,
    memoryMiB: 1024,
    environment,
  });
  allowCollection(task.role, data, [...BACKTEST_KEYS, ...HYPEROPT_KEYS]);
  return task;
}

/** Allows what a collection before a job with one of these keys reads and writes. */
export function allowCollection(
  role: iam.IRole,
  { tables, candles }: DataStack,
  keys: readonly string[],
): void {
  allowTable(role, 'jobs', tables.jobs, ['GetItem', 'UpdateItem'], { keys });
  allowTable(role, 'series', tables.series, ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem']);
  // A write of candles finishes a deletion of the series that has begun.
  allowObjects(role, candles, ['GetObject', 'PutObject', 'DeleteObject']);
}

/** Runs one backtest. */
export function backtestTask(scope: Construct, { config, data, image, common }: JobTasksProps): JobTask {
  const environment: TaskEnvironment<typeof BacktestTaskEnv> = {
    ...common,
    ...storage(data),
    ...TASK_ALLOCATOR,
  };
  const task = new JobTask(scope, 'BacktestTask', {
    config,
    image,
    environment,
    entry: 'backtest',
    flags: SANDBOX_FLAGS,
    ...config.backtestTask,
  });
  allowBacktest(task.role, data);
  return task;
}

/** Allows what a backtest reads and writes. */
export function allowBacktest(role: iam.IRole, data: DataStack): void {
  // Each claim, progress and end of a job is one update. A task reads neither results nor other jobs.
  allowTable(role, 'jobs', data.tables.jobs, ['UpdateItem'], { keys: BACKTEST_KEYS });
  allowTrials(role, data.tables.jobs);
  allowCandles(role, data);
  allowObjects(role, data.results, ['PutObject'], {
    keys: BACKTEST_KEYS.map((key) => `results/${key}`),
    list: false,
  });
  // The job names the file and its digest; without a list the role cannot find those of other users.
  allowObjects(role, data.results, ['GetObject'], { keys: [SIGNAL_FILES], list: false });
}

/**
 * Runs one backtest in a registered image: the definition that is copied for each image. Its code is that of others. It reads candles
 * and inputs whose random key it was given, and writes below its own prefix: ECS names the session of a role after the task.
 */
export function imageTask(scope: Construct, { config, data, image, common }: JobTasksProps): ImageTask {
  const task = new JobTask(scope, 'ImageTask', {
    config,
    image,
    environment: {},
    entry: 'image-backtest',
    // In the standard class CloudWatch makes metrics of lines in its embedded format: code of others could write any metric of
    // the account, such as those of alarms, and each costs 0.30 USD per month.
    logClass: logs.LogGroupClass.INFREQUENT_ACCESS,
    ...config.backtestTask,
  });
  const role = task.role as iam.Role;
  const runs = { RUNS_BUCKET: data.runs.bucketName, IMAGE_ROLE_ID: role.roleId };
  const environment: Omit<TaskEnvironment<typeof ImageBacktestTaskEnv>, 'RUN_INPUT'> = {
    ...common,
    ...runs,
    CANDLES_BUCKET: data.candles.bucketName,
    ...TASK_ALLOCATOR,
  };
  for (const [name, value] of Object.entries(defined(environment))) {
    task.definition.defaultContainer!.addEnvironment(name, value);
  }
  allowObjects(role, data.candles, ['GetObject']);
  allowObjects(role, data.runs, ['GetObject'], { keys: [`${IMAGE_INPUT_PREFIX}*`], list: false });
  allowObjects(role, data.runs, ['PutObject'], { keys: [OWN_RUN], list: false });
  return { task, runs };
}

/** The task of registered images, and the variables by which the platform finds what it wrote. */
export interface ImageTask {
  readonly task: JobTask;
  readonly runs: Pick<EnvInput<typeof ImageBacktestTaskEnv>, 'RUNS_BUCKET' | 'IMAGE_ROLE_ID'>;
}

/** Prefix of the task that calls: the policy variable is the ID of its role, a colon and the ID of the task. */
const OWN_RUN = ['runs/$', '{aws:userid}/*'].join('');

/** Runs trials of one job on all its cores until the job has no more trials. */
export function hyperoptTask(scope: Construct, { config, data, image, common }: JobTasksProps): JobTask {
  const environment: TaskEnvironment<typeof HyperoptTaskEnv> = {
    ...common,
    ...storage(data),
    ...HYPEROPT_ALLOCATOR,
  };
  const task = new JobTask(scope, 'HyperoptTask', {
    config,
    image,
    environment,
    entry: 'hyperopt',
    flags: SANDBOX_FLAGS,
    ...config.hyperoptTask,
  });
  // Only hyperopt jobs with their trials and daily returns: a worker stores its results in the table and needs no backtest.
  allowTable(task.role, 'jobs', data.tables.jobs, ['GetItem', 'Query', 'PutItem', 'UpdateItem'], {
    keys: HYPEROPT_KEYS,
  });
  allowTrials(task.role, data.tables.jobs);
  allowCandles(task.role, data);
  return task;
}

/** Names of the storage of a backtest, as environment variables. */
export function storage({ tables, results, candles }: DataStack) {
  return {
    RESULTS_BUCKET: results.bucketName,
    CANDLES_BUCKET: candles.bucketName,
    JOBS_TABLE: tables.jobs.tableName,
    SERIES_TABLE: tables.series.tableName,
  };
}

/** Allows reading candles and recording corrupt files. */
function allowCandles(role: iam.IRole, { tables, candles }: DataStack): void {
  allowTable(role, 'series', tables.series, ['GetItem', 'BatchGetItem', 'PutItem', 'UpdateItem']);
  allowObjects(role, candles, ['GetObject']);
}
