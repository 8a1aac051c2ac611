import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { isTerminal, type JobStatus } from '#contract/backtest.ts';
import { JOB_ROW_ATTRIBUTES, jobLists } from '#contract/tables.ts';
import { type Caller, mayAccess, principalsOf } from '#domain/access.ts';
import type { JobFilter, Page } from '#domain/ports.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { JobSharing, ListedJob, listPosition, statusPartition } from './job-sharing.ts';
import { mergeSorted } from './merge-sorted.ts';
import { batchGet, type Item, JOB_ITEM } from './stored-items.ts';

type Position = { readonly job_id: string; readonly created_at: string };

/** Minimum number of rows per read of a filtered list. */
const FILTERED_PAGE = 300;

/** Lists of the jobs of one kind, newest first: all jobs, or those visible to a caller. */
export class JobList<Row extends Position> {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #kind: string;
  readonly #toRow: (item: Item) => Row;

  /** @param toRow list row of an index entry, or of a job's item */
  constructor(client: DynamoDBDocumentClient, table: string, kind: string, toRow: (item: Item) => Row) {
    this.#client = client;
    this.#table = table;
    this.#kind = kind;
    this.#toRow = toRow;
  }

  /** @throws CodedError VAL006 for a cursor that is invalid or was made with another filter */
  async page(filter: JobFilter, limit: number, cursor: string | null): Promise<Page<Row>> {
    const { status = null, experiment_name: experiment = null, visibleTo } = filter;
    const scope = { kind: this.#kind, status, experiment, ...(visibleTo && { visible_to: visibleTo.id }) };
    const [job_id = '', created_at = ''] = cursor === null ? [] : decodeCursor(cursor, scope, 2);
    const after = cursor === null ? undefined : { job_id, created_at };
    const rows: Row[] = [];
    for await (const row of this.#rows(filter, limit, after)) {
      if (rows.length === limit) {
        const last = rows.at(-1)!;
        return { items: rows, next: encodeCursor([last.job_id, last.created_at], scope) };
      }
      rows.push(row);
    }
    return { items: rows, next: null };
  }

  /** All jobs, regardless of access. */
  async *all(filter: Omit<JobFilter, 'visibleTo'>): AsyncIterable<Row> {
    const query = this.#query(filter, FILTERED_PAGE, undefined);
    for await (const { item } of newestFirst(query, listPartitions(this.#kind, filter.status))) {
      yield this.#toRow(item);
    }
  }

  /** Time at which the oldest job of a status was created, ISO 8601; undefined without one. */
  async oldest(status: JobStatus): Promise<string | undefined> {
    const query = { ...this.#query({}, 1, undefined), forward: true };
    const rows = listPartitions(this.#kind, status).map((partition) =>
      readPartition(query, partition).next(),
    );
    const positions = (await Promise.all(rows)).flatMap(({ value }) => (value ? [value.position] : []));
    return positions.sort()[0]?.split('#')[0];
  }

  async *#rows(
    { visibleTo, ...filter }: JobFilter,
    limit: number,
    after: Position | undefined,
  ): AsyncIterable<Row> {
    // One item more than the limit shows that another page follows.
    const query = this.#query(filter, limit + 1, after);
    if (visibleTo) {
      const visible = listVisibleJobs({ ...query, kind: this.#kind, caller: visibleTo, filter });
      for await (const item of visible) yield this.#toRow(item);
      return;
    }
    for await (const { item } of newestFirst(query, listPartitions(this.#kind, filter.status))) {
      yield this.#toRow(item);
    }
  }

  #query(
    { experiment_name }: Pick<JobFilter, 'experiment_name'>,
    chunk: number,
    after: Position | undefined,
  ): PartitionQuery {
    return { client: this.#client, table: this.#table, experiment: experiment_name, chunk, after };
  }
}

interface PartitionQuery {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  /** Only jobs of this experiment; undefined: all. */
  readonly experiment: string | undefined;
  /** Continues after this job. */
  readonly after: Position | undefined;
  /** Rows per read. */
  readonly chunk: number;
  /** Oldest first. @default - newest first */
  readonly forward?: boolean;
}

interface VisibleJobsQuery extends PartitionQuery {
  readonly kind: string;
  readonly caller: Caller;
  readonly filter: Pick<JobFilter, 'status'>;
}

/** Entry of a list index. */
interface Entry {
  readonly jobId: string;
  readonly position: string;
  /** True when the entry's partition is that of open jobs. */
  readonly open: boolean;
  readonly item: Item;
}

/** Partitions of the lists of all jobs of a kind. */
function listPartitions(kind: string, status: JobStatus | undefined): readonly Partition[] {
  return jobLists(kind).map((list) => ({
    ...(status ? BY_LIST_STATUS : BY_LIST),
    value: status ? `${list}#${status}` : list,
    open: false,
  }));
}

/** Attributes that a list shows, and those that determine access. */
const ATTRIBUTES = [...new Set([...Object.keys(ListedJob.shape), ...JOB_ROW_ATTRIBUTES])];

/**
 * Items of the jobs of a kind that are visible to a caller, newest first, jobs of one time by ID. The rows of the caller's
 * principals yield candidates. The jobs themselves, read strongly consistent, determine access and content: a revoked
 * grant takes effect immediately.
 */
async function* listVisibleJobs(query: VisibleJobsQuery): AsyncGenerator<Item, void> {
  let rows: Entry[] = [];
  for await (const row of newestFirst(query, partitionsOf(query))) {
    rows.push(row);
    if (rows.length < query.chunk) continue;
    yield* await readJobs(query, rows);
    rows = [];
  }
  yield* await readJobs(query, rows);
}

/** Index partitions to read. With a status filter also that of open jobs: the rows of an ended job may still be there. */
function partitionsOf({ caller, kind, filter: { status } }: VisibleJobsQuery): readonly Partition[] {
  const principals = principalsOf(caller);
  if (!status) {
    return principals.map((principal) => ({ ...BY_PRINCIPAL, value: `${principal}#${kind}`, open: false }));
  }
  const statuses = isTerminal(status) ? ([status, 'running'] as const) : (['running'] as const);
  return principals.flatMap((principal) =>
    statuses.map((each) => ({
      ...BY_STATUS,
      value: statusPartition(principal, kind, each),
      open: !isTerminal(each),
    })),
  );
}

interface Partition {
  readonly index: string;
  readonly key: string;
  readonly value: string;
  readonly open: boolean;
}

const BY_LIST = { index: 'by-list', key: 'list' };
const BY_LIST_STATUS = { index: 'by-list-status', key: 'list_status' };
const BY_PRINCIPAL = { index: 'by-principal', key: 'principal_kind' };
const BY_STATUS = { index: 'by-principal-status', key: 'principal_kind_status' };

async function* readPartition(
  { client, table, experiment, after, chunk, forward = false }: PartitionQuery,
  { index, key, value, open }: Partition,
): AsyncGenerator<Entry, void> {
  const filtered = experiment !== undefined;
  let from: Item | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: index,
        ScanIndexForward: forward,
        KeyConditionExpression: `#key = :value${after ? ' AND #position < :after' : ''}`,
        ExpressionAttributeNames: { '#key': key, ...(after && { '#position': 'position' }) },
        ExpressionAttributeValues: {
          ':value': value,
          ...(after && { ':after': listPosition(after) }),
          ...(filtered && { ':experiment': experiment }),
        },
        ...(filtered && { FilterExpression: 'experiment_name = :experiment' }),
        // The filter runs after the read, so a read of one page would often be short.
        Limit: filtered ? Math.max(chunk, FILTERED_PAGE) : chunk,
        ExclusiveStartKey: from,
      }),
    );
    for (const item of Items) {
      yield { jobId: String(item.job_id), position: String(item.position), open, item };
    }
    from = LastEvaluatedKey;
  } while (from);
}

/** Entries of all partitions, newest first; a job that is in several is returned once. */
async function* newestFirst(
  query: PartitionQuery,
  partitions: readonly Partition[],
): AsyncGenerator<Entry, void> {
  const lists = partitions.map((partition) => readPartition(query, partition));
  let last: string | undefined;
  for await (const entry of mergeSorted(lists, (one, other) => one.position > other.position)) {
    if (entry.position !== last) yield entry;
    last = entry.position;
  }
}

/** Jobs of the rows that are visible to the caller and match the filter, in the order of the rows. */
async function readJobs(query: VisibleJobsQuery, rows: readonly Entry[]): Promise<Item[]> {
  const { client, table, caller, filter } = query;
  const keys = rows.map(({ jobId }) => ({ job_id: jobId, item: JOB_ITEM }));
  const read = await batchGet({ client, table, keys, attributes: ATTRIBUTES, busy: 'DATA005' });
  const items = new Map(read.map((item) => [item.job_id, item]));
  const visible: Item[] = [];
  for (const { jobId, open } of rows) {
    const item = items.get(jobId);
    if (!item) continue;
    const job = ListedJob.parse(item);
    if (open && isTerminal(job.status)) await new JobSharing(client, table).settle(job);
    const matches = !filter.status || job.status === filter.status;
    if (matches && mayAccess(caller, job, 'read')) visible.push(item);
  }
  return visible;
}
