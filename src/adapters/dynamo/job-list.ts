import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { isTerminal, JOB_STATUSES, type JobStatus } from '#contract/backtests/backtest.ts';
import { JOB_LIST_LIMITS } from '#contract/values/job-limits.ts';
import { JOB_ROW_ATTRIBUTES, jobLists } from '#contract/values/tables.ts';
import { type Caller, mayAccess, principalsOf } from '#domain/access/access.ts';
import type {
  JobActivity,
  JobCount,
  JobFilter,
  JobPage,
  JobSearch,
  ListedJobRow,
  ReadSortValues,
} from '#domain/jobs/job-list-ports.ts';
import { afterOtherSearches } from '#domain/shared/search-work.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { countOf, type Searchable, scopeOfFacts, searchPage } from './job-search.ts';
import { JobSharing, ListedJob, listPosition, statusPartition } from './job-sharing.ts';
import { mergeSorted } from './merge-sorted.ts';
import { batchGet, type Item, JOB_ITEM } from './stored-items.ts';

type Position = { readonly job_id: string; readonly created_at: string };

const ENDED = JOB_STATUSES.filter(isTerminal);

/** Minimum number of rows per read of a filtered list. */
const FILTERED_PAGE = 300;
/** Rows per read of a list that is searched or counted: five concurrent reads of jobs. */
const SEARCHED_PAGE = 500;

/** The rows of the list of one kind of jobs. */
export interface JobRows<Row extends ListedJobRow> extends Searchable<Row> {
  readonly kind: string;
  /**
   * Attributes of a job that its row needs, in addition to those of {@link ListedJob} and of the indexes. Dots separate the names of a
   * path.
   */
  readonly attributes: readonly string[];
  /** List row of a job's item. */
  readonly toRow: (item: Item) => Row;
}

/** Lists of the jobs of one kind, newest first: all jobs, or those visible to a caller. */
export class JobList<Row extends ListedJobRow> implements JobActivity<Row> {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #type: JobRows<Row>;

  constructor(client: DynamoDBDocumentClient, table: string, type: JobRows<Row>) {
    this.#client = client;
    this.#table = table;
    this.#type = type;
  }

