import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateQuery,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import type { CollectionOutcome, JobStatus } from '#contract/backtest.ts';
import { STUDY_KIND, type StoredStudy, type StudyIn, type StudyOutcome } from '#contract/hyperopt.ts';
import type { StudyRow, StudyStore } from '#domain/hyperopt/study-ports.ts';
import type { JobFilter, Page } from '#domain/ports.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { summariseError } from './job-item.ts';
import { JobSharing } from './job-sharing.ts';
import { type JobChange, updateOf } from './job-update.ts';
import { fromAttributes, studyKey, toStudy, toStudyItem, toStudyRow } from './study-item.ts';

const UNFINISHED: readonly JobStatus[] = ['pending', 'running'];

type Outcome =
  | { readonly study: StoredStudy; readonly found?: undefined }
  | { readonly study?: undefined; readonly found: StoredStudy | undefined };

/** Hyperopt jobs in the Jobs table. Reads of one job are strongly consistent, lists are not. */
export class DynamoStudyStore implements StudyStore {
  readonly sharing: JobSharing;
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
    this.sharing = new JobSharing(client, table);
  }

  async create(study: StudyIn<'pending'>): Promise<StoredStudy> {
    await this.sharing.add(study);
    try {
      await this.#client.send(
        new PutCommand({
          TableName: this.#table,
          Item: toStudyItem(study),
          ConditionExpression: 'attribute_not_exists(job_id)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return study;
    } catch (error) {
      const existing = foundInstead(error);
      if (!existing) throw error;
      return existing;
    }
  }

  async get(jobId: string): Promise<StoredStudy | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: studyKey(jobId), ConsistentRead: true }),
    );
    return Item && toStudy(Item);
  }

  async list(filter: JobFilter, limit: number, cursor: string | null): Promise<Page<StudyRow>> {
    const { status = null, experiment_name: experiment = null } = filter;
    const scope = { kind: STUDY_KIND, status, experiment };
    const after = cursor === null ? undefined : decodeCursor(cursor, scope, 2);
    const rows: StudyRow[] = [];
    for await (const row of this.#rows(filter, limit, after)) {
      if (rows.length === limit) {
        const last = rows.at(-1)!;
        return { items: rows, next: encodeCursor([last.job_id, last.created_at], scope) };
      }
      rows.push(row);
    }
    return { items: rows, next: null };
  }

  async begin(
    jobId: string,
    worker: number,
    task: string,
    at: string,
  ): Promise<StudyIn<'running'> | undefined> {
    try {
      const { Attributes } = await this.#client.send(
        new UpdateCommand({
          TableName: this.#table,
          Key: studyKey(jobId),
          UpdateExpression:
            'SET #status = :running, kind_status = :kind_status, started_at = if_not_exists(started_at, :at), updated_at = :at, tasks.#worker = :task ADD revision :one',
          ConditionExpression: '#status IN (:pending, :running)',
          ExpressionAttributeNames: { '#status': 'status', '#worker': String(worker) },
          ExpressionAttributeValues: {
            ':pending': 'pending',
            ':running': 'running',
            ':kind_status': `${STUDY_KIND}#running`,
            ':at': at,
            ':task': task,
            ':one': 1,
          },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return toStudy(Attributes!) as StudyIn<'running'>;
    } catch (error) {
      foundInstead(error);
      return undefined;
    }
  }

  async complete(jobId: string, outcome: StudyOutcome, at: string): Promise<boolean> {
    const { study } = await this.#change(jobId, {
      status: 'completed',
      set: { outcome, finished_at: at, updated_at: at },
      from: ['running'],
    });
    return study !== undefined;
  }

  async fail(jobId: string, error: { code: string; message: string }, at: string): Promise<boolean> {
    const { study } = await this.#change(jobId, {
      status: 'failed',
      set: {
        error: error.message,
        error_code: error.code,
        error_summary: summariseError(error.message),
        finished_at: at,
        updated_at: at,
      },
      from: UNFINISHED,
    });
    return study !== undefined;
  }

  async cancel(jobId: string, at: string): Promise<{ cancelled: boolean; study: StoredStudy | undefined }> {
    const { study, found } = await this.#change(jobId, {
      status: 'cancelled',
      set: { finished_at: at, updated_at: at },
      from: UNFINISHED,
    });
    return study ? { cancelled: true, study } : { cancelled: false, study: found };
  }

  async setCollection(jobId: string, outcome: CollectionOutcome): Promise<void> {
    await this.#change(jobId, { set: { collection: outcome, updated_at: outcome.at }, from: UNFINISHED });
  }

  /** Index rows, newest first, after the position `[job_id, created_at]`. */
  async *#rows(
    { status, experiment_name: experiment }: JobFilter,
    limit: number,
    after?: readonly string[],
  ): AsyncIterable<StudyRow> {
    const index = status
      ? { name: 'by-kind-status', key: 'kind_status', value: `${STUDY_KIND}#${status}` }
      : { name: 'by-kind', key: 'kind', value: STUDY_KIND };
    const filtered = experiment !== undefined;
    const pages = paginateQuery(
      {
        client: this.#client,
        // One row more than asked tells whether anything follows.
        pageSize: limit + 1,
        ...(after && {
          startingToken: { ...studyKey(after[0]!), created_at: after[1], [index.key]: index.value },
        }),
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
    for await (const { Items = [] } of pages) yield* Items.map(toStudyRow);
  }

  /** One conditional write: the changed study, or what was found instead. A study that has ended is settled in its lists. */
  async #change(jobId: string, change: JobChange): Promise<Outcome> {
    try {
      const { Attributes } = await this.#client.send(
        new UpdateCommand({ TableName: this.#table, Key: studyKey(jobId), ...updateOf(jobId, change) }),
      );
      const study = toStudy(Attributes!);
      if (change.status) await this.sharing.settle(study);
      return { study };
    } catch (error) {
      return { found: foundInstead(error) };
    }
  }
}

/** The study that failed a condition, undefined when there is none; any other error is thrown on. */
function foundInstead(error: unknown): StoredStudy | undefined {
  if (error instanceof ConditionalCheckFailedException) return fromAttributes(toStudy, error.Item);
  throw error;
}
