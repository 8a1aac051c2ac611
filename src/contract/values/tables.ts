/** DynamoDB tables with their keys and indexes: the source for local mode and for CDK. */

/**
 * Version of everything a local data folder stores: keys, attributes, object keys and file formats. Raise it with each
 * stored rename, and add the upgrade of each item to src/adapters/dynamo/upgrade-items.ts.
 */
export const LAYOUT_VERSION = 3;

/** Oldest layout that can be upgraded. Layout 1 was never part of a release. */
export const OLDEST_LAYOUT = 2;

export interface KeyAttribute {
  readonly name: string;
  readonly type: 'S' | 'N';
}

/** A global secondary index. It is sparse: an item without both keys is not in it. */
export interface IndexDefinition {
  readonly name: string;
  readonly partitionKey: KeyAttribute;
  readonly sortKey: KeyAttribute;
  /** Projected attributes. Empty: keys only. A later change needs a new index. */
  readonly include: readonly string[];
}

export interface TableDefinition {
  readonly partitionKey: KeyAttribute;
  readonly sortKey: KeyAttribute;
  readonly indexes: readonly IndexDefinition[];
  /** TTL attribute, unix seconds. Readers must check it too: DynamoDB deletes expired items within days. */
  readonly expires?: string;
}

/** Attributes of a job in the list indexes: an index row stays under 1 KB. The table's keys are always projected. Lists read the jobs. */
export const JOB_ROW_ATTRIBUTES = [
  'owner',
  'status',
  'created_at',
  'updated_at',
  'strategy',
  'experiment_name',
  'priority',
  'result',
  'trials',
  'error_summary',
  'queue',
] as const;

/** Attributes used to filter the access index before the jobs are loaded. */
const ACCESS_ROW_ATTRIBUTES = ['experiment_name'] as const;

/** Partitions of the list of one kind of jobs. */
const JOB_LIST_SHARDS = 4;

/** All partitions of the list of one kind of jobs. */
export function jobLists(kind: string): readonly string[] {
  return Array.from({ length: JOB_LIST_SHARDS }, (_, shard) => `${kind}#${shard}`);
}

/** Partition of the list that contains a job. */
export function jobListOf(kind: string, jobId: string): string {
  return `${kind}#${shardOf(jobId, JOB_LIST_SHARDS)}`;
}

/** Attribute whose values are the partitions of the list of all challenges. A platform starts far less than one a second. */
export const CHALLENGE_LIST_KEY = 'analysis_unit';

/** Partitions of the audit trail of one day. */
const AUDIT_SHARDS = 4;

/** All partitions of the audit trail of a day, `YYYY-MM-DD`. */
export function auditPartitions(day: string): readonly string[] {
  return Array.from({ length: AUDIT_SHARDS }, (_, shard) => `AUDIT#${day}#${shard}`);
}

/** Partition of the audit trail of a day that contains a call. */
export function auditPartitionOf(day: string, key: string): string {
  return `AUDIT#${day}#${shardOf(key, AUDIT_SHARDS)}`;
}

/** One of so many shards, always the same for a key: a single partition would take 1,000 writes per second. */
export function shardOf(key: string, shards: number): number {
  let hash = 0;
  for (let at = 0; at < key.length; at++) hash = (hash * 31 + key.charCodeAt(at)) % 65_521;
  return hash % shards;
}

/** Partition of the tables Registry and Series that holds the key of the cursors of their services. */
export const CURSOR_KEY_PARTITION = '#cursor-key';

/** Partition of the Jobs table that holds the event log. */
export const EVENT_LOG_PARTITION = '#events';

/** Prefix of the partitions of the Jobs table that hold the trials of users. */
export const TRIALS_PREFIX = '#trials#';
/** Partition of the Jobs table that holds the webhooks. */
export const WEBHOOK_PARTITION = '#webhooks';
/** Partition of the Jobs table that counts the webhooks that were ever created: each creation requires the number that it has read. */
export const WEBHOOK_COUNT_PARTITION = '#webhook-count';
/** Partitions of the Jobs table that hold the deliveries of a webhook, and those that wait for an attempt, end with its ID. */
export const DELIVERY_PREFIX = '#deliveries#';
export const PENDING_DELIVERY_PREFIX = '#pending#';

/** Partition of the Registry table that holds the requests for approval of all models, by ID. */
export const APPROVAL_PARTITION = 'APPROVALS';

/** Longest `error_summary`, characters. */
export const ERROR_SUMMARY_LENGTH = 300;

const stringKey = (name: string): KeyAttribute => ({ name, type: 'S' });

