import { Duration } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import type * as ecs from 'aws-cdk-lib/aws-ecs';
import * as events from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type * as z from 'zod';
import type { ReconcileEnv } from '#contract/env.ts';
import type { StageConfig } from './config.ts';
import { acknowledge } from './construct-helpers.ts';
import type { Flow } from './flow.ts';
import { type Monitoring, maximum } from './monitoring.ts';
import { allowChallengeProcessing, allowQueueChanges, allowTable, allowTasks } from './permissions.ts';
import { ServiceFunction } from './service-function.ts';

export interface DispatcherProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly code: lambda.Code;
  readonly environment: z.input<typeof ReconcileEnv>;
  readonly flows: { readonly backtest: Flow; readonly hyperopt: Flow };
  readonly cluster: ecs.ICluster;
  readonly jobs: dynamodb.ITableV2;
  readonly registry: dynamodb.ITableV2;
}

/** Time limit of one batch. Beyond it the messages are delivered again. */
const TIMEOUT = Duration.minutes(2);

/**
 * Starts waiting jobs. All triggers go through one queue: the ends of executions, which free slots, and a tick every
 * minute. Two readers at most handle it, so that dispatches rarely compete for a slot.
 */
export class Dispatcher extends Construct {
  readonly service: ServiceFunction;

  constructor(scope: Construct, id: string, props: DispatcherProps) {
    super(scope, id);
    const { backtest, hyperopt } = props.flows;
    this.service = new ServiceFunction(this, 'Service', {
      name: 'Dispatcher',
      config: props.config,
      monitoring: props.monitoring,
      description: `Touchstone ${props.config.stage}: starts waiting jobs`,
      code: props.code,
      environment: props.environment,
      timeout: TIMEOUT,
    });
    const role = this.service.function.role!;
    allowTable(role, 'jobs', props.jobs, ['GetItem', 'Query']);
    allowQueueChanges(role, props.jobs);
    // Records validation results in versions.
    allowChallengeProcessing(role, props.registry);
    for (const flow of [backtest, hyperopt]) flow.grantControl(role);
    allowTasks(role, props.cluster, ['StopTask']);
    const queue = this.#queue();
    this.service.alias.addEventSource(
      new SqsEventSource(queue, {
        batchSize: 100,
        maxBatchingWindow: Duration.seconds(1),
        maxConcurrency: 2,
      }),
    );
    this.#addTriggers(queue, [backtest.machine.stateMachineArn, hyperopt.machine.stateMachineArn]);
    this.#addAlarms(props.monitoring, queue);
  }

  #queue(): sqs.Queue {
    const queue = new sqs.Queue(this, 'Queue', {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // Six times the time limit, as Lambda recommends for its retries.
      visibilityTimeout: Duration.seconds(TIMEOUT.toSeconds() * 6),
      retentionPeriod: Duration.hours(1),
    });
    acknowledge(queue, { 'AwsSolutions-SQS3': 'The next tick does the work of a message that is lost.' });
    return queue;
  }

  #addTriggers(queue: sqs.Queue, stateMachineArn: string[]): void {
    const target = new SqsQueue(queue);
    new events.Rule(this, 'ExecutionEnded', {
      description: 'An execution that ended frees its slot',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { stateMachineArn, status: ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'] },
      },
      targets: [target],
    });
    new events.Rule(this, 'EveryMinute', {
      description: 'Starts waiting jobs and repairs slots',
      schedule: events.Schedule.rate(Duration.minutes(1)),
      targets: [target],
    });
  }

  #addAlarms(monitoring: Monitoring, queue: sqs.Queue): void {
    const age = queue.metricApproximateAgeOfOldestMessage(maximum);
    monitoring.alarm(this, 'DispatcherBehind', {
      metric: age,
      threshold: Duration.minutes(5).toSeconds(),
      periods: 2,
      impact: 'Waiting jobs start late or not at all: the dispatcher does not handle its queue.',
    });
    monitoring.graph('jobs', 'Dispatcher: oldest message, s', [age]);
  }
}
