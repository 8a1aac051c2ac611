import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { METRICS } from '#contract/values/names.ts';
import { acknowledge, logGroup, stackSuffix } from '../parts/construct-helpers.ts';
import { FIVE_MINUTES, type Monitoring, sum } from '../parts/monitoring.ts';
import type { Network, TaskPlacement } from '../parts/network.ts';
import { allow, allowTable, allowTasks, BACKTEST_KEYS, HYPEROPT_KEYS } from '../parts/permissions.ts';
import type { StageConfig } from '../settings/config.ts';
import type { FastLane } from './fast-lane.ts';
import type { RegisteredImages } from './registered-images.ts';
import type { JobTask } from './tasks.ts';

const DEFINITIONS = join(import.meta.dirname, '../../statemachines');

/** Resources of both workflows, which query the data proxy, collect missing candles, run a task and update the job. */
export interface FlowProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly cluster: ecs.ICluster;
  readonly network: Network;
  readonly dataProxy: lambda.IAlias;
  readonly collectTask: JobTask;
  readonly jobs: dynamodb.ITableV2;
}

interface FlowParts {
  /** Base name of `{file}.asl.json` and suffix of the log group's name. */
  readonly file: string;
  /** Patterns of the IDs of its jobs. */
  readonly jobKeys: readonly string[];
  /** Task that runs after the candles are stored. */
  readonly task: JobTask;
  /** Values of the parameters that only this file has. */
  readonly substitutions: Readonly<Record<string, string>>;
  /** Functions called in addition to the data proxy. @default - none */
  readonly functions?: readonly lambda.IAlias[];
  /**
   * ARN pattern of task definitions that are registered after deployment, the reason, and the task whose roles they have.
   * @default - none
   */
  readonly laterDefinitions?: { readonly pattern: string; readonly why: string; readonly roles: JobTask };
}

/** State machine of one kind of job: the ASL file that local mode runs too, with this stage's names in it. */
export abstract class Flow extends Construct {
  readonly machine: sfn.StateMachine;
  readonly #monitoring: Monitoring;
  readonly #log: logs.LogGroup;

  constructor(scope: Construct, id: string, props: FlowProps, parts: FlowParts) {
    super(scope, id);
    // Step Functions keeps one resource policy for all its logs unless their names begin like this.
    const logName = `/aws/vendedlogs/states/${Stack.of(this).stackName}-${parts.file}-${stackSuffix(this)}`;
    this.#monitoring = props.monitoring;
    this.#log = logGroup(this, 'Log', props.config, { logGroupName: logName });
    const role = new iam.Role(this, 'Role', { assumedBy: new iam.ServicePrincipal('states.amazonaws.com') });
    const definition = readFileSync(join(DEFINITIONS, `${parts.file}.asl.json`), 'utf8');
    this.machine = new sfn.StateMachine(this, 'Machine', {
      definitionBody: sfn.DefinitionBody.fromString(definition),
      definitionSubstitutions: { ...commonSubstitutions(props), ...parts.substitutions },
      role,
      tracingEnabled: true,
      logs: {
        destination: this.#log,
        level: sfn.LogLevel.ALL,
        // Inputs contain the pairs and parameters of users, so they are logged only where anyone may read them.
        includeExecutionData: props.config.openAccess,
      },
    });
    this.#grant(role, props, parts);
  }

