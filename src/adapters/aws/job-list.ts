import { type DynamoDBDocumentClient, paginateQuery, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { isTerminal } from '#contract/backtest.ts';
import { JOB_ROW_ATTRIBUTES } from '#contract/tables.ts';
import { type Caller, mayAccess, principalsOf } from '#domain/access.ts';
import type { JobFilter, Page } from '#domain/ports.ts';
import { batchGet } from './batch-get.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { JobSharing, ListedJob, listPlace, listPosition } from './job-sharing.ts';
import { JOB_ITEM } from './stored-item.ts';

type Item = Record<string, unknown>;
type Position = { readonly job_id: string; readonly created_at: string };

/** Rows a filtered list reads at once: a filter drops rows after they are read, so a page of the asked size would often be short. */
const FILTERED_PAGE = 300;

/** The lists of the jobs of one kind, newest first: all of them, or those that one caller sees. */
export class JobList<Row extends Position> {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #kind: string;
  readonly #toRow: (item: Item) => Row;

  /** @param toRow the row of an entry of the indexes of all jobs, or of a job's item */
  constructor(client: DynamoDBDocumentClient, table: string, kind: string, toRow: (item: Item) => Row) {
    this.#client = client;
    this.#table = table;
    this.#kind = kind;
    this.#toRow = toRow;
  }

  /** Throws VAL006 for a cursor that is broken or was made with another filter. */
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

  /** Every one, whoever sees it. */
  all(filter: Omit<JobFilter, 'visibleTo'>): AsyncIterable<Row> {
    return this.#all(filter, FILTERED_PAGE - 1);
  }

  #rows(filter: JobFilter, limit: number, after: Position | undefined): AsyncIterable<Row> {
    return filter.visibleTo
      ? this.#seen(filter.visibleTo, filter, limit, after)
      : this.#all(filter, limit, after);
  }

  async *#seen(
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
  /** Goes on after this job. */
  readonly after: Pick<ListedJob, 'job_id' | 'created_at'> | undefined;
  /** Jobs that are read at once. */
  readonly chunk: number;
}

/** A row of a principal's list. */
interface Row {
  readonly jobId: string;
  readonly position: string;
  /** Where the row was found is where jobs are that were not seen to end. */
  readonly open: boolean;
}

/** All that a list shows and that decides who sees it. */
const ATTRIBUTES = [...new Set([...Object.keys(ListedJob.shape), ...JOB_ROW_ATTRIBUTES])];

/**
 * The items of the jobs of a kind that a caller sees, newest first, those of one time by id. The caller's rows say where to look;
 * what is shown, and whether, is decided by the jobs themselves, strongly consistent: what is shared no more is not seen.
 */
async function* listVisibleJobs(query: VisibleJobsQuery): AsyncGenerator<Item, void> {
  let rows: Row[] = [];
  for await (const row of newestFirst(placesOf(query).map((place) => readPlace(query, place)))) {
    rows.push(row);
    if (rows.length < query.chunk) continue;
    yield* await readJobs(query, rows);
    rows = [];
  }
  yield* await readJobs(query, rows);
}

/** Parts of lists to read: by status also the open one, where a job is whose end did not get as far as its rows. */
function placesOf({ caller, kind, filter: { status } }: VisibleJobsQuery): readonly Place[] {
  const principals = principalsOf(caller);
  if (!status) {
    return principals.map((principal) => ({ ...BY_PRINCIPAL, value: `${principal}#${kind}`, open: false }));
  }
  const statuses = isTerminal(status) ? ([status, 'running'] as const) : (['running'] as const);
  return principals.flatMap((principal) =>
    statuses.map((each) => ({
      ...BY_STATUS,
      value: listPlace(principal, kind, each),
      open: !isTerminal(each),
    })),
  );
}

interface Place {
  readonly index: string;
  readonly key: string;
  readonly value: string;
  readonly open: boolean;
}

const BY_PRINCIPAL = { index: 'by-principal', key: 'principal_kind' };
const BY_STATUS = { index: 'by-principal-status', key: 'principal_kind_status' };

async function* readPlace(
  { client, table, filter: { experiment_name }, after, chunk }: VisibleJobsQuery,
  { index, key, value, open }: Place,
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

/** Lists merged into one; a job that is in several is met once. */
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

/** The jobs of those rows that the caller may see and that are as the filter wants them, in the order of the rows. */
async function readJobs(query: VisibleJobsQuery, rows: readonly Row[]): Promise<Item[]> {
  const { client, table, caller, filter } = query;
  const keys = rows.map(({ jobId }) => ({ job_id: jobId, item: JOB_ITEM }));
  const read = await batchGet({ client, table, keys, attributes: ATTRIBUTES, busy: 'DATA005' });
  const items = new Map(read.map((item) => [item.job_id, item]));
  const seen: Item[] = [];
  for (const { jobId, open } of rows) {
    const item = items.get(jobId);
    if (!item) continue;
    const job = ListedJob.parse(item);
    if (open && isTerminal(job.status)) await new JobSharing(client, table).settle(job);
    const wanted = !filter.status || job.status === filter.status;
    if (wanted && mayAccess(caller, job, 'read')) seen.push(item);
  }
  return seen;
}
