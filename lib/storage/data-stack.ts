import { CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as s3 from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { CANARY_ID_PREFIX } from '#contract/backtests/backtest.ts';
import { type KeyAttribute, TABLES, type TableDefinition, type TableId } from '#contract/values/tables.ts';
import { removalPolicyOf, stackProps } from '../parts/construct-helpers.ts';
import { Identity } from '../parts/identity.ts';
import { FIVE_MINUTES, type Monitoring, sum } from '../parts/monitoring.ts';
import type { StageConfig } from '../settings/config.ts';
import { webOrigin } from '../settings/web-settings.ts';
import { Backups } from './backups.ts';

const pascal = (id: string) => id.charAt(0).toUpperCase() + id.slice(1);

/** All state: tables, objects and users. This stack does not depend on the platform stack. */
export class DataStack extends Stack {
  /** Tables that the platform uses: restored ones where the stage names them. */
  readonly tables: Readonly<Record<TableId, dynamodb.ITableV2>>;
  readonly results: s3.Bucket;
  readonly candles: s3.Bucket;
  /** Inputs and outputs of registered images, for seven days: code of others writes here and nowhere else. */
  readonly runs: s3.Bucket;
  readonly identity: Identity;

  constructor(scope: Construct, id: string, props: { readonly config: StageConfig }) {
    const { config } = props;
    super(scope, id, stackProps(config, 'tables, objects, users'));
    const removalPolicy = removalPolicyOf(config);
    const table = (name: TableId) => this.#table(name, TABLES[name], config.protect);
    const own = { jobs: table('jobs'), registry: table('registry'), series: table('series') };
    const used = (name: TableId) => this.#restored(name, config) ?? own[name];
    this.tables = { jobs: used('jobs'), registry: used('registry'), series: used('series') };

    const accessLog = this.#accessLog(config, removalPolicy);
    const bucket = (name: string, rules: s3.LifecycleRule[]) =>
      this.#bucket(name, [previousObjects(config), ...rules], accessLog, removalPolicy);
    // Objects are written once: a noncurrent version was deleted and can be restored.
    this.results = bucket('Results', [EXPIRING_EXPORTS, ...tiers(config), ...canaryResults(config)]);
    allowUploadsOf(webOrigin(config), this.results);
    // Every collection rewrites a month's file: an import can be undone while the previous version is kept.
    this.candles = bucket('Candles', []);
    // Longer than any execution: the platform has copied what it believes by then.
    this.runs = this.#bucket('Runs', [EXPIRING_RUNS], accessLog, removalPolicy, false);
    this.identity = new Identity(this, 'Identity', { config });
    for (const [name, { tableName }] of Object.entries(this.tables)) {
      new CfnOutput(this, `${pascal(name)}Table`, { value: tableName, description: `table ${name}` });
    }
    new CfnOutput(this, 'ResultsBucket', {
      value: this.results.bucketName,
      description: 'results of backtests',
    });
    if (config.backup) {
      const buckets = config.backup.buckets ? [this.results, this.candles] : [];
      new Backups(this, 'Backups', { config, tables: Object.values(this.tables), buckets });
    }
  }

  /** Adds the alarm on throttled tables to the stack of `monitoring`, on which this stack must not depend. */
  addThrottleAlarm(monitoring: Monitoring): void {
    const throttles = Object.entries(this.tables).flatMap(([name, table]) =>
      ['ReadThrottleEvents', 'WriteThrottleEvents'].map((event) => ({
        id: `${name}${event}`,
        metric: table.metric(event, sum),
      })),
    );
    const all = new cloudwatch.MathExpression({
      expression: throttles.map(({ id }) => `FILL(${id}, 0)`).join(' + '),
      usingMetrics: Object.fromEntries(throttles.map(({ id, metric }) => [id, metric])),
      period: FIVE_MINUTES,
      label: 'Throttled reads and writes',
    });
    monitoring.alarm(monitoring, 'TableThrottles', {
      urgency: 'page',
      metric: all,
      threshold: 10,
      periods: 2,
      impact: 'A table throttles reads or writes: requests are slow or fail, and jobs stop making progress.',
    });
    monitoring.graph('storage', 'Tables: throttled requests', [all]);
  }

  #table(name: TableId, table: TableDefinition, protect: boolean): dynamodb.TableV2 {
    return new dynamodb.TableV2(this, pascal(name), {
      partitionKey: attribute(table.partitionKey),
      sortKey: attribute(table.sortKey),
      ...(table.expires && { timeToLiveAttribute: table.expires }),
      globalSecondaryIndexes: table.indexes.map((index) => ({
        indexName: index.name,
        partitionKey: attribute(index.partitionKey),
        sortKey: attribute(index.sortKey),
        ...(index.include.length === 0
          ? { projectionType: dynamodb.ProjectionType.KEYS_ONLY }
          : { projectionType: dynamodb.ProjectionType.INCLUDE, nonKeyAttributes: [...index.include] }),
      })),
      // Events are derived from it.
      dynamoStream: dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
      billing: dynamodb.Billing.onDemand(),
      encryption: dynamodb.TableEncryptionV2.awsManagedKey(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: protect,
      // A creation that fails keeps it too: the rollback could not delete a protected table, and would fail. Its name is generated.
      removalPolicy: protect ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
  }

  /** Table that replaces one of this stack, which stays as it is. */
  #restored(id: TableId, { restoredTables, restoredStreams }: StageConfig): dynamodb.ITableV2 | undefined {
    const tableName = restoredTables[id];
    if (tableName === undefined) return undefined;
    const globalIndexes = TABLES[id].indexes.map(({ name }) => name);
    const tableStreamArn = restoredStreams[id];
    return dynamodb.TableV2.fromTableAttributes(this, `Restored${pascal(id)}`, {
      tableName,
      globalIndexes,
      ...(tableStreamArn !== undefined && { tableStreamArn }),
    });
  }

  #bucket(
    id: string,
    lifecycleRules: s3.LifecycleRule[],
    serverAccessLogsBucket: s3.IBucket,
    removalPolicy: RemovalPolicy,
    versioned = true,
  ): s3.Bucket {
    return new s3.Bucket(this, id, {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      encryption: s3.BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      versioned,
      serverAccessLogsBucket,
      serverAccessLogsPrefix: `${id.toLowerCase()}/`,
      lifecycleRules,
      removalPolicy,
    });
  }

  /** Log of object reads and writes. */
  #accessLog({ retention }: StageConfig, removalPolicy: RemovalPolicy): s3.Bucket {
    return new s3.Bucket(this, 'AccessLog', {
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      encryption: s3.BucketEncryption.S3_MANAGED,
      enforceSSL: true,
      lifecycleRules:
        retention.accessLog === null ? [] : [{ expiration: Duration.days(retention.accessLog) }],
      removalPolicy,
    });
  }
}