  /** Allows a role to start, stop and describe executions. */
  grantControl(role: iam.IRole): void {
    const { stateMachineArn, stateMachineName } = this.machine;
    const execution = Stack.of(this).formatArn({
      service: 'states',
      resource: 'execution',
      resourceName: `${stateMachineName}:*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    allow(role, {
      actions: ['states:StartExecution', 'states:ListExecutions'],
      resources: [stateMachineArn],
    });
    allow(role, {
      actions: ['states:DescribeExecution', 'states:StopExecution'],
      resources: [execution],
      wildcard: 'An execution is named after its job, which does not exist yet.',
    });
  }

  /**
   * Counts executions that enter one of these states, from the log.
   *
   * @param states states of one type, to which `event` belongs
   */
  protected countEntries(metricName: string, event: string, states: readonly string[]): cloudwatch.Metric {
    const { stringValue, any, all } = logs.FilterPattern;
    return new logs.MetricFilter(this, `${metricName}Filter`, {
      logGroup: this.#log,
      filterPattern: all(
        stringValue('$.type', '=', event),
        any(...states.map((state) => stringValue('$.details.name', '=', state))),
      ),
      metricNamespace: this.#monitoring.logMetricsNamespace,
      metricName,
      defaultValue: 0,
    }).metric(sum);
  }

  /** Adds the alarm on executions that failed or timed out, and the graph of all executions. */
  protected alarmOnFailures(id: string, title: string, impact: string): void {
    const failures = new cloudwatch.MathExpression({
      expression: 'FILL(failed, 0) + FILL(timedOut, 0)',
      usingMetrics: { failed: this.machine.metricFailed(sum), timedOut: this.machine.metricTimedOut(sum) },
      period: FIVE_MINUTES,
      label: 'Executions failed or timed out',
    });
    this.#monitoring.alarm(this, id, { urgency: 'ticket', metric: failures, threshold: 1, impact });
    this.#monitoring.graph('jobs', title, [
      this.machine.metricStarted(sum),
      this.machine.metricSucceeded(sum),
      failures,
    ]);
  }

  /** CDK grants nothing for a definition from a file: these are the permissions of its three services. */
  #grant(role: iam.Role, props: FlowProps, parts: FlowParts): void {
    const { task, jobKeys, functions = [], laterDefinitions } = parts;
    const { cluster, collectTask, dataProxy, jobs } = props;
    const tasks = [collectTask, task];
    const definitions = [...tasks, ...(laterDefinitions ? [laterDefinitions.roles] : [])].map(
      (each) => each.definition,
    );
    allow(role, {
      actions: ['lambda:InvokeFunction'],
      resources: [dataProxy, ...functions].map((each) => each.functionArn),
    });
    allowTable(role, 'jobs', jobs, ['UpdateItem'], { keys: jobKeys });
    allow(role, {
      actions: ['ecs:RunTask'],
      resources: [
        ...tasks.map((each) => each.revisions),
        ...(laterDefinitions ? [laterDefinitions.pattern] : []),
      ],
      conditions: { ArnEquals: { 'ecs:cluster': cluster.clusterArn } },
      wildcard: `Executions that a deployment overtakes start earlier revisions.${laterDefinitions ? ` ${laterDefinitions.why}` : ''}`,
    });
    // Without StopTask a stopped execution would leave its task running.
    allowTasks(role, cluster, ['StopTask', 'DescribeTasks']);
    allowTasks(role, cluster, ['TagResource'], { StringEquals: { 'ecs:CreateAction': 'RunTask' } });
    allow(role, {
      actions: ['iam:PassRole'],
      resources: definitions.flatMap((each) => [each.taskRole.roleArn, each.obtainExecutionRole().roleArn]),
      conditions: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
    });
    // Step Functions creates this rule to receive the end of a task.
    const rule = {
      service: 'events',
      resource: 'rule',
      resourceName: 'StepFunctionsGetEventsForECSTaskRule',
    };
    allow(role, {
      actions: ['events:PutTargets', 'events:PutRule', 'events:DescribeRule'],
      resources: [Stack.of(this).formatArn(rule)],
    });
    acknowledge(role, {
      'AwsSolutions-IAM5[Resource::*]':
        'Log delivery and X-Ray, which CDK grants for logging and tracing, accept no resource.',
    });
  }
}

export interface BacktestFlowProps extends FlowProps {
  readonly images: RegisteredImages;
  readonly fastLane: FastLane;
  readonly backtestTask: JobTask;
}

/** The backtest state machine: one task, from the platform's image or a registered version's. */
export class BacktestFlow extends Flow {
  constructor(scope: Construct, id: string, props: BacktestFlowProps) {
    const { images, fastLane, backtestTask, network, monitoring } = props;
    const { taskImage, imageRun } = images;
    super(scope, id, props, {
      file: 'backtest',
      jobKeys: BACKTEST_KEYS,
      task: backtestTask,
      substitutions: {
        TaskImage: taskImage.service.alias.functionArn,
        ImageRun: imageRun.service.alias.functionArn,
        BacktestFunction: fastLane.backtest.alias.functionArn,
        CollectFunction: fastLane.collect.alias.functionArn,
        BacktestTask: backtestTask.definition.taskDefinitionArn,
        ...placement('Backtest', network.backtests),
      },
      functions: [
        taskImage.service.alias,
        imageRun.service.alias,
        fastLane.backtest.alias,
        fastLane.collect.alias,
      ],
      laterDefinitions: {
        pattern: taskImage.definitions,
        why: 'Task definitions of registered images are created at run time.',
        roles: images.task,
      },
    });
    const taskFailures = this.countEntries('BacktestTaskFailures', 'TaskStateEntered', ['MarkFailed']);
    monitoring.alarm(this, 'BacktestTaskFailures', {
      urgency: 'ticket',
      metric: taskFailures,
      threshold: 1,
      impact: 'A valid backtest failed: its task could not be started or did not run to its end.',
    });
    this.alarmOnFailures(
      'WorkflowFailures',
      'Backtests: executions',
      'A backtest lost its workflow: its researcher sees `running` until repair marks it failed.',
    );
    monitoring.graph('jobs', 'Backtests: task failures', [taskFailures]);
  }
}

export interface HyperoptFlowProps extends FlowProps {
  readonly hyperoptTask: JobTask;
}

/** The hyperopt state machine: as many concurrent workers as the job requests, each on Spot first. */
export class HyperoptFlow extends Flow {
  constructor(scope: Construct, id: string, props: HyperoptFlowProps) {
    const { hyperoptTask, network, monitoring } = props;
    super(scope, id, props, {
      file: 'hyperopt',
      jobKeys: HYPEROPT_KEYS,
      task: hyperoptTask,
      substitutions: {
        HyperoptTask: hyperoptTask.definition.taskDefinitionArn,
        ...placement('Worker', network.backtests),
      },
    });
    const workersLost = this.countEntries('HyperoptWorkersLost', 'PassStateEntered', [
      'WorkerRetriesExhausted',
      'OutOfMemory',
      'WorkersFailed',
    ]);
    monitoring.alarm(this, 'HyperoptWorkersLost', {
      urgency: 'ticket',
      metric: workersLost,
      threshold: 1,
      impact:
        'A hyperopt job lost a worker: it continues with the others or in a new execution, and fails after five without a finished trial.',
    });
    this.alarmOnFailures(
      'HyperoptWorkflowFailures',
      'Hyperopt: executions',
      'A hyperopt job lost its workflow or all of its workers: it resumes when repair starts another execution.',
    );
    const stalled = monitoring.serviceMetric('repair', METRICS.longestStallSeconds, 'Maximum');
    monitoring.alarm(this, 'HyperoptStalled', {
      urgency: 'ticket',
      metric: stalled,
      threshold: Duration.hours(2).toSeconds(),
      periods: 2,
      impact: 'A hyperopt job is running, and none of its trials has finished for over two hours.',
    });
    monitoring.graph('jobs', 'Hyperopt: workers lost', [workersLost]);
    monitoring.graph('jobs', 'Hyperopt: longest time without a finished trial, s', [stalled]);
  }
}

/** Subnets of a task, by the parameter names of a definition. */
function placement(name: string, { subnets, assignPublicIp }: TaskPlacement): Record<string, string> {
  const [a, b] = subnets;
  return {
    [`${name}SubnetA`]: a!.subnetId,
    [`${name}SubnetB`]: b!.subnetId,
    [`${name}PublicIp`]: assignPublicIp ? 'ENABLED' : 'DISABLED',
  };
}

function commonSubstitutions({ network, ...props }: FlowProps): Record<string, string> {
  const [a, b] = network.collectors.subnets;
  return {
    DataProxy: props.dataProxy.functionArn,
    Cluster: props.cluster.clusterArn,
    CollectTask: props.collectTask.definition.taskDefinitionArn,
    TaskSecurityGroup: network.taskSecurityGroup.securityGroupId,
    PublicSubnetA: a!.subnetId,
    PublicSubnetB: b!.subnetId,
    JobsTable: props.jobs.tableName,
  };
}
