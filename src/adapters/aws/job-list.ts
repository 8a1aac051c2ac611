import { type DynamoDBDocumentClient, paginateQuery, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { isTerminal } from '#contract/backtest.ts';
import { JOB_ROW_ATTRIBUTES } from '#contract/tables.ts';
import { type Caller, mayAccess, principalsOf } from '#domain/access.ts';
import type { JobFilter, Page } from '#domain/ports.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { JobSharing, ListedJob, listPosition, statusPartition } from './job-sharing.ts';
import { batchGet, type Item, JOB_ITEM } from './stored-items.ts';

type Position = { readonly job_id: string; readonly created_at: string };

/** Rows per read of a filtered list. The filter runs after the read, so a read of one page would often be short. */
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
  all(filter: Omit<JobFilter, 'visibleTo'>): AsyncIterable<Row> {
    return this.#all(filter, FILTERED_PAGE - 1);
  }

  #rows(filter: JobFilter, limit: number, after: Position | undefined): AsyncIterable<Row> {
    return filter.visibleTo
      ? this.#visible(filter.visibleTo, filter, limit, after)
      : this.#all(filter, limit, after);
  }

  async *#visible(
    caller: NonNullable<JobFilter['visibleTo']>,
    filter: JobFilter,
    limit: number,
    after: Position | undefined,
  ): AsyncIterable<Row> {
    const source = { client: this.#client, table: this.#table, kind: this.#kind };
    // One item more than the limit shows that another page follows.
    const query = { ...source, caller, filter, after, chunk: limit + 1 };
    for await (const item of listVisibleJobs(query)) yield this.#toRow(item);
  }

  /** Index rows after a position. */
  async *#all(
    { status, experiment_name: experiment }: JobFilter,
    limit: number,
    after?: Position,
  ): AsyncIterable<Row> {
    const index = status
      ? { name: 'by-kind-status', key: 'kind_status', value: `${this.#kind}#${status}` }
      : { name: 'by-kind', key: 'kind', value: this.#kind };
    const filtered = experiment !== undefined;
    const pages = paginateQuery(
      {
        client: this.#client,
        pageSize: filtered ? FILTERED_PAGE : limit + 1,
        ...(after && { startingToken: { ...after, item: JOB_ITEM, [index.key]: index.value } }),
      },
      {
        TableName: this.#table,
        IndexName: index.name,
        ScanIndexForward: false,
        KeyConditionExpression: '#key = :key',
        ExpressionAttributeNames: { '#key': index.key, ...(filtered && { '#name': 'experiment_name' }) },
        ExpressionAttributeValues: { ':key': index.value, ...(filtered && { ':name': experiment }) },
        ...(filtered && { FilterExpression: '#name = :name' }),
      },
    );
    for await (const { Items = [] } of pages) yield* Items.map(this.#toRow);
  }
}

interface VisibleJobsQuery {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly kind: string;
  readonly caller: Caller;
  readonly filter: Pick<JobFilter, 'status' | 'experiment_name'>;
  /** Continues after this job. */
  readonly after: Pick<ListedJob, 'job_id' | 'created_at'> | undefined;
  /** Jobs per read. */
  readonly chunk: number;
}

/** A row of a principal's list. */
interface Row {
  readonly jobId: string;
  readonly position: string;
  /** True when the row's partition is that of open jobs. */
  readonly open: boolean;
}

/** Attributes that a list shows, and those that determine access. */
const ATTRIBUTES = [...new Set([...Object.keys(ListedJob.shape), ...JOB_ROW_ATTRIBUTES])];

/**
 * Items of the jobs of a kind that are visible to a caller, newest first, jobs of one time by ID. The rows of the caller's
 * principals yield candidates. The jobs themselves, read strongly consistent, determine access and content: a revoked
 * grant takes effect immediately.
 */
async function* listVisibleJobs(query: VisibleJobsQuery): AsyncGenerator<Item, void> {
  let rows: Row[] = [];
  for await (const row of newestFirst(
    partitionsOf(query).map((partition) => readPartition(query, partition)),
  )) {
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

const BY_PRINCIPAL = { index: 'by-principal', key: 'principal_kind' };
const BY_STATUS = { index: 'by-principal-status', key: 'principal_kind_status' };

async function* readPartition(
  { client, table, filter: { experiment_name }, after, chunk }: VisibleJobsQuery,
  { index, key, value, open }: Partition,
): AsyncGenerator<Row, void> {
  const filtered = experiment_name !== undefined;
  let from: Item | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: index,
        ScanIndexForward: false,
        KeyConditionExpression: `#key = :value${after ? ' AND created_at < :after' : ''}`,
        ExpressionAttributeNames: { '#key': key },
        ExpressionAttributeValues: {
          ':value': value,
          ...(after && { ':after': listPosition(after) }),
          ...(filtered && { ':experiment': experiment_name }),
        },
        ...(filtered ? { FilterExpression: 'experiment_name = :experiment' } : { Limit: chunk }),
        ExclusiveStartKey: from,
      }),
    );
    for (const { job_id, created_at } of Items) {
      yield { jobId: String(job_id), position: String(created_at), open };
    }
    from = LastEvaluatedKey;
  } while (from);
}

/** Merges sorted lists; a job that is in several is returned once. */
async function* newestFirst(lists: readonly AsyncGenerator<Row, void>[]): AsyncGenerator<Row, void> {
  const heads = await Promise.all(lists.map((list) => list.next()));
  let last = '';
  for (;;) {
    const [next, row] = newest(heads);
    if (!row) return;
    if (row.position !== last) yield row;
    last = row.position;
    heads[next] = await lists[next]!.next();
  }
}

function newest(heads: readonly IteratorResult<Row, void>[]): [index: number, row: Row | undefined] {
  let found: [number, Row | undefined] = [-1, undefined];
  for (const [index, { value }] of heads.entries()) {
    if (value && (!found[1] || value.position > found[1].position)) found = [index, value];
  }
  return found;
}

/** Jobs of the rows that are visible to the caller and match the filter, in the order of the rows. */
async function readJobs(query: VisibleJobsQuery, rows: readonly Row[]): Promise<Item[]> {
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
