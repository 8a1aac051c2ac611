import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { StageConfig } from '../settings/config.ts';
import { acknowledge, defined, type Environment, logGroup } from './construct-helpers.ts';
import { type Monitoring, maximum, p99, sum, THREE_IN_AN_HOUR } from './monitoring.ts';

export interface ServiceFunctionProps {
  /** Prefix of its alarms: `Backend` -> `BackendFunctionFaults`. */
  readonly name: string;
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly description: string;
  readonly code: lambda.Code;
  /** @default 'index.handler' */
  readonly handler?: string;
  readonly environment: Environment;
  readonly timeout: Duration;
  /** MiB. @default 1024 */
  readonly memorySize?: number;
  /** Reserved concurrent executions. @default - none: shared with the account's other functions */
  readonly concurrency?: number | undefined;
  /** Value whose change publishes a version of the same code and template. @default - none */
  readonly revision?: string;
  /** @default - outside any network */
  readonly network?: {
    readonly vpc: ec2.IVpc;
    readonly subnets: readonly ec2.ISubnet[];
    readonly securityGroup: ec2.ISecurityGroup;
  };
  /** Streams its responses: the duration of a call depends on the client, so it has no alarm. @default false */
  readonly streams?: boolean;
  /** Impact of its crashes and throttles, if callers have another way. @default - callers get errors */
  readonly faultImpact?: string;
  /** Alarm on calls that take nearly as long as the time limit. @default true */
  readonly slowAlarm?: boolean;
}

/** Touchstone's Lambda function: one runtime, a separate role, one log, and the alias `live` that all callers use. */
export class ServiceFunction extends Construct {
  readonly function: lambda.Function;
  readonly alias: lambda.Alias;
  /** Prefix of its alarms. */
  readonly name: string;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    this.name = props.name;
    const log = logGroup(this, 'Log', props.config);
    this.function = new lambda.Function(this, 'Function', {
      description: props.description,
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      memorySize: props.memorySize ?? 1024,
      timeout: props.timeout,
      reservedConcurrentExecutions: props.concurrency,
      // A rollback points the alias at an earlier version, so a deployment keeps them. One that fails deletes its own: the rollback
      // must not choose it, and Lambda publishes no second version of the same code when the deployment is repeated.
      currentVersionOptions: {
        removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        // CloudFormation replaces a version, which is to publish one, when its description changes.
        ...(props.revision !== undefined && { description: props.revision }),
      },
      handler: props.handler ?? 'index.handler',
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
    this.#addAlarms(props);
  }

  /** Sets a value whose change publishes a version, as `revision` does. */
  revise(revision: string): void {
    const version = this.function.currentVersion.node.defaultChild as lambda.CfnVersion;
    version.description = revision;
  }

  #addAlarms({ name, monitoring, timeout, streams = false, ...props }: ServiceFunctionProps): void {
    const errors = this.function.metricErrors(sum);
    const throttles = this.function.metricThrottles(sum);
    monitoring.alarm(this, `${name}FunctionFaults`, {
      // Two crashes are no outage: the alarms of the APIs, the queue and the canary report one.
      urgency: 'ticket',
      metric: new cloudwatch.MathExpression({
        // A function whose every call is throttled has no `Errors`: without FILL the sum would have no data.
        expression: 'FILL(errors, 0) + FILL(throttles, 0)',
        usingMetrics: { errors, throttles },
        // An hour, which slides by the minute: rare calls count too.
        period: Duration.hours(1),
        label: 'Crashes and throttles in an hour',
      }),
      threshold: 2,
      impact:
        props.faultImpact ??
        `The function ${name} crashes or is throttled: its callers get errors without Touchstone's error body.`,
    });
    if (streams) {
      const concurrent = this.function.metric('ConcurrentExecutions', maximum);
      monitoring.graph('functions', 'Concurrent event streams', [concurrent]);
      monitoring.graph('functions', 'Event streams: errors and throttles', [errors, throttles]);
      return;
    }
    if (props.slowAlarm ?? true) {
      monitoring.alarm(this, `${name}FunctionSlow`, {
        urgency: 'ticket',
        metric: this.function.metricDuration(maximum),
        threshold: timeout.toMilliseconds() * 0.9,
        ...THREE_IN_AN_HOUR,
        impact: `The function ${name} uses over 90 % of its time limit: beyond the limit its callers get no response.`,
      });
    }
    monitoring.graph('functions', 'Function durations, ms', [this.function.metricDuration(p99)]);
    monitoring.graph('functions', 'Function errors', [errors]);
  }

  /** Allows writing to this log only, unlike the managed policies. */
  #role(log: { readonly logGroupArn: string }, inNetwork: boolean): iam.Role {
    const role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        Log: statement(['logs:CreateLogStream', 'logs:PutLogEvents'], [log.logGroupArn]),
        // Inline in the role, not a separate policy: Lambda checks these before the function exists.
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