const jobsBy = (name: string, partitionKey: string, include: readonly string[]): IndexDefinition => ({
  name,
  partitionKey: stringKey(partitionKey),
  sortKey: stringKey('position'),
  include,
});

/**
 * Partitions are stages. The sort key is a string that begins with the sorted value and ends with the version: rows are
 * unique, and a page can begin after any of them. A row is one JSON string: it reads in a fifth of the time of a map, and
 * its content can change without a new index.
 */
const catalogBy = (name: string, sortKey: string): IndexDefinition => ({
  name,
  partitionKey: stringKey('catalog'),
  sortKey: stringKey(sortKey),
  include: ['catalog_row'],
});

export const TABLES = {
  /**
   * Values of `item`:
   * - `JOB`: the job. `list` (`backtest#3`) and `list_status` (`backtest#3#running`) are its partitions of its kind's lists,
   *   `position` is its place in them. While the job waits, `queue_key` (`backtest#alice`) is its partition of the queue.
   * - `ACCESS#principal`: the job's row in that principal's list, with `principal_kind`, `principal_kind_status` and `position`. The
   *   status is `open` until the row records the job's end.
   * - `EXPERIMENT#name`: the job's row in the list of its experiment, with `list` and `position`.
   * - `TRIAL#000012`: a trial, in no index.
   * - `SIGNALS`: an uploaded file of signals, in `list` `signals#0` and in `principal_kind` of its owner.
   *
   * Partitions `#owners#backtest` and `#slots#backtest` hold the owners who wait and the slots of a lane, `#costs#<digest>` the
   * measured cost of a strategy, `#experiments#<owner>` the experiments of a user, `#trials#<owner>` the trials of a user, `#deleted`
   * the jobs that users have deleted and whose data are still stored, `#retention` the progress of passes that delete expired jobs,
   * `#events` the event log, `#webhooks` the webhooks, `#deliveries#<webhook>` their deliveries, `#pending#<webhook>` those that wait
   * for an attempt. Only expired jobs, those of the canary, events and deliveries have `expires_at`.
   */
  jobs: {
    expires: 'expires_at',
    partitionKey: stringKey('job_id'),
    sortKey: stringKey('item'),
    indexes: [
      jobsBy('by-list', 'list', JOB_ROW_ATTRIBUTES),
      jobsBy('by-list-status', 'list_status', JOB_ROW_ATTRIBUTES),
      jobsBy('by-principal', 'principal_kind', ACCESS_ROW_ATTRIBUTES),
      jobsBy('by-principal-status', 'principal_kind_status', ACCESS_ROW_ATTRIBUTES),
      {
        name: 'by-queue',
        partitionKey: stringKey('queue_key'),
        sortKey: stringKey('queue_order'),
        include: ['priority', 'created_at', 'runs'],
      },
    ],
  },
  /** Models, versions, challenges, requests for approval, idempotency keys, the audit log, and `#cursor-key` of backend and strategy service. */
  registry: {
    expires: 'expires_at',
    partitionKey: stringKey('pk'),
    sortKey: stringKey('sk'),
    indexes: [
      catalogBy('catalog-by-name', 'catalog_name'),
      catalogBy('catalog-by-sharpe', 'catalog_sharpe'),
      catalogBy('catalog-by-drawdown', 'catalog_drawdown'),
      {
        name: 'active-challenges',
        partitionKey: stringKey('active_challenge'),
        sortKey: stringKey('created_at'),
        include: [],
      },
      {
        // Only challenges have this attribute, so the index also holds those stored before it was added.
        name: 'challenges',
        partitionKey: stringKey(CHALLENGE_LIST_KEY),
        sortKey: stringKey('created_at'),
        include: ['status'],
      },
    ],
  },
  /**
   * Metadata of each candle series: `series` is the symbol, and the item has one attribute per timeframe. Other
   * partition keys:
   * - `exchange#months`: `series` is `symbol#timeframe`; the item holds the months and is written in one transaction
   *   with the item of the symbol
   * - `#collections`: `series` is the id of a collection, or `#queue`
   * - `#collection-list`: `series` is the time of creation and the id of a collection, `<created_at>#<id>`
   * - `exchange#instruments`: `series` is a symbol; the item holds its instrument
   * - `exchange#instrument-history`: `series` is `symbol#time`; the item holds the instrument that became valid then
   * - `#cursor-key`: the key of the cursors of data collection in AWS
   */
  series: { partitionKey: stringKey('exchange'), sortKey: stringKey('series'), indexes: [] },
} as const satisfies Record<string, TableDefinition>;

export type TableId = keyof typeof TABLES;
/** The deployed name of each table. */
export type TableNames = Readonly<Record<TableId, string>>;
