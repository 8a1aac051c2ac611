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
import type { Network, TaskPlacement } from './network.ts';

const DEFINITIONS = join(import.meta.dirname, '../statemachines');

/** What every flow needs: it asks the data proxy what is stored, collects what is not, runs a task, and writes the job. */
export interface FlowProps {
  readonly config: StageConfig;
  readonly cluster: ecs.ICluster;
  readonly network: Network;
  readonly dataProxy: lambda.IAlias;
  readonly collectTask: JobTask;
  readonly jobs: dynamodb.ITableV2;
}

interface FlowParts {
  /** `{file}.asl.json`, which also ends the name of its log. */
  readonly file: string;
  /** What it runs once there are candles. */
  readonly task: JobTask;
  /** Values of the names in the file that are its own. */
  readonly substitutions: Readonly<Record<string, string>>;
  /** Functions that it calls beside the data proxy. @default - none */
  readonly functions?: readonly lambda.IAlias[];
  /** Task definitions that are made later, as a pattern, and why they have to be. @default - none */
  readonly laterDefinitions?: { readonly pattern: string; readonly why: string };
}

/** A state machine that runs one kind of job: the ASL file that also runs on one machine, with this stage's names in it. */
export class Flow extends Construct {
  readonly machine: sfn.StateMachine;
  readonly log: logs.LogGroup;

  constructor(scope: Construct, id: string, props: FlowProps, parts: FlowParts) {
    super(scope, id);
    // Step Functions keeps one resource policy for all its logs unless their names begin like this.
    const logName = `/aws/vendedlogs/states/${Stack.of(this).stackName}-${parts.file}`;
    this.log = logGroup(this, 'Log', props.config, logName);
    const role = new iam.Role(this, 'Role', { assumedBy: new iam.ServicePrincipal('states.amazonaws.com') });
    const definition = readFileSync(join(DEFINITIONS, `${parts.file}.asl.json`), 'utf8');
    this.machine = new sfn.StateMachine(this, 'Machine', {
      definitionBody: sfn.DefinitionBody.fromString(definition),
      definitionSubstitutions: { ...commonSubstitutions(props), ...parts.substitutions },
      role,
      tracingEnabled: true,
      logs: {
        destination: this.log,
        level: sfn.LogLevel.ALL,
        // Inputs name what researchers trade: outside of production only.
        includeExecutionData: !props.config.authRequired,
      },
    });
    this.#grant(role, props, parts);
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

  /** A definition from a file brings no permissions: these are what its three services need, and no more. */
  #grant(role: iam.Role, props: FlowProps, { task, functions = [], laterDefinitions }: FlowParts): void {
    const { cluster, collectTask, dataProxy, jobs } = props;
    const definitions = [collectTask.definition, task.definition];
    allow(role, {
      actions: ['lambda:InvokeFunction'],
      resources: [dataProxy, ...functions].map((each) => each.functionArn),
    });
    allowTable(role, 'jobs', jobs, ['UpdateItem']);
    allow(role, {
      actions: ['ecs:RunTask'],
      resources: [
        ...definitions.map((each) => each.taskDefinitionArn),
        ...(laterDefinitions ? [laterDefinitions.pattern] : []),
      ],
      conditions: { ArnEquals: { 'ecs:cluster': cluster.clusterArn } },
      wildcard: laterDefinitions?.why,
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

/** A task's place, under the names that a definition has for it. */
export function placement(name: string, { subnets, assignPublicIp }: TaskPlacement): Record<string, string> {
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