/**
 * Lets pages of the dashboard send signals to a presigned address, which is the permission. A browser asks for it with the signed
 * headers. Other origins, and reads, have no rule.
 */
function allowUploadsOf(origin: string | undefined, bucket: s3.Bucket): void {
  if (origin === undefined) return;
  bucket.addCorsRule({
    allowedOrigins: [origin],
    allowedMethods: [s3.HttpMethods.PUT],
    allowedHeaders: ['content-type', 'x-amz-checksum-sha256'],
  });
}

/** Deletes previous versions, and the marker of a deleted object once it has none. */
function previousObjects({ retention }: StageConfig): s3.LifecycleRule {
  return {
    noncurrentVersionExpiration: Duration.days(retention.previousObjects),
    abortIncompleteMultipartUploadAfter: Duration.days(1),
    expiredObjectDeleteMarker: true,
  };
}

/** Results of the canary expire as its jobs do, after a day. */
function canaryResults({ canary }: StageConfig): s3.LifecycleRule[] {
  return canary ? [{ prefix: `results/${CANARY_ID_PREFIX}`, expiration: Duration.days(1) }] : [];
}

/** Exports are made again on request: neither they nor their previous versions are kept. */
const EXPIRING_EXPORTS: s3.LifecycleRule = {
  prefix: 'exports/',
  expiration: Duration.days(1),
  noncurrentVersionExpiration: Duration.days(1),
};

/** Deletes inputs and outputs of registered images, and parts of what their code never finished. */
const EXPIRING_RUNS: s3.LifecycleRule = {
  expiration: Duration.days(7),
  abortIncompleteMultipartUploadAfter: Duration.days(1),
};

/** Smallest object that S3 Intelligent-Tiering moves between its tiers, bytes. */
const MIN_TIERED_BYTES = 128 * 1024;

function tiers({ tierResultsAfterDays: days }: StageConfig): s3.LifecycleRule[] {
  if (days === null) return [];
  return [
    {
      objectSizeGreaterThan: MIN_TIERED_BYTES - 1,
      transitions: [
        { storageClass: s3.StorageClass.INTELLIGENT_TIERING, transitionAfter: Duration.days(days) },
      ],
    },
  ];
}

function attribute({ name, type }: KeyAttribute): dynamodb.Attribute {
  return {
    name,
    type: type === 'S' ? dynamodb.AttributeType.STRING : dynamodb.AttributeType.NUMBER,
  };
}
