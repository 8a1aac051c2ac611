import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import {
  CANARY_ID_PREFIX,
  COLUMNS_ID_PREFIX,
  type CollectionOutcome,
  isTerminal,
  JOB_STATUSES,
  type JobKind,
  type JobStatus,
  ResolvedBacktestConfig,
  VALIDATION_ID_PREFIX,
} from '#contract/backtests/backtest.ts';
import { HYPEROPT_ID_PREFIX, STUDY_KIND } from '#contract/hyperopt/hyperopt.ts';
import { type LaneName, QueueEntry } from '#contract/jobs/queue.ts';
import { ERROR_SUMMARY_LENGTH, jobListOf } from '#contract/values/tables.ts';
import type {
  ActiveJobs,
  Annotations,
  JobCount,
  JobFilter,
  JobPage,
  JobSearch,
  ListedJobRow,
  ReadSortValues,
} from '#domain/jobs/job-list-ports.ts';
import type { QueueJob } from '#domain/queue/queue-ports.ts';
import { DynamoExperiments } from './experiments.ts';
import { JobList, type JobRows } from './job-list.ts';
import { queueAttributes } from './job-queue.ts';
import { JobSharing, type ListedJob, listPosition } from './job-sharing.ts';
import { fromAttributes, type Item, isPast, JOB_ITEM, jobKey } from './stored-items.ts';
import { retryOnConflict } from './transactions.ts';

export const UNFINISHED: readonly JobStatus[] = ['pending', 'running'];
export const ENDED: readonly JobStatus[] = ['completed', 'failed', 'cancelled'];

/** Attributes of a listed job of any kind. */
export const ListedItem = z.object({
  job_id: z.string(),
  owner: z.string(),
  queue: QueueEntry,
  status: z.enum(JOB_STATUSES),
  created_at: z.string(),
  updated_at: z.string(),
  strategy: z.string(),
  experiment_name: z.string().nullable(),
  error_summary: z.string().optional(),
  started_at: z.string().nullable().default(null),
  finished_at: z.string().nullable().default(null),
  session: z.string().nullable().default(null),
});

/** Attributes of {@link ListedItem} that the list indexes lack. */
export const LISTED_OWN = ['started_at', 'finished_at', 'session'] as const;

/** Market of a listed job, from its configuration. */
export const ListedMarket = ResolvedBacktestConfig.pick({
  exchange: true,
  pairs: true,
  timeframe: true,
  date_range: true,
});

/** Paths of {@link ListedMarket} in the attribute of the configuration. */
export function marketPaths(attribute: string): string[] {
  return Object.keys(ListedMarket.shape).map((name) => `${attribute}.${name}`);
}

/** Texts of a row that a search looks in. */
export function textsOf(row: ListedJobRow): (string | null)[] {
  return [row.job_id, row.strategy, row.experiment_name, row.exchange, row.timeframe, ...row.pairs];
}

/** The changed job, or the job as found when the condition failed: undefined for an unknown one. */
export type Changed<Job> =
  | { readonly job: Job; readonly found?: undefined }
  | { readonly job?: undefined; readonly found: Job | undefined };

/** A change of a job in one conditional write. */
export interface JobChange {
  /** Attributes to set. */
  readonly set: Readonly<Record<string, unknown>>;
  readonly status?: JobStatus;
  /** Attributes to increment. */
  readonly add?: readonly string[];
  readonly append?: { readonly warnings: readonly string[] };
  /** Condition: the job has one of these states. */
  readonly from: readonly JobStatus[];
  /** Condition: this is the job's attempt. Default: any. */
  readonly attempt?: number | undefined;
  /** Condition: these attributes have these values. */
  readonly where?: Readonly<Record<string, unknown>>;
  /** Condition: the job does not have these attributes. */
  readonly absent?: readonly string[];
}

/** The jobs of one store. */
interface JobType<Job, Row extends ListedJobRow> {
  /** Kinds of the jobs. Lists show the first. */
  readonly kinds: readonly [string, ...string[]];
  /** True for an item of the store: the table has those of both, and a request may name the other's. */
  readonly isOwn: (item: Item) => boolean;
  /** Lane of jobs that name none. */
  readonly lane: LaneName;
  readonly strategyOf: (job: Job) => string;
  /** Throws SVC001 if the item is not such a job. */
  readonly toJob: (item: Item) => Job;
  readonly rows: Omit<JobRows<Row>, 'kind'>;
}

