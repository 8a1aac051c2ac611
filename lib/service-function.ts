import type { Duration } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { StageConfig } from './config.ts';
import { defined, type Environment } from './environment.ts';
import { logGroup } from './log-group.ts';

export interface ServiceFunctionProps {
  readonly config: StageConfig;
  readonly description: string;
  readonly code: lambda.Code;
  readonly environment: Environment;
  readonly timeout: Duration;
  /** MiB. @default 1024 */
  readonly memorySize?: number;
  /** Executions at once, set aside from the account's for this function alone. @default - what the account has left */
  readonly concurrency?: number | undefined;
  /** @default - outside any network */
  readonly network?: {
    readonly vpc: ec2.IVpc;
    readonly subnets: readonly ec2.ISubnet[];
    readonly securityGroup: ec2.ISecurityGroup;
  };
}

/** The house's Lambda function: one runtime, one role of its own, one log, and the alias `live` that everyone calls. */
export class ServiceFunction extends Construct {
  readonly function: lambda.Function;
  readonly alias: lambda.Alias;
  readonly timeout: Duration;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    this.timeout = props.timeout;
    const log = logGroup(this, 'Log', props.config);
    this.function = new lambda.Function(this, 'Function', {
      description: props.description,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      memorySize: props.memorySize ?? 1024,
      timeout: props.timeout,
      reservedConcurrentExecutions: props.concurrency,
      handler: 'index.handler',
      code: props.code,
      environment: { NODE_OPTIONS: '--enable-source-maps', ...defined(props.environment) },
      role: this.#role(log, props.network !== undefined),
      logGroup: log,
      loggingFormat: lambda.LoggingFormat.JSON,
      systemLogLevelV2: lambda.SystemLogLevel.WARN,
      tracing: lambda.Tracing.ACTIVE,
      ...(props.network && {
        vpc: props.network.vpc,
        vpcSubnets: { subnets: [...props.network.subnets] },
        securityGroups: [props.network.securityGroup],
      }),
    });
    this.alias = new lambda.Alias(this, 'Live', {
      aliasName: 'live',
      version: this.function.currentVersion,
    });
  }

  /** Narrower than the managed policies: this log alone. */
  #role(log: { readonly logGroupArn: string }, inNetwork: boolean): iam.Role {
    const role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        Log: statement(['logs:CreateLogStream', 'logs:PutLogEvents'], [log.logGroupArn]),
        // In the role itself, not in a policy beside it: Lambda checks these before the function exists.
        ...(inNetwork && {
          Network: statement(
            [
              'ec2:CreateNetworkInterface',
              'ec2:DescribeNetworkInterfaces',
              'ec2:DescribeSubnets',
              'ec2:DeleteNetworkInterface',
              'ec2:AssignPrivateIpAddresses',
              'ec2:UnassignPrivateIpAddresses',
            ],
            ['*'],
          ),
        }),
      },
    });
    acknowledge(role, {
      'AwsSolutions-IAM5[Resource::*]': inNetwork
        ? 'X-Ray and the network interfaces of a function have no ARN that could be named beforehand.'
        : 'X-Ray writes segments without a resource: PutTraceSegments accepts no ARN.',
    });
    return role;
  }
}

function statement(actions: string[], resources: string[]): iam.PolicyDocument {
  return new iam.PolicyDocument({ statements: [new iam.PolicyStatement({ actions, resources })] });
}
