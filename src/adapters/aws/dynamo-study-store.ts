import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { type CollectionOutcome, isTerminal, type JobStatus } from '#contract/backtest.ts';
import { STUDY_KIND, type StoredStudy, type StudyIn, type StudyOutcome } from '#contract/hyperopt.ts';
import type { StudyRow, StudyStore } from '#domain/hyperopt/study-ports.ts';
import type { JobFilter, Page } from '#domain/ports.ts';
import { summariseError } from './job-item.ts';
import { JobList } from './job-list.ts';
import { JobSharing } from './job-sharing.ts';
import { type JobChange, updateOf } from './job-update.ts';
import { fromAttributes, studyKey, toStudy, toStudyItem, toStudyRow } from './study-item.ts';
import { whenFree } from './transactions.ts';

const UNFINISHED: readonly JobStatus[] = ['pending', 'running'];

type Outcome =
  | { readonly study: StoredStudy; readonly found?: undefined }
  | { readonly study?: undefined; readonly found: StoredStudy | undefined };

/** Hyperopt jobs in the Jobs table. Reads of one job are strongly consistent, lists are not. */
export class DynamoStudyStore implements StudyStore {
  readonly sharing: JobSharing;
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #list: JobList<StudyRow>;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
    this.sharing = new JobSharing(client, table);
    this.#list = new JobList(client, table, STUDY_KIND, toStudyRow);
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
    return this.#list.page(filter, limit, cursor);
  }

  async begin(
    jobId: string,
    worker: number,
    task: string,
    at: string,
  ): Promise<StudyIn<'running'> | undefined> {
    try {
      const update = new UpdateCommand({
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
      });
      const { Attributes } = await whenFree(() => this.#client.send(update));
      return toStudy(Attributes!) as StudyIn<'running'>;
    } catch (error) {
      foundInstead(error);
      return undefined;
    }
  }

  async pinCode(jobId: string, digest: string): Promise<string | undefined> {
    const update = new UpdateCommand({
      TableName: this.#table,
      Key: studyKey(jobId),
      UpdateExpression: 'SET code_digest = if_not_exists(code_digest, :digest) ADD revision :one',
      ConditionExpression: '#status = :running',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: { ':digest': digest, ':one': 1, ':running': 'running' },
      ReturnValues: 'ALL_NEW',
    });
    try {
      const { Attributes } = await whenFree(() => this.#client.send(update));
      return toStudy(Attributes!).code_digest;
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

  async startAgain(jobId: string, runs: number, at: string): Promise<StoredStudy | undefined> {
    const { study } = await this.#change(jobId, {
      set: { updated_at: at },
      add: ['runs'],
      from: UNFINISHED,
      where: { runs },
    });
    return study;
  }

  /** Studies that begin to run while this goes through the pending ones are met once, as they are when read. */
  async *unfinished(): AsyncIterable<StoredStudy> {
    const seen = new Set<string>();
    for (const status of UNFINISHED) {
      for await (const { job_id } of this.#list.all({ status })) {
        if (seen.has(job_id)) continue;
        seen.add(job_id);
        const study = await this.get(job_id);
        if (study && !isTerminal(study.status)) yield study;
      }
    }
  }

  /** One conditional write: the changed study, or what was found instead. A study that has ended is settled in its lists. */
  async #change(jobId: string, change: JobChange): Promise<Outcome> {
    const update = { TableName: this.#table, Key: studyKey(jobId), ...updateOf(jobId, change) };
    try {
      const { Attributes } = await whenFree(() => this.#client.send(new UpdateCommand(update)));
      const study = toStudy(Attributes!);
      if (isTerminal(study.status)) await this.sharing.settle(study);
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
