import { Aws, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import type { StageConfig } from './config.ts';

export interface AlarmProps {
  readonly metric: cloudwatch.IMetric;
  readonly threshold: number;
  /** @default - at or above the threshold */
  readonly comparison?: cloudwatch.ComparisonOperator;
  /** Periods of the metric that must breach, in a row. @default 1 */
  readonly periods?: number;
  /** What its users lose while it rings, in a sentence. */
  readonly impact: string;
  /** What silence means. @default - that all is well */
  readonly missing?: cloudwatch.TreatMissingData;
}

/** One topic, one dashboard, and alarms that each say what is lost and where to read on. */
export class Monitoring extends Construct {
  readonly dashboard: cloudwatch.Dashboard;
  readonly #topic: sns.Topic;

  constructor(scope: Construct, id: string, props: { readonly config: StageConfig }) {
    super(scope, id);
    this.#topic = new sns.Topic(this, 'Topic', { enforceSSL: true });
    // The policy that enforceSSL brings replaces the default one, under which CloudWatch might publish.
    this.#topic.addToResourcePolicy(
      new iam.PolicyStatement({
        principals: [new iam.ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.#topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    if (props.config.alarmEmail) this.#topic.addSubscription(new EmailSubscription(props.config.alarmEmail));
    this.dashboard = new cloudwatch.Dashboard(this, 'Dashboard', {
      dashboardName: Stack.of(this).stackName,
      periodOverride: cloudwatch.PeriodOverride.AUTO,
    });
  }

  /** An alarm named like its entry in docs/runbook.md: `BackendErrors` -> `#backend-errors`. */
  alarm(id: string, props: AlarmProps): cloudwatch.Alarm {
    const anchor = id.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
    const periods = props.periods ?? 1;
    const alarm = new cloudwatch.Alarm(this, id, {
      alarmName: `${Stack.of(this).stackName}-${anchor}`,
      alarmDescription: `${props.impact} Runbook: docs/runbook.md#${anchor}`,
      metric: props.metric,
      threshold: props.threshold,
      comparisonOperator:
        props.comparison ?? cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: periods,
      datapointsToAlarm: periods,
      treatMissingData: props.missing ?? cloudwatch.TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(new SnsAction(this.#topic));
    alarm.addOkAction(new SnsAction(this.#topic));
    return alarm;
  }
}
