import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import {
  BacktestExecutionInput,
  BacktestResult,
  JOB_KINDS,
  type JobIn,
  ResolvedBacktestConfig,
  StoredBacktestJob,
} from '#contract/backtests/backtest.ts';
import type { ColumnsJob } from '#contract/backtests/backtest-columns.ts';
import { LookAhead, lookAheadOf } from '#contract/config/look-ahead.ts';
import { TrialRecord } from '#contract/jobs/trial-ledger.ts';
import { comparableValue } from '#contract/values/undefined-metrics.ts';
import type { JobRow } from '#domain/jobs/job-list-ports.ts';
import type { ClaimOutcome, JobStore } from '#domain/ports.ts';
import type { EndedValidations } from '#domain/transitions/check-status.ts';
import { leaveExperiment } from './experiments.ts';
import {
  ENDED,
  failureOf,
  type JobChange,
  JobRecords,
  LISTED_OWN,
  ListedItem,
  ListedMarket,
  marketPaths,
  textsOf,
  UNFINISHED,
} from './job-records.ts';
import { deletedItem } from './job-retention.ts';
import { type Item, jobKey, parseItem } from './stored-items.ts';
import { transact, unlessConditionFails } from './transactions.ts';

const ListedBacktest = ListedItem.extend({
  priority: z.int(),
  config: ListedMarket.extend({ params: ResolvedBacktestConfig.shape.params.default({}) }),
  execution_input: BacktestExecutionInput.pick({ image: true }),
  task: z.string().optional(),
  progress: z.number().default(0),
  result: BacktestResult.nullable().default(null),
  sparkline: z.array(z.number()).nullable().default(null),
  trial_record: TrialRecord.nullable().default(null),
  look_ahead: LookAhead.optional(),
  notes: z.string().default(''),
  tags: z.array(z.string()).default([]),
  pinned: z.boolean().default(false),
});

function toRow(item: Item): JobRow {
  const { error_summary, config, execution_input, task, look_ahead, ...row } = parseItem(
    ListedBacktest,
    item,
  );
  const runsImage = row.status === 'running' && execution_input.image !== null;
  const imageTask = (runsImage && task) || null;
  const state = row.status === 'completed' ? lookAheadOf({ look_ahead }).state : null;
  return { ...row, ...config, error: error_summary ?? null, imageTask, look_ahead: state };
}

/** Metric of a row that a list can be sorted by. */
function metricOf(row: JobRow, sort: string): number | null {
  const value = row.result ? comparableValue(row.result, sort) : null;
  // A cursor is JSON, which has no infinity.
  return value === Number.POSITIVE_INFINITY ? Number.MAX_VALUE : value;
}

