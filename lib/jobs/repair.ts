import { Aws, Duration, Names, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import type * as s3 from 'aws-cdk-lib/aws-s3';
import { CfnSchedule, CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import { Construct } from 'constructs';
import type { RepairEnv } from '#contract/env/env.ts';
import type { EnvInput } from '#contract/env/env-fields.ts';
import { retentionVariables } from '#contract/env/retention.ts';
import { METRICS } from '#contract/values/names.ts';
import { defined } from '../parts/construct-helpers.ts';
import { type Monitoring, sum } from '../parts/monitoring.ts';
import {
  allow,
  allowChallengeProcessing,
  allowExpiry,
  allowQueueChanges,
  allowTable,
  allowTasks,
  allowTrials,
} from '../parts/permissions.ts';
import { ServiceFunction } from '../parts/service-function.ts';
import type { StageConfig } from '../settings/config.ts';
import type { Flow } from './flow.ts';

/** Needs of a function that repairs or dispatches jobs. */
export interface JobRepairProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly code: lambda.Code;
  readonly environment: EnvInput<typeof RepairEnv>;
  readonly flows: { readonly backtest: Flow; readonly hyperopt: Flow };
  readonly cluster: ecs.ICluster;
  readonly jobs: dynamodb.ITableV2;
  readonly registry: dynamodb.ITableV2;
}

/** Allows measuring and changing the queue, starting and stopping executions, and recording results in the registry. */
export function allowJobRepairs(
  role: iam.IRole,
  { flows, cluster, jobs, registry }: Pick<JobRepairProps, 'flows' | 'cluster' | 'jobs' | 'registry'>,
): void {
  allowTable(role, 'jobs', jobs, ['GetItem', 'Query']);
  allowQueueChanges(role, jobs);
  // Those of cancelled and failed hyperopt jobs.
  allowTrials(role, jobs);
  // Validation results in versions, and challenge deadlines.
  allowChallengeProcessing(role, registry);
  for (const flow of [flows.backtest, flows.hyperopt]) flow.grantControl(role);
  allowTasks(role, cluster, ['StopTask']);
}

interface RepairProps extends JobRepairProps {
  readonly results: s3.IBucket;
}

/**
 * Measures the job queue and repairs jobs without an execution, every five minutes. Applies each challenge deadline when it
 * is reached, and every five minutes all due deadlines. Deletes jobs, results and trials that have expired.
 */
export class Repair extends Construct {
  readonly service: ServiceFunction;
  readonly schedules: Schedules;

  constructor(scope: Construct, id: string, props: RepairProps) {
    super(scope, id);
    this.service = new ServiceFunction(this, 'Service', {
      name: 'Repair',
      config: props.config,
      monitoring: props.monitoring,
      description: `Touchstone ${props.config.stage}: finishes lost jobs and applies challenge deadlines`,
      code: props.code,
      environment: {
        ...props.environment,
        ...defined(retentionVariables(props.config.retention)),
        RESULTS_BUCKET: props.results.bucketName,
      },
      // Ends before the next run starts, which processes what is left over.
      timeout: Duration.minutes(4),
    });
    allowJobRepairs(this.service.function.role!, props);
    allowExpiry(this.service.function.role!, props.jobs, props.results);
    this.schedules = new Schedules(this, 'Schedules', this.service.alias);
    this.schedules.every('EveryFiveMinutes', Duration.minutes(5), 'Finishes lost jobs, applies deadlines');
    this.#addAlarms(props.monitoring);
  }

  #addAlarms(monitoring: Monitoring): void {
    const oldestPending = monitoring.serviceMetric('repair', METRICS.oldestPendingSeconds, 'Maximum');
    const idle = monitoring.serviceMetric('repair', METRICS.queueIdleSeconds, 'Maximum');
    monitoring.alarm(this, 'QueueIdle', {
      urgency: 'page',
      metric: idle,
      threshold: Duration.minutes(15).toSeconds(),
      periods: 2,
      impact: 'Jobs wait and none of them starts: for 15 minutes no job was started although slots are free.',
    });
    const runs = this.service.function.metricInvocations({ ...sum, period: Duration.minutes(15) });
    monitoring.alarm(this, 'RepairStopped', {
      urgency: 'page',
      metric: runs,
      threshold: 1,
      comparison: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
      missing: cloudwatch.TreatMissingData.BREACHING,
      impact: 'Lost jobs are not finished: a job may stay `running` although its workflow has ended.',
    });
    const challengeErrors = monitoring.serviceMetric('repair', METRICS.challengeProcessingErrors, 'Sum');
    monitoring.alarm(this, 'ChallengeProcessingErrors', {
      urgency: 'ticket',
      metric: challengeErrors,
      threshold: 1,
      periods: 2,
      impact:
        'The deadlines of a challenge are not applied: only a trade or a call expires, holds or advances it.',
    });
    monitoring.graph('jobs', 'Oldest pending job and idle queue, s', [oldestPending, idle]);
    monitoring.graph('jobs', 'Runs of repair in 15 minutes', [runs]);
    monitoring.graph('jobs', 'Jobs that wait and that run', [
      monitoring.serviceMetric('repair', METRICS.waitingJobs, 'Maximum'),
      monitoring.serviceMetric('repair', METRICS.runningJobs, 'Maximum'),
    ]);
    monitoring.graph('challenges', 'Challenges that repair failed to process', [challengeErrors]);
  }
}

