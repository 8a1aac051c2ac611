import { Aws, Duration, Stack } from 'aws-cdk-lib';
import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import * as events from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as sns from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Construct } from 'constructs';
import { METRICS_NAMESPACE } from '#contract/values/names.ts';
import { environmentOf, type StageConfig } from '../settings/config.ts';

export const FIVE_MINUTES = Duration.minutes(5);
export const sum = { statistic: 'Sum', period: FIVE_MINUTES };
export const p99 = { statistic: 'p99', period: FIVE_MINUTES };
export const maximum = { statistic: 'Maximum', period: FIVE_MINUTES };

/**
 * Three periods of five minutes in an hour. Consecutive periods would miss sparse traffic: a period without requests has no
 * data, which ends the sequence even if every request fails.
 */
export const THREE_IN_AN_HOUR = { periods: 3, among: 12 };

/** Sections of the dashboard, top to bottom: user-facing symptoms first. */
const SECTIONS = ['apis', 'jobs', 'challenges', 'marketData', 'functions', 'storage'] as const;
type Section = (typeof SECTIONS)[number];

/** Page: somebody is called at any hour, because users are cut off or waiting loses data. Ticket: the next working day is soon enough. */
export type Urgency = 'page' | 'ticket';

export interface AlarmProps {
  readonly urgency: Urgency;
  readonly metric: cloudwatch.IMetric;
  readonly threshold: number;
  /** @default - at or above the threshold */
  readonly comparison?: cloudwatch.ComparisonOperator;
  /** Periods of the metric that must breach. @default 1 */
  readonly periods?: number;
  /** Periods among which they are counted. @default - as many: they are consecutive */
  readonly among?: number;
  /** User impact while the alarm is active, one sentence. */
  readonly impact: string;
  /** Treatment of missing data. @default - not breaching */
  readonly missing?: cloudwatch.TreatMissingData;
}

/**
 * The stage's topics of alarms and its dashboard. Each construct declares here the alarms and graphs of what it creates, so that an alarm
 * is found next to the resource that it watches.
 */
export class Monitoring extends Construct {
  readonly #config: StageConfig;
  readonly #topics: Readonly<Record<Urgency, sns.ITopic>>;
  readonly #graphs = new Map<
    string,
    { readonly section: Section; readonly widget: cloudwatch.GraphWidget }
  >();

  constructor(scope: Construct, id: string, { config }: { readonly config: StageConfig }) {
    super(scope, id);
    this.#config = config;
    const page = this.#topic('Topic', config.alarmTopicArn, config.alarmEmail);
    this.#topics = { page, ticket: this.#ticketTopic(page) };
    if (config.monthlyBudgetUsd) this.#addBudget(config.monthlyBudgetUsd);
    if (config.alarms) this.#notifyOfScans();
  }

  /**
   * Reports severe vulnerabilities in the tasks' image, as ECR's basic scans and Amazon Inspector report them. Which
   * repositories are scanned is a setting of the account's registry, see docs/deploy.md.
   */
  #notifyOfScans(): void {
    const found = [{ numeric: ['>', 0] }];
    new events.Rule(this, 'ImageFindings', {
      description: 'Severe vulnerabilities in the image of the tasks',
      eventPattern: {
        source: ['aws.ecr', 'aws.inspector2'],
        detailType: ['ECR Image Scan', 'Inspector2 Scan'],
        detail: {
          // The repository of cdk bootstrap: its name in events of ECR, its ARN in those of Inspector.
          'repository-name': [{ wildcard: `*-container-assets-${Aws.ACCOUNT_ID}-${Aws.REGION}` }],
          'finding-severity-counts': { $or: [{ CRITICAL: found }, { HIGH: found }] },
        },
      },
      targets: [new SnsTopic(this.#topics.ticket)],
    });
  }

  /** Without a receiver of its own it has that of the other topic. */
  #ticketTopic(page: sns.ITopic): sns.ITopic {
    const { alarmTopicArn, alarmEmail, ticketTopicArn, ticketEmail } = this.#config;
    if (alarmTopicArn && !ticketTopicArn && !ticketEmail) return page;
    return this.#topic('TicketTopic', ticketTopicArn, ticketEmail ?? alarmEmail);
  }