  /** @throws CodedError VAL006 for a cursor that is invalid or was made with another filter */
  async page(
    filter: JobFilter,
    limit: number,
    cursor: string | null,
    search?: JobSearch,
    sortValues?: ReadSortValues<Row>,
  ): Promise<JobPage<Row>> {
    const { status = null, experiment_name: experiment = null, strategy, visibleTo } = filter;
    const scope = {
      kind: this.#type.kind,
      status,
      experiment,
      ...(strategy !== undefined && { strategy }),
      ...(visibleTo && { visible_to: visibleTo.id }),
    };
    if (search) {
      const { q = null, sort = null, sort_order, pinned } = search;
      const pin = { ...(pinned !== undefined && { pinned: String(pinned) }) };
      // The names of filters and of parameters differ.
      const searchScope = { ...scopeOfFacts(search), ...scope, q, sort, sort_order, ...pin };
      const page = { limit, cursor, scope: searchScope, sortValues };
      const rows = this.#rows(filter, SEARCHED_PAGE);
      return afterOtherSearches(() => searchPage(rows, this.#type, search, page));
    }
    const [job_id = '', created_at = ''] = cursor === null ? [] : decodeCursor(cursor, scope, 2);
    const after = cursor === null ? undefined : { job_id, created_at };
    const unsearched = { searched: null, count: null };
    const rows: Row[] = [];
    // One item more than the limit shows that another page follows.
    for await (const row of this.#rows(filter, limit + 1, after)) {
      if (rows.length === limit) {
        const last = rows.at(-1)!;
        return { items: rows, next: encodeCursor([last.job_id, last.created_at], scope), ...unsearched };
      }
      rows.push(row);
    }
    return { items: rows, next: null, ...unsearched };
  }

  async count(filter: JobFilter): Promise<JobCount> {
    let counted = 0;
    for await (const _ of this.#items(filter, SEARCHED_PAGE)) {
      counted += 1;
      if (counted > JOB_LIST_LIMITS.counted) break;
    }
    return countOf(counted, counted <= JOB_LIST_LIMITS.counted);
  }

  async unfinished(caller: Caller | undefined, limit: number) {
    // The order of submission puts the running jobs of a caller first, whose partition has the pending ones too.
    const groups = caller ? ([['running']] as const) : ([['running'], ['pending']] as const);
    const entries: Entry[] = [];
    for (const statuses of groups) {
      const query = { ...this.#query({}, limit + 1), forward: true };
      const partitions = this.#partitions(caller, statuses);
      for await (const entry of inOrder(query, partitions)) {
        entries.push(entry);
        if (entries.length > limit) break;
      }
    }
    const rows = await this.#readRows(caller, entries.slice(0, limit));
    return { rows: rows.filter(({ status }) => !isTerminal(status)), complete: entries.length <= limit };
  }

  async submittedAfter(caller: Caller | undefined, after: string, limit: number) {
    const query = { ...this.#query({}, limit + 1), forward: true, since: after };
    const entries: Entry[] = [];
    for await (const entry of inOrder(
      query,
      partitionsOf(this.#type.kind, caller ? { visibleTo: caller } : {}),
    )) {
      entries.push(entry);
      if (entries.length > limit) break;
    }
    const rows = await this.#readRows(caller, entries.slice(0, limit));
    return { rows, next: entries.length > limit ? entries[limit - 1]!.position : null };
  }

  async rowsOf(caller: Caller | undefined, ids: readonly string[]): Promise<readonly Row[]> {
    const entries = ids.map((jobId) => ({ jobId, position: '', open: false }));
    return this.#readRows(caller, entries);
  }

  async ended(caller: Caller | undefined, limit: number): Promise<readonly Row[]> {
    const entries: Entry[] = [];
    const partitions = this.#partitions(caller, ENDED).filter(({ open }) => !open);
    for await (const entry of inOrder(this.#query({}, limit), partitions)) {
      if (entries.push(entry) === limit) break;
    }
    return this.#readRows(caller, entries);
  }

  async countEnded(caller: Caller | undefined, status: JobStatus): Promise<JobCount> {
    let counted = 0;
    const partitions = this.#partitions(caller, [status]).filter(({ open }) => !open);
    for await (const _ of inOrder(this.#query({}, JOB_LIST_LIMITS.counted + 1), partitions)) {
      counted += 1;
      if (counted > JOB_LIST_LIMITS.counted) break;
    }
    return countOf(counted, counted <= JOB_LIST_LIMITS.counted);
  }

  #partitions(caller: Caller | undefined, statuses: readonly JobStatus[]): readonly Partition[] {
    return statuses.flatMap((status) =>
      partitionsOf(this.#type.kind, { status, ...(caller && { visibleTo: caller }) }),
    );
  }

  async #readRows(caller: Caller | undefined, entries: readonly Entry[]): Promise<Row[]> {
    const items = await this.#read({ ...(caller && { visibleTo: caller }) }, entries);
    // A caller may name the job of another kind.
    return items.filter(({ kind }) => kind === this.#type.kind).map((item) => this.#type.toRow(item));
  }

  /** IDs of all jobs in a status, regardless of access. */
  async *ids(status: JobStatus): AsyncIterable<string> {
    const query = this.#query({}, FILTERED_PAGE);
    for await (const { jobId } of inOrder(query, listPartitions(this.#type.kind, status))) yield jobId;
  }

  /** Time at which the oldest job of a status was created, ISO 8601; undefined without one. */
  async oldest(status: JobStatus): Promise<string | undefined> {
    const query = { ...this.#query({}, 1), forward: true };
    const rows = listPartitions(this.#type.kind, status).map((partition) =>
      readPartition(query, partition).next(),
    );
    const positions = (await Promise.all(rows)).flatMap(({ value }) => (value ? [value.position] : []));
    return positions.sort()[0]?.split('#')[0];
  }

  async *#rows(filter: JobFilter, chunk: number, after?: Position): AsyncIterable<Row> {
    for await (const item of this.#items(filter, chunk, after)) yield this.#type.toRow(item);
  }

  /**
   * Items of the jobs that pass the filter, newest first, jobs of one time by ID. The indexes yield candidates. The jobs
   * themselves, read strongly consistent, determine access and content: a revoked grant takes effect immediately.
   */
  async *#items(filter: JobFilter, chunk: number, after?: Position): AsyncGenerator<Item, void> {
    const query = this.#query(filter, chunk, after);
    let entries: Entry[] = [];
    for await (const entry of inOrder(query, partitionsOf(this.#type.kind, filter))) {
      entries.push(entry);
      if (entries.length < query.chunk) continue;
      yield* await this.#read(filter, entries);
      entries = [];
    }
    yield* await this.#read(filter, entries);
  }

  /** Jobs of the entries that are visible to the caller and match the filter, in the order of the entries. */
  async #read(filter: JobFilter, entries: readonly Entry[]): Promise<Item[]> {
    const client = this.#client;
    const table = this.#table;
    const attributes = [...ATTRIBUTES, ...this.#type.attributes];
    const keys = entries.map(({ jobId }) => ({ job_id: jobId, item: JOB_ITEM }));
    const read = await batchGet({ client, table, keys, attributes, busy: 'DATA005' });
    const items = new Map(read.map((item) => [item.job_id, item]));
    const visible: Item[] = [];
    for (const { jobId, open } of entries) {
      const item = items.get(jobId);
      if (!item) continue;
      const job = ListedJob.parse(item);
      if (open && isTerminal(job.status)) await new JobSharing(client, table).settle(job);
      if (isListed(filter, job, item)) visible.push(item);
    }
    return visible;
  }

  #query(filter: JobFilter, chunk: number, after?: Position): PartitionQuery {
    const { visibleTo, experiment_name, strategy } = filter;
    return {
      client: this.#client,
      table: this.#table,
      equal: {
        ...(experiment_name !== undefined && { experiment_name }),
        // The rows of principals lack it.
        ...(strategy !== undefined && !visibleTo && { strategy }),
      },
      // Access to a row, and what its job is, is known after the read: a read of one page would often be short.
      chunk: strategy !== undefined && visibleTo ? Math.max(chunk, FILTERED_PAGE) : chunk,
      after,
    };
  }
}

/** True when the job passes the filter. A job that is being deleted is in no list. */
function isListed({ visibleTo, status, strategy }: JobFilter, job: ListedJob, item: Item): boolean {
  if (job.expired_at !== undefined) return false;
  if (status !== undefined && job.status !== status) return false;
  if (strategy !== undefined && item.strategy !== strategy) return false;
  return !visibleTo || mayAccess(visibleTo, job, 'read');
}

interface PartitionQuery {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  /** Only entries with these values. */
  readonly equal: Readonly<Record<string, string>>;
  /** Continues after this job. */
  readonly after: Position | undefined;
  /** Only positions after this one, in forward order. @default - all */
  readonly since?: string;
  /** Rows per read. */
  readonly chunk: number;
  /** Oldest first. @default - newest first */
  readonly forward?: boolean;
}

/** Entry of a list index. */
interface Entry {
  readonly jobId: string;
  readonly position: string;
  /** True when the entry's partition is that of open jobs. */
  readonly open: boolean;
}

/** Partitions of the lists of all jobs of a kind. */
function listPartitions(kind: string, status: JobStatus | undefined): readonly Partition[] {
  return jobLists(kind).map((list) => ({
    ...(status ? BY_LIST_STATUS : BY_LIST),
    value: status ? `${list}#${status}` : list,
    open: false,
  }));
}

/** Attributes of every row, and those that determine access. */
const ATTRIBUTES = [...new Set([...Object.keys(ListedJob.shape), ...JOB_ROW_ATTRIBUTES])];

/**
 * Index partitions to read. A caller's partitions of a status include that of open jobs: the rows of an ended job may still be
 * there.
 */
function partitionsOf(kind: string, { visibleTo, status }: JobFilter): readonly Partition[] {
  if (!visibleTo) return listPartitions(kind, status);
  const principals = principalsOf(visibleTo);
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
  { client, table, equal, after, since, chunk, forward = false }: PartitionQuery,
  { index, key, value, open }: Partition,
): AsyncGenerator<Entry, void> {
  const filters = Object.entries(equal);
  const filtered = filters.length > 0;
  let from: Item | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: index,
        ScanIndexForward: forward,
        KeyConditionExpression: `#key = :value${after ? ' AND #position < :after' : ''}${since ? ' AND #position > :since' : ''}`,
        ExpressionAttributeNames: {
          '#key': key,
          ...((after || since) && { '#position': 'position' }),
          ...Object.fromEntries(filters.map(([name]) => [`#${name}`, name])),
        },
        ExpressionAttributeValues: {
          ':value': value,
          ...(after && { ':after': listPosition(after) }),
          ...(since && { ':since': since }),
          ...Object.fromEntries(filters.map(([name, each]) => [`:${name}`, each])),
        },
        ...(filtered && { FilterExpression: filters.map(([name]) => `#${name} = :${name}`).join(' AND ') }),
        // The filter runs after the read, so a read of one page would often be short.
        Limit: filtered ? Math.max(chunk, FILTERED_PAGE) : chunk,
        ExclusiveStartKey: from,
      }),
    );
    for (const item of Items) {
      yield { jobId: String(item.job_id), position: String(item.position), open };
    }
    from = LastEvaluatedKey;
  } while (from);
}

/** Entries of all partitions in the order of the query; a job that is in several is returned once. */
async function* inOrder(
  query: PartitionQuery,
  partitions: readonly Partition[],
): AsyncGenerator<Entry, void> {
  const lists = partitions.map((partition) => readPartition(query, partition));
  const comesBefore = query.forward
    ? (one: Entry, other: Entry) => one.position < other.position
    : (one: Entry, other: Entry) => one.position > other.position;
  let last: string | undefined;
  for await (const entry of mergeSorted(lists, comesBefore)) {
    if (entry.position !== last) yield entry;
    last = entry.position;
  }
}
