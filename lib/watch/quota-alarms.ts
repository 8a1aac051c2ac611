import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { FIVE_MINUTES, type Monitoring, maximum, sum, THREE_IN_AN_HOUR } from '../parts/monitoring.ts';

/** Quotas of the account for which AWS publishes the use: `SERVICE_QUOTA` gives the account's own value. */
const QUOTAS = [
  {
    id: 'FargateQuota',
    urgency: 'ticket',
    used: 'onDemand',
    title: 'Fargate vCPU on demand',
    dimensions: { Service: 'Fargate', Resource: 'vCPU', Class: 'Standard/OnDemand' },
    impact:
      'Fargate runs at least 80 % of the vCPU on demand that the account may use: jobs will wait for capacity.',
  },
  {
    id: 'FargateSpotQuota',
    urgency: 'ticket',
    used: 'spot',
    title: 'Fargate vCPU on Spot',
    dimensions: { Service: 'Fargate', Resource: 'vCPU', Class: 'Standard/Spot' },
    impact:
      'Fargate runs at least 80 % of the vCPU on Spot that the account may use: jobs will start on demand, at three times the price.',
  },
  {
    id: 'FunctionQuota',
    urgency: 'page',
    used: 'functions',
    title: 'Lambda executions',
    dimensions: { Service: 'Lambda', Resource: 'ConcurrentExecutions', Class: 'None' },
    impact:
      'Lambda runs at least 80 % of the concurrent executions that the account may use: further requests are rejected.',
  },
] as const;

/** Share of a quota at which its alarm fires, percent. */
const THRESHOLD = 80;

/** Alarms on the account's quotas. They count everything in the account and region, not only this stage. */
export class QuotaAlarms extends Construct {
  constructor(scope: Construct, id: string, { monitoring }: { readonly monitoring: Monitoring }) {
    super(scope, id);
    for (const { id: alarm, urgency, used, title, dimensions, impact } of QUOTAS) {
      const use = new cloudwatch.Metric({
        namespace: 'AWS/Usage',
        metricName: 'ResourceCount',
        dimensionsMap: { ...dimensions, Type: 'Resource' },
        ...maximum,
      });
      const metric = new cloudwatch.MathExpression({
        expression: `100 * ${used} / SERVICE_QUOTA(${used})`,
        usingMetrics: { [used]: use },
        period: FIVE_MINUTES,
        label: `${title}, % of the quota`,
      });
      monitoring.alarm(this, alarm, { urgency, metric, threshold: THRESHOLD, periods: 2, impact });
      monitoring.graph('functions', 'Quotas in use, %', [metric]);
    }
    this.#alarmOnWorkflowThrottles(monitoring);
  }

  /** Step Functions publishes no use, only the calls and state transitions that it delayed or rejected. */
  #alarmOnWorkflowThrottles(monitoring: Monitoring): void {
    const metric = new cloudwatch.MathExpression({
      expression: 'FILL(starts, 0) + FILL(transitions, 0)',
      usingMetrics: {
        starts: new cloudwatch.Metric({
          namespace: 'AWS/States',
          metricName: 'ThrottledEvents',
          dimensionsMap: { APIName: 'StartExecution' },
          ...sum,
        }),
        transitions: sfn.StateTransitionMetric.metricThrottledEvents(sum),
      },
      period: FIVE_MINUTES,
      label: 'Throttled starts and state transitions',
    });
    monitoring.alarm(this, 'WorkflowThrottles', {
      urgency: 'ticket',
      metric,
      threshold: 1,
      ...THREE_IN_AN_HOUR,
      impact: 'Step Functions throttles the account: jobs start late and their workflows take longer.',
    });
    monitoring.graph('functions', 'Workflows: throttled', [metric]);
  }
}