/**
 * Base of the stores of the Jobs table. Reads of one job are strongly consistent, lists are not. Each change of a job
 * is one conditional write.
 */
export abstract class JobRecords<Job extends ListedJob & QueueJob, Row extends ListedJobRow> {
  readonly sharing: JobSharing;
  readonly experiments: DynamoExperiments;
  protected readonly client: DynamoDBDocumentClient;
  protected readonly table: string;
  readonly #type: JobType<Job, Row>;

  constructor(client: DynamoDBDocumentClient, table: string, type: JobType<Job, Row>) {
    this.client = client;
    this.table = table;
    this.experiments = new DynamoExperiments(client, table);
    this.sharing = new JobSharing(client, table, (job) => this.experiments.beforeTransfer(job));
    this.#type = type;
  }

  async create(job: Extract<Job, { readonly status: 'pending' }>): Promise<Job> {
    // Job lists exclude validations, columns jobs and the canary's jobs.
    if (job.kind === this.#type.kinds[0])
      await Promise.all([this.sharing.add(job), this.experiments.add(job)]);
    try {
      await this.client.send(
        new PutCommand({
          TableName: this.table,
          Item: toJobItem(job, this.#type.strategyOf(job), this.#type.lane),
          ConditionExpression: 'attribute_not_exists(job_id)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return job;
    } catch (error) {
      const existing = this.foundInstead(error);
      if (!existing) throw error;
      return existing;
    }
  }

  async get(jobId: string): Promise<Job | undefined> {
    const { Item } = await this.client.send(
      new GetCommand({ TableName: this.table, Key: jobKey(jobId), ConsistentRead: true }),
    );
    return Item && !isPast(Item.expires_at) && this.#type.isOwn(Item) ? this.#type.toJob(Item) : undefined;
  }

  async list(
    filter: JobFilter,
    limit: number,
    cursor: string | null,
    search?: JobSearch,
    sortValues?: ReadSortValues<Row>,
  ): Promise<JobPage<Row>> {
    return this.listOf(this.#type.kinds[0]).page(filter, limit, cursor, search, sortValues);
  }

  async count(filter: JobFilter): Promise<JobCount> {
    return this.listOf(this.#type.kinds[0]).count(filter);
  }

  get activity(): ActiveJobs<Row>['activity'] {
    return this.listOf(this.#type.kinds[0]);
  }

  async cancel(
    jobId: string,
    at: string,
    by?: string,
  ): Promise<{ cancelled: boolean; job: Job | undefined }> {
    const { job, found } = await this.change(jobId, {
      status: 'cancelled',
      set: { finished_at: at, updated_at: at, ...(by !== undefined && { cancelled_by: by }) },
      from: UNFINISHED,
    });
    return job ? { cancelled: true, job } : { cancelled: false, job: found };
  }

  async setKept(jobId: string, kept: boolean): Promise<{ done: boolean; job: Job | undefined }> {
    const { job, found } = await this.change(jobId, {
      set: { kept },
      from: JOB_STATUSES,
      absent: ['expired_at'],
    });
    return { done: job !== undefined, job: job ?? found };
  }

  async annotate(jobId: string, changes: Annotations): Promise<{ done: boolean; job: Job | undefined }> {
    const { job, found } = await this.change(jobId, {
      set: { ...changes },
      from: JOB_STATUSES,
      absent: ['expired_at'],
    });
    return { done: job !== undefined, job: job ?? found };
  }

  async setEvidence(jobId: string, model: string, at: string): Promise<boolean> {
    const { job } = await this.change(jobId, {
      set: { evidence_of: { model, at } },
      // A search may be cancelled, or still run, when a backtest of its best trial is registered.
      from: JOB_STATUSES,
      absent: ['expired_at', 'results_expired'],
    });
    return job !== undefined;
  }

  async setCollection(jobId: string, outcome: CollectionOutcome): Promise<void> {
    await this.change(jobId, { set: { collection: outcome, updated_at: outcome.at }, from: UNFINISHED });
  }

  async oldestPending(): Promise<string | undefined> {
    const oldest = await Promise.all(this.#type.kinds.map((kind) => this.listOf(kind).oldest('pending')));
    return oldest.filter((each) => each !== undefined).sort()[0];
  }

  protected listOf(kind: string): JobList<Row> {
    return new JobList(this.client, this.table, { ...this.#type.rows, kind });
  }

  /** A change that ends the job also updates its access items. */
  protected async change(jobId: string, change: JobChange): Promise<Changed<Job>> {
    const update = { TableName: this.table, Key: jobKey(jobId), ...updateOf(jobId, change) };
    try {
      const { Attributes } = await retryOnConflict(() => this.client.send(new UpdateCommand(update)));
      const job = this.#type.toJob(Attributes!);
      if (isTerminal(job.status)) await this.sharing.settle(job);
      return { job };
    } catch (error) {
      return { found: this.foundInstead(error) };
    }
  }

  /** The job that failed a condition; undefined if it does not exist. Rethrows any other error. */
  protected foundInstead(error: unknown): Job | undefined {
    if (error instanceof ConditionalCheckFailedException) {
      return fromAttributes(this.#type.toJob, error.Item);
    }
    throw error;
  }
}

/** A job of the canary is deleted after this time. */
const CANARY_LIFETIME_S = 24 * 60 * 60;

/** Item of a new job: its fields flat, and the attributes of the list indexes. */
export function toJobItem(job: ListedJob & QueueJob, strategy: string, lane: LaneName): Item {
  const list = jobListOf(job.kind, job.job_id);
  return {
    ...job,
    item: JOB_ITEM,
    list,
    position: listPosition(job),
    list_status: `${list}#${job.status}`,
    strategy,
    ...queueAttributes(job.queue.lane ?? lane, job),
    ...(job.kind === 'canary' && {
      expires_at: Math.ceil(Date.parse(job.created_at) / 1000) + CANARY_LIFETIME_S,
    }),
  };
}

/** Attributes that a failure sets. */
export function failureOf({ code, message }: { code: string; message: string }, at: string) {
  const summary = message.slice(0, ERROR_SUMMARY_LENGTH - 1).toWellFormed();
  return {
    error: message,
    error_code: code,
    // Lists show the start of the message.
    error_summary: message.length <= ERROR_SUMMARY_LENGTH ? message : `${summary}…`,
    finished_at: at,
    updated_at: at,
  };
}

/** Kind of a job, from the prefix of its ID. */
function kindOf(jobId: string): JobKind | typeof STUDY_KIND {
  if (jobId.startsWith(HYPEROPT_ID_PREFIX)) return STUDY_KIND;
  if (jobId.startsWith(CANARY_ID_PREFIX)) return 'canary';
  if (jobId.startsWith(COLUMNS_ID_PREFIX)) return 'columns';
  return jobId.startsWith(VALIDATION_ID_PREFIX) ? 'validation' : 'backtest';
}

/** Parameters of the UpdateItem that makes the change. */
function updateOf(jobId: string, change: JobChange) {
  const set = {
    ...change.set,
    ...(change.status && {
      status: change.status,
      list_status: `${jobListOf(kindOf(jobId), jobId)}#${change.status}`,
    }),
  };
  const names: Record<string, string> = { '#status': 'status' };
  const values: Record<string, unknown> = { ':one': 1 };
  const assignments = Object.entries(set).map(([name, value]) => {
    names[`#${name}`] = name;
    values[`:${name}`] = value;
    return `#${name} = :${name}`;
  });
  if (change.append) {
    values[':appended'] = change.append.warnings;
    assignments.push('warnings = list_append(warnings, :appended)');
  }
  const states = change.from.map((status) => {
    values[`:from_${status}`] = status;
    return `:from_${status}`;
  });
  const conditions = [`#status IN (${states.join(', ')})`];
  if (change.attempt !== undefined) {
    names['#attempt'] = 'attempt';
    values[':attempt'] = change.attempt;
    conditions.push('#attempt = :attempt');
  }
  for (const [name, value] of Object.entries(change.where ?? {})) {
    names[`#${name}`] = name;
    values[`:where_${name}`] = value;
    conditions.push(`#${name} = :where_${name}`);
  }
  for (const name of change.absent ?? []) conditions.push(`attribute_not_exists(${name})`);
  // A job that has ended leaves the queue.
  const leaving = change.status && isTerminal(change.status) ? 'REMOVE queue_key, queue_order ' : '';
  const added = ['revision', ...(change.add ?? [])].map((name) => `${name} :one`);
  return {
    UpdateExpression: `SET ${assignments.join(', ')} ${leaving}ADD ${added.join(', ')}`,
    ConditionExpression: conditions.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
    ReturnValues: 'ALL_NEW' as const,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
}
