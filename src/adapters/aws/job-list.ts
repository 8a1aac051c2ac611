import { type DynamoDBDocumentClient, paginateQuery } from '@aws-sdk/lib-dynamodb';
import type { JobFilter, Page } from '#domain/ports.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { seenJobs } from './seen-jobs.ts';
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
    const { status = null, experiment_name: experiment = null, seenBy } = filter;
    const scope = { kind: this.#kind, status, experiment, ...(seenBy && { seen_by: seenBy.id }) };
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
  all(filter: Omit<JobFilter, 'seenBy'>): AsyncIterable<Row> {
    return this.#all(filter, FILTERED_PAGE - 1);
  }

  #rows(filter: JobFilter, limit: number, after: Position | undefined): AsyncIterable<Row> {
    return filter.seenBy ? this.#seen(filter.seenBy, filter, limit, after) : this.#all(filter, limit, after);
  }

  async *#seen(
    caller: NonNullable<JobFilter['seenBy']>,
    filter: JobFilter,
    limit: number,
    after: Position | undefined,
  ): AsyncIterable<Row> {
    const source = { client: this.#client, table: this.#table, kind: this.#kind };
    // One item more than the limit shows that another page follows.
    const query = { ...source, caller, filter, after, chunk: limit + 1 };
    for await (const item of seenJobs(query)) yield this.#toRow(item);
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
