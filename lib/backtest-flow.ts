import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ArnFormat, Stack } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as logs from 'aws-cdk-lib/aws-logs';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { StageConfig } from './config.ts';
import { allow, allowTable, allowTasks } from './grants.ts';
import type { JobTask } from './job-task.ts';
import { logGroup } from './log-group.ts';
import type { Network } from './network.ts';
import type { TaskImage } from './task-image.ts';

const DEFINITION = join(import.meta.dirname, '../statemachines/backtest.asl.json');

export interface BacktestFlowProps {
  readonly config: StageConfig;
  readonly cluster: ecs.ICluster;
  readonly network: Network;
  readonly dataProxy: lambda.IAlias;
  readonly taskImage: TaskImage;
  readonly collectTask: JobTask;
  readonly backtestTask: JobTask;
  readonly jobs: dynamodb.ITableV2;
}

/** The backtest state machine: the ASL file that also runs on one machine, with this stage's names in it. */
export class BacktestFlow extends Construct {
  readonly machine: sfn.StateMachine;
  readonly log: logs.LogGroup;

  constructor(scope: Construct, id: string, props: BacktestFlowProps) {
    super(scope, id);
    const stack = Stack.of(this);
    // Step Functions keeps one resource policy for all its logs unless their names begin like this.
    this.log = logGroup(this, 'Log', props.config, `/aws/vendedlogs/states/${stack.stackName}-backtest`);
    const role = new iam.Role(this, 'Role', { assumedBy: new iam.ServicePrincipal('states.amazonaws.com') });
    this.machine = new sfn.StateMachine(this, 'Machine', {
      definitionBody: sfn.DefinitionBody.fromString(readFileSync(DEFINITION, 'utf8')),
      definitionSubstitutions: this.#substitutions(props),
      role,
      tracingEnabled: true,
      logs: {
        destination: this.log,
        level: sfn.LogLevel.ALL,
        // Inputs name what researchers trade: outside of production only.
        includeExecutionData: !props.config.authRequired,
      },
    });
    this.#grant(role, props);
  }

  /** May start an execution, stop it, and ask how it is. */
  grantControl(role: iam.IRole): void {
    const { stateMachineArn, stateMachineName } = this.machine;
    const execution = Stack.of(this).formatArn({
      service: 'states',
      resource: 'execution',
      resourceName: `${stateMachineName}:*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    allow(role, { actions: ['states:StartExecution'], resources: [stateMachineArn] });
    allow(role, {
      actions: ['states:DescribeExecution', 'states:StopExecution'],
      resources: [execution],
      wildcard: 'An execution is named after its job, which does not exist yet.',
    });
  }

  #substitutions({ network, ...props }: BacktestFlowProps): Record<string, string> {
    const subnets = (name: string, [a, b]: Network['backtests']['subnets']) => ({
      [`${name}SubnetA`]: a!.subnetId,
      [`${name}SubnetB`]: b!.subnetId,
    });
    return {
      DataProxy: props.dataProxy.functionArn,
      TaskImage: props.taskImage.service.alias.functionArn,
      Cluster: props.cluster.clusterArn,
      CollectTask: props.collectTask.definition.taskDefinitionArn,
      BacktestTask: props.backtestTask.definition.taskDefinitionArn,
      TaskSecurityGroup: network.taskSecurityGroup.securityGroupId,
      ...subnets('Public', network.collectors.subnets),
      ...subnets('Backtest', network.backtests.subnets),
      BacktestPublicIp: network.backtests.assignPublicIp ? 'ENABLED' : 'DISABLED',
      JobsTable: props.jobs.tableName,
    };
  }

  /** A definition from a file brings no permissions: these are what its three services need, and no more. */
  #grant(role: iam.Role, props: BacktestFlowProps): void {
    const { cluster, collectTask, backtestTask, dataProxy, taskImage, jobs } = props;
    const definitions = [collectTask.definition, backtestTask.definition];
    allow(role, {
      actions: ['lambda:InvokeFunction'],
      resources: [dataProxy.functionArn, taskImage.service.alias.functionArn],
    });
    allowTable(role, 'jobs', jobs, ['UpdateItem']);
    allow(role, {
      actions: ['ecs:RunTask'],
      resources: [...definitions.map((each) => each.taskDefinitionArn), taskImage.definitions],
      conditions: { ArnEquals: { 'ecs:cluster': cluster.clusterArn } },
      wildcard: 'Definitions of registered images are made later; their family is the backtest’s.',
    });
    // Without StopTask a stopped execution would leave its task running, and costing.
    allowTasks(role, cluster, ['StopTask', 'DescribeTasks']);
    allowTasks(role, cluster, ['TagResource'], { StringEquals: { 'ecs:CreateAction': 'RunTask' } });
    allow(role, {
      actions: ['iam:PassRole'],
      resources: definitions.flatMap((each) => [each.taskRole.roleArn, each.obtainExecutionRole().roleArn]),
      conditions: { StringEquals: { 'iam:PassedToService': 'ecs-tasks.amazonaws.com' } },
    });
    // How Step Functions learns that a task has ended: a rule that it makes itself, under this name.
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