/** Backtest jobs in the Jobs table. */
export class DynamoJobStore
  extends JobRecords<StoredBacktestJob, JobRow>
  implements JobStore, EndedValidations
{
  constructor(client: DynamoDBDocumentClient, table: string) {
    super(client, table, {
      kinds: ['backtest', 'validation'],
      isOwn: ({ kind = 'backtest' }) => JOB_KINDS.some((own) => own === kind),
      lane: 'backtest',
      strategyOf: (job) => job.config.strategy,
      toJob: (item) => parseItem(StoredBacktestJob, item),
      rows: {
        attributes: [
          ...LISTED_OWN,
          ...marketPaths('config'),
          'config.params',
          'execution_input.image',
          'task',
          'progress',
          'sparkline',
          'trial_record',
          'look_ahead',
          'notes',
          'tags',
          'pinned',
        ],
        toRow,
        metricOf,
        textsOf: (row) => [...textsOf(row), row.notes, ...row.tags],
        isPinned: ({ pinned }) => pinned,
      },
    });
  }

  async claim(jobId: string, task: string, at: string): Promise<ClaimOutcome> {
    const { job, found } = await this.change(jobId, {
      status: 'running',
      set: { task, started_at: at, progress: 0, updated_at: at },
      add: ['attempt'],
      from: UNFINISHED,
    });
    if (job) return { outcome: 'claimed', job: job as JobIn<'running'> };
    return found ? { outcome: 'terminal', status: found.status } : { outcome: 'unknown' };
  }

  async setProgress(jobId: string, attempt: number, progress: number, at: string): Promise<boolean> {
    // `updated_at` stays: it is in the list indexes, which progress must not write.
    return this.#changes(jobId, { set: { progress, progress_at: at }, from: ['running'], attempt });
  }

  async setStalled(jobId: string, task: string, stalled: string | null): Promise<void> {
    await this.change(jobId, { set: { stalled }, from: ['running'], where: { task } });
  }

  async complete(
    jobId: string,
    attempt: number,
    outcome: Parameters<JobStore['complete']>[2],
    at: string,
  ): Promise<boolean> {
    const { result, results, timing, config, sparkline, look_ahead, trials, warnings, checks } = outcome;
    return this.#changes(jobId, {
      status: 'completed',
      set: {
        result,
        results,
        timing,
        ...(config && { config }),
        ...(sparkline && { sparkline }),
        ...(look_ahead && { look_ahead }),
        ...(checks && { checks }),
        ...(trials && { trial_record: trials }),
        progress: 1,
        finished_at: at,
        updated_at: at,
      },
      append: { warnings },
      from: ['running'],
      attempt,
    });
  }

  async fail(
    jobId: string,
    attempt: number | null,
    error: { code: string; message: string },
    at: string,
  ): Promise<boolean> {
    return this.#changes(jobId, {
      status: 'failed',
      set: failureOf(error, at),
      from: attempt === null ? UNFINISHED : ['running'],
      attempt: attempt ?? undefined,
    });
  }

  async markDeleted(job: StoredBacktestJob, at: string): Promise<boolean> {
    const { job_id, status, evidence_of: mark, experiment_name } = job;
    const TableName = this.table;
    const evidence = mark
      ? '(attribute_not_exists(evidence_of) OR evidence_of.#at = :mark)'
      : 'attribute_not_exists(evidence_of)';
    const result = await transact(
      this.client,
      [
        {
          Update: {
            TableName,
            Key: jobKey(job_id),
            // Counts read the index by status and no job.
            UpdateExpression: 'SET expired_at = :at REMOVE list_status ADD revision :one',
            ConditionExpression: `#status = :status AND attribute_not_exists(expired_at) AND ${evidence}`,
            ExpressionAttributeNames: { '#status': 'status', ...(mark && { '#at': 'at' }) },
            ExpressionAttributeValues: {
              ':at': at,
              ':one': 1,
              ':status': status,
              ...(mark && { ':mark': mark.at }),
            },
          },
        },
        { Put: { TableName, Item: deletedItem({ job_id, at }) } },
        ...leaveExperiment(TableName, job_id, experiment_name),
      ],
      'DATA005',
    );
    if (result === 'done') await this.sharing.leave(job);
    return result === 'done';
  }

  async *endedValidations(): AsyncIterable<StoredBacktestJob> {
    for (const status of ENDED) {
      for await (const jobId of this.listOf('validation').ids(status)) {
        const job = await this.get(jobId);
        if (job) yield job;
      }
    }
  }

  async setColumnsJob(
    jobId: string,
    next: ColumnsJob,
    before: ColumnsJob | undefined,
  ): Promise<ColumnsJob | undefined> {
    const { job, found } = await this.change(jobId, {
      set: { columns_job: next },
      from: ['completed'],
      ...(before && { where: { columns_job: before } }),
      absent: ['expired_at', 'results_expired', ...(before ? [] : ['columns_job'])],
    });
    return (job ?? found)?.columns_job;
  }

  async forgetColumnsJob(jobId: string, job: ColumnsJob): Promise<void> {
    await unlessConditionFails(
      this.client.send(
        new UpdateCommand({
          TableName: this.table,
          Key: jobKey(jobId),
          UpdateExpression: 'REMOVE columns_job ADD revision :one',
          ConditionExpression: 'columns_job = :job',
          ExpressionAttributeValues: { ':job': job, ':one': 1 },
        }),
      ),
    );
  }

  async *endedColumnsJobs(): AsyncIterable<StoredBacktestJob> {
    for (const status of ENDED) {
      for await (const jobId of this.listOf('columns').ids(status)) {
        const job = await this.get(jobId);
        if (job) yield job;
      }
    }
  }

  /** Removes the job from the index that {@link endedValidations} reads. */
  async forgetValidation(jobId: string): Promise<void> {
    await this.client.send(
      new UpdateCommand({
        TableName: this.table,
        Key: jobKey(jobId),
        UpdateExpression: 'REMOVE list_status',
        ConditionExpression: 'attribute_exists(job_id)',
      }),
    );
  }

  /**
   * True when the change was made. If the response is lost, the SDK sends the write again. The condition then fails, but
   * the job has this attempt and status already: that counts as made.
   */
  async #changes(jobId: string, change: JobChange): Promise<boolean> {
    const { job, found } = await this.change(jobId, change);
    if (job) return true;
    return (
      change.attempt !== undefined && found?.attempt === change.attempt && found.status === change.status
    );
  }
}