  #topic(id: string, existing: string | undefined, email: string | undefined): sns.ITopic {
    if (existing) return sns.Topic.fromTopicArn(this, id, existing);
    const topic = new sns.Topic(this, id, { enforceSSL: true });
    // The policy added by enforceSSL replaces the default policy, which allows CloudWatch to publish.
    topic.addToResourcePolicy(
      new iam.PolicyStatement({
        principals: [
          new iam.ServicePrincipal('cloudwatch.amazonaws.com'),
          new iam.ServicePrincipal('budgets.amazonaws.com'),
        ],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
      }),
    );
    if (email) topic.addSubscription(new EmailSubscription(email));
    return topic;
  }

  /** Without a filter by tag: cost of untagged resources counts, and cost allocation tags need no activation. */
  #addBudget(usd: number): void {
    const notify = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
      notification: {
        notificationType,
        threshold,
        thresholdType: 'PERCENTAGE',
        comparisonOperator: 'GREATER_THAN',
      },
      subscribers: [{ subscriptionType: 'SNS', address: this.#topics.ticket.topicArn }],
    });
    const budget = new CfnBudget(this, 'Budget', {
      budget: { budgetType: 'COST', timeUnit: 'MONTHLY', budgetLimit: { amount: usd, unit: 'USD' } },
      notificationsWithSubscribers: [notify('ACTUAL', 80), notify('FORECASTED', 100)],
    });
    // AWS Budgets checks on creation that it may publish.
    budget.node.addDependency(this.#topics.ticket);
  }

  /**
   * Adds an alarm to the monitored construct. Its id names its entry in docs/runbook.md: `BackendErrors` -> `#backend-errors`.
   * A stage without alarms gets none.
   */
  alarm(watched: Construct, id: string, props: AlarmProps): void {
    if (!this.#config.alarms) return;
    const anchor = anchorOf(id);
    const periods = props.periods ?? 1;
    const alarm = new cloudwatch.Alarm(watched, id, {
      alarmName: `${Stack.of(this).stackName}-${anchor}`,
      alarmDescription: `${props.impact} Runbook: docs/runbook.md#${anchor}`,
      metric: props.metric,
      threshold: props.threshold,
      comparisonOperator:
        props.comparison ?? cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: props.among ?? periods,
      datapointsToAlarm: periods,
      treatMissingData: props.missing ?? cloudwatch.TreatMissingData.NOT_BREACHING,
    });
    const action = new SnsAction(this.#topics[props.urgency]);
    alarm.addAlarmAction(action);
    alarm.addOkAction(action);
  }

  /**
   * Adds an alarm that stops a deployment, see docs/runbook.md#deployment-stopped. It sends no notification: only CodeDeploy reads it,
   * and the failed update of the stack reports it.
   */
  brake(
    scope: Construct,
    id: string,
    { metric, impact }: Pick<AlarmProps, 'metric' | 'impact'>,
  ): cloudwatch.Alarm {
    return new cloudwatch.Alarm(scope, id, {
      alarmName: `${Stack.of(this).stackName}-${anchorOf(id)}`,
      alarmDescription: `${impact} Runbook: docs/runbook.md#deployment-stopped`,
      metric,
      threshold: 1,
      comparisonOperator: cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      evaluationPeriods: 1,
      treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
    });
  }

  /** Adds metrics to a section's graph of that title, a third of the dashboard wide; constructs may share a graph. */
  graph(section: Section, title: string, metrics: cloudwatch.IMetric[]): void {
    const graph = this.#graphs.get(title) ?? {
      section,
      widget: new cloudwatch.GraphWidget({ title, width: 8 }),
    };
    this.#graphs.set(title, graph);
    for (const metric of metrics) graph.widget.addLeftMetric(metric);
  }

  /** Adds the dashboard, once every construct has declared its graphs. */
  addDashboard(): void {
    new cloudwatch.Dashboard(this, 'Dashboard', {
      dashboardName: Stack.of(this).stackName,
      periodOverride: cloudwatch.PeriodOverride.AUTO,
      widgets: SECTIONS.map((section) =>
        [...this.#graphs.values()].filter((graph) => graph.section === section).map(({ widget }) => widget),
      ),
    });
  }

  /** Metric emitted by Touchstone's code: the total of a service in this stage. */
  serviceMetric(service: string, metricName: string, statistic: string): cloudwatch.Metric {
    const { instance } = this.#config;
    return new cloudwatch.Metric({
      namespace: METRICS_NAMESPACE,
      metricName,
      dimensionsMap: { service, stage: environmentOf(this.#config), ...(instance && { instance }) },
      statistic,
      period: FIVE_MINUTES,
    });
  }

  /** Namespace of the metrics from this stack's log metric filters. */
  get logMetricsNamespace(): string {
    return `${METRICS_NAMESPACE}/${Stack.of(this).stackName}`;
  }
}

/** `BackendErrors` -> `backend-errors`. */
function anchorOf(id: string): string {
  return id.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase();
}
