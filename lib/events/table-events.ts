import { Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as events from 'aws-cdk-lib/aws-events';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { EnvInput } from '#contract/env/env-fields.ts';
import type { TableEventsEnv } from '#contract/env/table-events-env.ts';
import { eventSource } from '#contract/values/event-types.ts';
import { APPROVAL_PARTITION, EVENT_LOG_PARTITION, type TableId } from '#contract/values/tables.ts';
import { stackOutputs } from '../parts/construct-helpers.ts';
import { deadLetterQueue } from '../parts/dead-letter-queue.ts';
import { FIVE_MINUTES, type Monitoring, sum } from '../parts/monitoring.ts';
import { allow, allowTable } from '../parts/permissions.ts';
import { ServiceFunction } from '../parts/service-function.ts';
import type { StageConfig } from '../settings/config.ts';

export interface TableEventsProps {
  readonly config: StageConfig;
  readonly monitoring: Monitoring;
  readonly tables: Readonly<Record<TableId, dynamodb.ITableV2>>;
  readonly code: lambda.Code;
  readonly environment: Omit<EnvInput<typeof TableEventsEnv>, 'JOBS_TABLE' | 'EVENT_BUS' | 'EVENT_SOURCE'>;
}

const ended = ['completed', 'failed', 'cancelled'];
const exists = [{ exists: true }];
const job = { eventName: ['MODIFY'], dynamodb: { Keys: { item: { S: ['JOB'] } } } };
const jobChange = (before: object, after: object) => ({
  ...job,
  dynamodb: { ...job.dynamodb, OldImage: before, NewImage: after },
});

/**
 * Records that may be events, by table: for others the function is not called. Most writes to the Jobs table are progress.
 * `src/domain/events/event-of-change.ts` decides about the rest.
 */
const EVENT_RECORDS: Readonly<Record<TableId, readonly object[]>> = {
  jobs: [
    jobChange({ status: { S: ['pending'] } }, { status: { S: ['running'] } }),
    jobChange({ status: { S: ['pending', 'running'] } }, { status: { S: ended } }),
    // The collection before the job has ended.
    jobChange({ status: { S: ['pending'] } }, { collection: { M: { at: { S: exists } } } }),
  ],
  registry: [
    { eventName: ['INSERT'], dynamodb: { Keys: { sk: { S: [{ prefix: 'EVENT#' }] } } } },
    { eventName: ['INSERT', 'MODIFY'], dynamodb: { Keys: { pk: { S: [APPROVAL_PARTITION] } } } },
  ],
  series: [
    {
      dynamodb: {
        Keys: { exchange: { S: ['#collections'] } },
        NewImage: { stored: { M: { status: { S: ['completed'] } } } },
      },
    },
    { dynamodb: { NewImage: { months: { S: exists } } } },
  ],
};

/** Attempts per batch, with growing pauses. Lambda halves a batch that fails, and queues a record that fails so often. */
const ATTEMPTS = 20;

/**
 * Events of the platform on an EventBridge bus. The streams of the tables are the outbox: a function reads them, adds the events to the
 * event log and puts them on the bus. Lambda's reads of the streams are free; those of EventBridge Pipes are not documented to be.
 */
export class TableEvents extends Construct {
  readonly bus: events.EventBus;
  /** CloudEvents' `source` of the events. */
  readonly source: string;
  readonly service: ServiceFunction;

  constructor(scope: Construct, id: string, props: TableEventsProps) {
    super(scope, id);
    const { config, monitoring, tables } = props;
    this.bus = new events.EventBus(this, 'Bus', { description: `Touchstone ${config.stage}: events` });
    const { account, region, stackName } = Stack.of(this);
    // Restored tables number their changes again: with the same source other events would have the ids of earlier ones.
    const [restored] = Object.values(config.restoredTables);
    const platform = [account, region, stackName, ...(restored ? [restored] : [])].join('/');
    this.source = eventSource(config.stage, platform);
    this.service = new ServiceFunction(this, 'Service', {
      name: 'TableEvents',
      config,
      monitoring,
      description: `Touchstone ${config.stage}: derives events from changes of the tables`,
      code: props.code,
      environment: {
        ...props.environment,
        JOBS_TABLE: tables.jobs.tableName,
        EVENT_BUS: this.bus.eventBusName,
        EVENT_SOURCE: this.source,
      },
      timeout: Duration.minutes(1),
      memorySize: 512,
      faultImpact: 'Events are late: Lambda sends the records of the tables again.',
    });
    const role = this.service.function.role!;
    allowTable(role, 'jobs', tables.jobs, ['PutItem'], { keys: [EVENT_LOG_PARTITION] });
    allow(role, { actions: ['events:PutEvents'], resources: [this.bus.eventBusArn] });
    // Lambda requires it of a function that reads streams, and IAM accepts no resource for it.
    allow(role, { actions: ['dynamodb:ListStreams'], resources: ['*'] });
    const lost = deadLetterQueue(this, 'LostRecords', monitoring, {
      id: 'EventsLost',
      // The records can be read for 24 hours.
      urgency: 'page',
      impact:
        'Changes of tables became no events: rules on the event bus and followers of the stream miss them.',
    });
    for (const table of Object.keys(EVENT_RECORDS) as TableId[]) this.#read(table, tables[table], lost);
    this.#addAlarms(props);
    stackOutputs(this, 'bus of the events', {
      EventBusName: this.bus.eventBusName,
      EventSource: this.source,
    });
  }

  #addAlarms({ config, monitoring, tables }: TableEventsProps): void {
    const runs = this.service.function.metricInvocations({ statistic: 'Sum', period: Duration.minutes(15) });
    // The canary's jobs are changes of the Jobs table. Elsewhere an hour without any is usual.
    if (config.canary) {
      monitoring.alarm(this, 'EventsStopped', {
        urgency: 'page',
        metric: runs,
        threshold: 1,
        comparison: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
        missing: cloudwatch.TreatMissingData.BREACHING,
        impact: 'Jobs run and no event is derived from them: webhooks and rules on the event bus are silent.',
      });
    }
    const silent = Object.values(tables).filter(({ tableStreamArn }) => tableStreamArn === undefined);
    if (silent.length > 0) {
      const writes = silent.map((table, at) => [
        `writes${at}`,
        table.metric('ConsumedWriteCapacityUnits', sum),
      ]);
      monitoring.alarm(this, 'EventsMissing', {
        urgency: 'page',
        metric: new cloudwatch.MathExpression({
          expression: writes.map(([id]) => `FILL(${id}, 0)`).join(' + '),
          usingMetrics: Object.fromEntries(writes),
          period: FIVE_MINUTES,
          label: 'Writes to restored tables without a known stream',
        }),
        threshold: 1,
        impact:
          'Restored tables change and no event is derived from them: webhooks and rules miss the changes.',
      });
    }
    monitoring.graph('functions', 'Runs of the function of events in 15 minutes', [runs]);
  }

  /** A restored table without a known stream has no events: an alarm and synthesis say so. */
  #read(id: TableId, { tableStreamArn: stream }: dynamodb.ITableV2, lost: sqs.Queue): void {
    if (stream === undefined) return;
    allow(this.service.function.role!, {
      actions: ['DescribeStream', 'GetRecords', 'GetShardIterator'].map((action) => `dynamodb:${action}`),
      resources: [stream],
    });
    this.service.alias.addEventSourceMapping(`${id}Stream`, {
      eventSourceArn: stream,
      startingPosition: lambda.StartingPosition.TRIM_HORIZON,
      batchSize: 100,
      bisectBatchOnError: true,
      retryAttempts: ATTEMPTS,
      onFailure: new SqsDlq(lost),
      filters: EVENT_RECORDS[id].map((pattern) => ({ pattern: JSON.stringify(pattern) })),
    });
  }
}
