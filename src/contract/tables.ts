/** DynamoDB tables with their keys and indexes: the source for local mode and for CDK. */

/**
 * Version of everything a local data folder stores: keys, attributes, object keys and file formats. Raise it with each
 * stored rename: a folder of another version is rejected at start.
 */
export const LAYOUT_VERSION = 2;

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

/** Attributes of a job that a list shows: an index row stays under 1 KB. The table's keys are always projected. */
export const JOB_ROW_ATTRIBUTES = [
  'status',
  'updated_at',
  'strategy',
  'experiment_name',
  'priority',
  'result',
  'trials',
  'error_summary',
] as const;

/** Attributes used to filter the access index before the jobs are loaded. */
const ACCESS_ROW_ATTRIBUTES = ['experiment_name'] as const;

/** Longest `error_summary`, characters. */
export const ERROR_SUMMARY_LENGTH = 300;

const stringKey = (name: string): KeyAttribute => ({ name, type: 'S' });

const jobsBy = (name: string, partitionKey: string, include: readonly string[]): IndexDefinition => ({
  name,
  partitionKey: stringKey(partitionKey),
  sortKey: stringKey('created_at'),
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
   * - `JOB`: the job, with `kind` and `kind_status` (`backtest#running`).
   * - `ACCESS#principal`: the job's row in that principal's list, with `principal_kind` and `principal_kind_status`. The status is
   *   `open` until the row records the job's end. `created_at` ends with the job's ID, so no two rows are equal.
   * - `TRIAL#000012`: a trial, in no index.
   */
  jobs: {
    partitionKey: stringKey('job_id'),
    sortKey: stringKey('item'),
    indexes: [
      jobsBy('by-kind', 'kind', JOB_ROW_ATTRIBUTES),
      jobsBy('by-kind-status', 'kind_status', JOB_ROW_ATTRIBUTES),
      jobsBy('by-principal', 'principal_kind', ACCESS_ROW_ATTRIBUTES),
      jobsBy('by-principal-status', 'principal_kind_status', ACCESS_ROW_ATTRIBUTES),
    ],
  },
  /** Models, versions, challenges, idempotency keys and the audit log. */
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
    ],
  },
  /**
   * Metadata of each candle series: `series` is the symbol, and the item has one attribute per timeframe. Other
   * partition keys:
   * - `exchange#months`: `series` is `symbol#timeframe`; the item holds the months and is written in one transaction
   *   with the item of the symbol
   * - `#collections`: `series` is the id of a collection, or `#queue`
   * - `exchange#instruments`: `series` is a symbol; the item holds its instrument
   */
  series: { partitionKey: stringKey('exchange'), sortKey: stringKey('series'), indexes: [] },
} as const satisfies Record<string, TableDefinition>;

export type TableId = keyof typeof TABLES;
/** The deployed name of each table. */
export type TableNames = Readonly<Record<TableId, string>>;
