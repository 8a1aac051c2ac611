import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { isTerminal } from '#contract/backtest.ts';
import { JOB_ROW_ATTRIBUTES } from '#contract/tables.ts';
import { type Caller, mayAccess, principalsOf } from '#domain/access.ts';
import type { JobFilter } from '#domain/ports.ts';
import { batchGet } from './batch-get.ts';
import { JobSharing, ListedJob, listPlace, listPosition } from './job-sharing.ts';
import { JOB_ITEM } from './stored-item.ts';

type Item = Record<string, unknown>;

export interface SeenJobsQuery {
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
export async function* seenJobs(query: SeenJobsQuery): AsyncGenerator<Item, void> {
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
function placesOf({ caller, kind, filter: { status } }: SeenJobsQuery): readonly Place[] {
  const principals = principalsOf(caller);
  if (!status) {
    return principals.map((principal) => ({ ...BY_SEER, value: `${principal}#${kind}`, open: false }));
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

const BY_SEER = { index: 'by-seer', key: 'seer_kind' };
const BY_STATUS = { index: 'by-seer-status', key: 'seer_kind_status' };

async function* readPlace(
  { client, table, filter: { experiment_name }, after, chunk }: SeenJobsQuery,
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
async function readJobs(query: SeenJobsQuery, rows: readonly Row[]): Promise<Item[]> {
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
