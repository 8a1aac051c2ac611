import { type CfnResource, Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as codedeploy from 'aws-cdk-lib/aws-codedeploy';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { acknowledge } from '../parts/construct-helpers.ts';
import type { Monitoring } from '../parts/monitoring.ts';
import type { ServiceFunction } from '../parts/service-function.ts';
import type { StageConfig } from '../settings/config.ts';

export interface TrafficShiftProps {
  readonly shift: Exclude<StageConfig['trafficShift'], false>;
  readonly monitoring: Monitoring;
}

/**
 * Shifts the alias `live` of functions to a new version in two steps by CodeDeploy: first a part of the calls, then all. An error
 * of the new version stops the deployment, points the alias back and fails the stack's update.
 */
export class TrafficShift extends Construct {
  readonly #monitoring: Monitoring;
  readonly #shared: Pick<
    codedeploy.LambdaDeploymentGroupProps,
    'application' | 'role' | 'deploymentConfig' | 'autoRollback'
  >;

  constructor(scope: Construct, id: string, { shift, monitoring }: TrafficShiftProps) {
    super(scope, id);
    this.#monitoring = monitoring;
    const role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('codedeploy.amazonaws.com'),
    });
    acknowledge(role, {
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]':
        'The smallest policy that CodeDeploy documents for shifting traffic of functions.',
    });
    this.#shared = {
      application: new codedeploy.LambdaApplication(this, 'Application'),
      role,
      deploymentConfig: new codedeploy.LambdaDeploymentConfig(this, 'Canary', {
        trafficRouting: codedeploy.TrafficRouting.timeBasedCanary({
          percentage: shift.percent,
          interval: Duration.minutes(shift.minutes),
        }),
      }),
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    };
  }

  /** Adds a function. Its alias keeps its logical id, so its ARN does not change. */
  add(service: ServiceFunction): void {
    const group = new codedeploy.LambdaDeploymentGroup(this, service.name, {
      ...this.#shared,
      alias: service.alias,
      alarms: [this.#brake(service)],
    });
    // The brake must watch the new version before the first call reaches it. The update policy's reference to the group is not
    // documented to order the updates.
    const alias = service.alias.node.defaultChild as CfnResource;
    alias.addResourceDependency(group.node.defaultChild as CfnResource);
  }

  /**
   * Alarm on the first crash or logged error of the new version. The old version's errors do not count, so a
   * failure that was there before does not stop the deployment of its fix.
   */
  #brake({ name, alias, function: fn }: ServiceFunction): cloudwatch.Alarm {
    const version = alias.version.version;
    const { any, booleanValue, stringValue } = logs.FilterPattern;
    const perMinute = { statistic: 'Sum', period: Duration.minutes(1) };
    const errorLines = new logs.MetricFilter(this, `${name}Errors`, {
      logGroup: fn.logGroup,
      // A service returns a 5xx response without crashing and logs it as an error. The data proxy returns a safe result and logs a
      // failure that the caller did not cause as `upstream`.
      filterPattern: any(stringValue('$.level', '=', 'ERROR'), booleanValue('$.upstream', true)),
      metricNamespace: this.#monitoring.logMetricsNamespace,
      metricName: `${name}Errors`,
      dimensions: { version: '$.function_version' },
    });
    return this.#monitoring.brake(this, `${name}Brake`, {
      metric: new cloudwatch.MathExpression({
        expression: 'FILL(crashes, 0) + FILL(errors, 0)',
        usingMetrics: {
          crashes: fn.metricErrors({
            ...perMinute,
            dimensionsMap: {
              FunctionName: fn.functionName,
              Resource: `${fn.functionName}:${alias.aliasName}`,
              ExecutedVersion: version,
            },
          }),
          errors: errorLines.metric({ ...perMinute, dimensionsMap: { version } }),
        },
        period: perMinute.period,
        label: 'Errors of the new version',
      }),
      impact: `The new version of the function ${name} fails: CodeDeploy points the alias back.`,
    });
  }
}