/** Schedules that invoke the repair function: one at regular intervals and one per challenge deadline. */
export class Schedules extends Construct {
  /** Group of the challenges' schedules. */
  readonly groupName: string;
  readonly role: iam.Role;
  readonly #target: lambda.IAlias;
  readonly #groupArn: string;

  constructor(scope: Construct, id: string, target: lambda.IAlias) {
    super(scope, id);
    this.#target = target;
    this.groupName = Names.uniqueResourceName(this, { maxLength: 64, separator: '-' });
    const group = new CfnScheduleGroup(this, 'Group', { name: this.groupName });
    this.#groupArn = this.#arnOf('schedule-group', this.groupName);
    this.role = new iam.Role(this, 'Role', {
      description: 'EventBridge Scheduler: invokes the repair function and nothing else',
      assumedBy: new iam.ServicePrincipal('scheduler.amazonaws.com', {
        // Scheduler accepts the ARN of a group here, not of a schedule.
        conditions: {
          StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID, 'aws:SourceArn': this.#groupArn },
        },
      }),
    });
    allow(this.role, { actions: ['lambda:InvokeFunction'], resources: [target.functionArn] });
    this.role.node.addDependency(group);
  }

  every(id: string, interval: Duration, description: string): void {
    const schedule = new CfnSchedule(this, id, {
      description,
      groupName: this.groupName,
      scheduleExpression: `rate(${interval.toMinutes()} minutes)`,
      flexibleTimeWindow: { mode: 'OFF' },
      target: {
        arn: this.#target.functionArn,
        roleArn: this.role.roleArn,
        input: '{}',
        // A missed run is not retried: the next one processes the same jobs.
        retryPolicy: { maximumEventAgeInSeconds: Duration.minutes(2).toSeconds(), maximumRetryAttempts: 2 },
      },
    });
    // On creation Scheduler checks that it can assume the role, so the policy must exist before.
    schedule.node.addDependency(this.role);
  }

  /** Allows a function to create challenge schedules: in this group, with this role. */
  allowCreating(role: iam.IRole): void {
    allow(role, {
      actions: ['scheduler:CreateSchedule'],
      resources: [this.#arnOf('schedule', `${this.groupName}/*`)],
      wildcard: 'A schedule is named after its challenge, which does not exist yet.',
    });
    allow(role, {
      actions: ['iam:PassRole'],
      resources: [this.role.roleArn],
      conditions: { StringEquals: { 'iam:PassedToService': 'scheduler.amazonaws.com' } },
    });
  }

  #arnOf(resource: string, resourceName: string): string {
    return Stack.of(this).formatArn({ service: 'scheduler', resource, resourceName });
  }
}
