import { Duration } from 'aws-cdk-lib';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as events from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { EnvInput } from '#contract/env/env-fields.ts';
import type { WebhooksEnv } from '#contract/env/webhooks-env.ts';
import { BUS_SOURCE } from '#contract/values/event-types.ts';
import {
  APPROVAL_PARTITION,
  DELIVERY_PREFIX,
  PENDING_DELIVERY_PREFIX,
  type TableId,
  WEBHOOK_PARTITION,
} from '#contract/values/tables.ts';
import { deadLetterQueue } from '../parts/dead-letter-queue.ts';
import { type Monitoring, maximum } from '../parts/monitoring.ts';
import { allowTable, BACKTEST_KEYS, HYPEROPT_KEYS } from '../parts/permissions.ts';
import { ServiceFunction } from '../parts/service-function.ts';
import type { StageConfig } from '../settings/config.ts';

export interface WebhooksProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly tables: Readonly<Record<TableId, dynamodb.ITableV2>>;
  readonly bus: events.IEventBus;
  readonly code: lambda.Code;
  readonly environment: Omit<
    EnvInput<typeof WebhooksEnv>,
    'JOBS_TABLE' | 'REGISTRY_TABLE' | 'WEBHOOK_QUEUE_URL'
  >;
}

/** Limit of one batch: turns of 10 s with a last request of 10 s. */
const TIMEOUT = Duration.minutes(1);
/** Concurrent batches. A turn is short, so slow receivers delay others by some turns only. */
const MAX_BATCHES = 20;
/** Times that a message is received before it is set aside: two hours. */
const ATTEMPTS = 20;

/**
 * Deliveries to webhooks. A rule of the bus sends all events to a queue. Its function stores the deliveries and attempts them. A delivery
 * that is due later is a delayed message of the same queue. The function is outside any network: it reaches the internet only.
 */
export class Webhooks extends Construct {
  readonly service: ServiceFunction;
  readonly queue: sqs.Queue;

  constructor(scope: Construct, id: string, props: WebhooksProps) {
    super(scope, id);
    const { config, monitoring, tables } = props;
    const lost = deadLetterQueue(this, 'LostMessages', monitoring, {
      id: 'WebhooksLost',
      urgency: 'ticket',
      impact: 'Events did not become deliveries of webhooks, or retries of a webhook have stopped.',
    });
    this.queue = new sqs.Queue(this, 'Queue', {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // Six times the time limit, as Lambda recommends for its retries.
      visibilityTimeout: Duration.seconds(TIMEOUT.toSeconds() * 6),
      retentionPeriod: Duration.days(4),
      deadLetterQueue: { queue: lost, maxReceiveCount: ATTEMPTS },
    });
    this.service = new ServiceFunction(this, 'Service', {
      name: 'Webhooks',
      config,
      monitoring,
      description: `Touchstone ${config.stage}: delivers events to webhooks`,
      code: props.code,
      environment: {
        ...props.environment,
        JOBS_TABLE: tables.jobs.tableName,
        REGISTRY_TABLE: tables.registry.tableName,
        WEBHOOK_QUEUE_URL: this.queue.queueUrl,
      },
      timeout: TIMEOUT,
      memorySize: 512,
      faultImpact: 'Deliveries to webhooks are late: the queue repeats its messages.',
    });
    this.service.alias.addEventSource(
      new SqsEventSource(this.queue, { batchSize: 10, maxConcurrency: MAX_BATCHES }),
    );
    this.#allow(tables);
    new events.Rule(this, 'Events', {
      description: 'Events that webhooks may receive',
      eventBus: props.bus,
      eventPattern: { source: [BUS_SOURCE] },
      // Events that the bus could not pass on within a day ring the same alarm.
      targets: [new SqsQueue(this.queue, { deadLetterQueue: lost })],
    });
    const age = this.queue.metricApproximateAgeOfOldestMessage(maximum);
    monitoring.graph('functions', 'Webhooks: oldest message, s', [age]);
  }

  #allow({ jobs, registry }: WebhooksProps['tables']): void {
    const role = this.service.function.role!;
    const [webhooks, deliveries, pending] = [
      WEBHOOK_PARTITION,
      `${DELIVERY_PREFIX}*`,
      `${PENDING_DELIVERY_PREFIX}*`,
    ];
    // Owners and grants of the jobs that events name.
    const jobKeys = [...BACKTEST_KEYS, ...HYPEROPT_KEYS];
    allowTable(role, 'jobs', jobs, ['GetItem'], { keys: [...jobKeys, webhooks, deliveries] });
    allowTable(role, 'jobs', jobs, ['Query'], { keys: [webhooks, pending] });
    allowTable(role, 'jobs', jobs, ['UpdateItem'], { keys: [webhooks] });
    allowTable(role, 'jobs', jobs, ['PutItem'], { keys: [deliveries, pending] });
    allowTable(role, 'jobs', jobs, ['DeleteItem'], { keys: [pending] });
    allowTable(role, 'registry', registry, ['GetItem'], {
      keys: ['MODEL#*', 'CHALLENGE#*', APPROVAL_PARTITION],
    });
    this.queue.grantSendMessages(role);
  }
}
