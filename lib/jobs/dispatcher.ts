import { Duration } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { acknowledge } from '../parts/construct-helpers.ts';
import { type Monitoring, maximum } from '../parts/monitoring.ts';
import { ServiceFunction } from '../parts/service-function.ts';
import { allowJobRepairs, type JobRepairProps } from './repair.ts';

/** Time limit of one batch. Beyond it the messages are delivered again. */
const TIMEOUT = Duration.minutes(2);

/**
 * Starts waiting jobs. All triggers go through one queue: the ends of executions, which free slots, and a tick every
 * minute. Two readers at most handle it, so that dispatches rarely compete for a slot.
 */
export class Dispatcher extends Construct {
  readonly service: ServiceFunction;

  constructor(scope: Construct, id: string, props: JobRepairProps) {
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
    allowJobRepairs(this.service.function.role!, props);
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
      urgency: 'page',
      metric: age,
      threshold: Duration.minutes(5).toSeconds(),
      periods: 2,
      impact: 'Waiting jobs start late or not at all: the dispatcher does not handle its queue.',
    });
    monitoring.graph('jobs', 'Dispatcher: oldest message, s', [age]);
  }
}
