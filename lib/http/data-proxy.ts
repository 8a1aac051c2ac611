import { CfnOutput, Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as ssm from 'aws-cdk-lib/aws-ssm';
import { Construct } from 'constructs';
import type { DataProxyEnv } from '#contract/env/env.ts';
import type { EnvInput } from '#contract/env/env-fields.ts';
import { METRICS } from '#contract/values/names.ts';
import { FIVE_MINUTES, type Monitoring, THREE_IN_AN_HOUR } from '../parts/monitoring.ts';
import { ServiceFunction, type ServiceFunctionProps } from '../parts/service-function.ts';
import type { StageConfig } from '../settings/config.ts';
import { proxyParameterName } from '../settings/stage-names.ts';

export interface DataProxyProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly code: lambda.Code;
  readonly environment: EnvInput<typeof DataProxyEnv>;
  /** See ServiceFunctionProps. */
  readonly revision?: string;
  /** @default - outside any network: data collection is reached over the internet */
  readonly network?: NonNullable<ServiceFunctionProps['network']> & {
    readonly securityGroup: ec2.SecurityGroup;
  };
}

/** The data-collection proxy, callable as its alias `live` by this deployment and by trusted callers. */
export class DataProxy extends Construct {
  readonly service: ServiceFunction;

  constructor(scope: Construct, id: string, props: DataProxyProps) {
    super(scope, id);
    const { config, monitoring } = props;
    this.service = new ServiceFunction(this, 'Service', {
      name: 'DataProxy',
      config,
      monitoring,
      description: `Touchstone ${config.stage}: forwards five operations to data collection`,
      code: props.code,
      environment: props.environment,
      ...(props.revision !== undefined && { revision: props.revision }),
      memorySize: 512,
      concurrency: config.proxyConcurrency,
      // Callers expect it (docs/calling-the-proxy.md).
      timeout: Duration.seconds(60),
      network: props.network,
    });
    const { alias } = this.service;
    for (const caller of config.trustedCallers) {
      alias.grantInvoke(
        caller.startsWith('arn:') ? new iam.ArnPrincipal(caller) : new iam.AccountPrincipal(caller),
      );
    }
    if (config.trustedOrganization) {
      alias.grantInvoke(new iam.OrganizationPrincipal(config.trustedOrganization));
    }
    new CfnOutput(this, 'Arn', {
      value: alias.functionArn,
      description: 'Invoke this from another account or workflow',
    });
    new ssm.StringParameter(this, 'ArnParameter', {
      parameterName: proxyParameterName(config),
      stringValue: alias.functionArn,
      description: 'The data proxy, for callers in other stacks',
    });
    this.#addAlarms(monitoring);
  }

  #addAlarms(monitoring: Monitoring): void {
    const requests = monitoring.serviceMetric('data-proxy', METRICS.proxyRequests, 'Sum');
    const errors = monitoring.serviceMetric('data-proxy', METRICS.proxyErrors, 'Sum');
    const upstreamErrors = monitoring.serviceMetric('data-proxy', METRICS.proxyUpstreamErrors, 'Sum');
    monitoring.alarm(this, 'ProxyErrors', {
      urgency: 'ticket',
      // Without the errors of callers: one client that sends invalid requests is not an outage.
      metric: new cloudwatch.MathExpression({
        expression: 'FILL(upstreamErrors, 0) / requests',
        usingMetrics: { requests, upstreamErrors },
        period: FIVE_MINUTES,
        label: 'Ratio of calls that data collection failed',
      }),
      threshold: 0.1,
      ...THREE_IN_AN_HOUR,
      impact:
        'Market data does not respond: every backtest collects its candles first, and symbols cannot be listed.',
    });
    monitoring.graph('marketData', 'Proxy calls', [requests, errors, upstreamErrors]);
    monitoring.graph('marketData', 'Proxy latency, ms', [
      monitoring.serviceMetric('data-proxy', METRICS.proxyLatency, 'p99'),
    ]);
  }
}
