import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { lookAheadOf } from '#contract/config/look-ahead.ts';
import {
  HyperoptJobConfig,
  type HyperoptJobIn,
  HyperoptOutcome,
  Improvement,
  OverfittingReport,
  STUDY_KIND,
  StoredHyperoptJob,
  TrialCounts,
} from '#contract/hyperopt/hyperopt.ts';
import { jobListOf } from '#contract/values/tables.ts';
import type { HyperoptRow, HyperoptStore } from '#domain/hyperopt/hyperopt-ports.ts';
import { allTrials } from '#domain/hyperopt/trial-counts.ts';
import type { TrialInputs } from '#domain/hyperopt/trial-inputs.ts';
import {
  failureOf,
  JobRecords,
  LISTED_OWN,
  ListedItem,
  ListedMarket,
  marketPaths,
  textsOf,
  UNFINISHED,
} from './job-records.ts';
import { type Item, jobKey, parseItem } from './stored-items.ts';
import { retryOnConflict, unlessConditionFails } from './transactions.ts';

/** Parts of an outcome that lists show; an outcome of an earlier version may lack some. */
const ListedOutcome = HyperoptOutcome.pick({ look_ahead: true, best_params: true })
  .extend({ overfitting: OverfittingReport.pick({ deflated_sharpe_ratio: true }) })
  .partial();

const ListedHyperopt = ListedItem.extend({
  base: ListedMarket,
  config: HyperoptJobConfig.pick({ objective_metric: true, direction: true, permutations: true }),
  trials: TrialCounts,
  permuted_searches: z.int().optional(),
  improvements: z.array(Improvement).default([]),
  outcome: ListedOutcome.optional(),
});

function toRow(item: Item): HyperoptRow {
  const { error_summary, base, config, outcome, ...row } = parseItem(ListedHyperopt, item);
  const look_ahead = outcome ? lookAheadOf(outcome).state : null;
  return {
    ...row,
    ...base,
    ...config,
    error: error_summary ?? null,
    look_ahead,
    params: outcome?.best_params ?? null,
    deflated_sharpe_ratio: outcome?.overfitting?.deflated_sharpe_ratio ?? null,
    tags: [],
  };
}

/** Number of a row that a list can be sorted by. */
function metricOf(row: HyperoptRow, sort: string): number | null {
  if (sort === 'deflated_sharpe_ratio') return row.deflated_sharpe_ratio;
  if (sort === 'best_value') return row.trials.best_value;
  const { ended, total } = allTrials(row);
  return ended / total;
}

const toJob = (item: Item) => parseItem(StoredHyperoptJob, item);

/** Hyperopt jobs in the Jobs table. */
export class DynamoHyperoptStore extends JobRecords<StoredHyperoptJob, HyperoptRow> implements HyperoptStore {
  constructor(client: DynamoDBDocumentClient, table: string) {
    super(client, table, {
      kinds: [STUDY_KIND],
      isOwn: ({ kind }) => kind === STUDY_KIND,
      lane: 'hyperopt',
      strategyOf: (job) => job.base.strategy,
      toJob,
      rows: {
        attributes: [
          ...LISTED_OWN,
          ...marketPaths('base'),
          'config.objective_metric',
          'config.direction',
          'config.permutations',
          'improvements',
          'outcome.look_ahead',
          'outcome.best_params',
          'outcome.overfitting.deflated_sharpe_ratio',
          'permuted_searches',
        ],
        toRow,
        textsOf,
        metricOf,
      },
    });
  }

  async begin(
    jobId: string,
    worker: number,
    task: string,
    at: string,
  ): Promise<HyperoptJobIn<'running'> | undefined> {
    try {
      const update = new UpdateCommand({
        TableName: this.table,
        Key: jobKey(jobId),
        UpdateExpression:
          'SET #status = :running, list_status = :list_status, started_at = if_not_exists(started_at, :at), updated_at = :at, tasks.#worker = :task REMOVE stalled ADD revision :one',
        ConditionExpression: '#status IN (:pending, :running)',
        ExpressionAttributeNames: { '#status': 'status', '#worker': String(worker) },
        ExpressionAttributeValues: {
          ':pending': 'pending',
          ':running': 'running',
          ':list_status': `${jobListOf(STUDY_KIND, jobId)}#running`,
          ':at': at,
          ':task': task,
          ':one': 1,
        },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      });
      const { Attributes } = await retryOnConflict(() => this.client.send(update));
      return toJob(Attributes!) as HyperoptJobIn<'running'>;
    } catch (error) {
      this.foundInstead(error);
      return undefined;
    }
  }

  async pinInputs(
    jobId: string,
    inputs: TrialInputs,
    warnings: readonly string[],
  ): Promise<Partial<TrialInputs> | undefined> {
    const update = new UpdateCommand({
      TableName: this.table,
      Key: jobKey(jobId),
      UpdateExpression:
        'SET code_digest = :code, data_digest = :data, warnings = list_append(warnings, :warnings) ADD revision :one',
      ConditionExpression: '#status = :running AND attribute_not_exists(code_digest)',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':code': inputs.code_digest,
        ':data': inputs.data_digest,
        ':warnings': [...warnings],
        ':one': 1,
        ':running': 'running',
      },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    try {
      await retryOnConflict(() => this.client.send(update));
      return inputs;
    } catch (error) {
      const found = this.foundInstead(error);
      return found?.status === 'running' ? found : undefined;
    }
  }

  async warn(jobId: string, warning: string): Promise<void> {
    const update = new UpdateCommand({
      TableName: this.table,
      Key: jobKey(jobId),
      UpdateExpression: 'SET warnings = list_append(warnings, :warnings) ADD revision :one',
      ConditionExpression: '#status = :running AND NOT contains(warnings, :warning)',
      ExpressionAttributeNames: { '#status': 'status' },
      ExpressionAttributeValues: {
        ':warnings': [warning],
        ':warning': warning,
        ':one': 1,
        ':running': 'running',
      },
    });
    await unlessConditionFails(retryOnConflict(() => this.client.send(update)));
  }

  async complete(jobId: string, outcome: HyperoptOutcome, at: string): Promise<boolean> {
    const { job } = await this.change(jobId, {
      status: 'completed',
      set: { outcome, finished_at: at, updated_at: at },
      from: ['running'],
    });
    return job !== undefined;
  }

  async fail(jobId: string, error: { code: string; message: string }, at: string): Promise<boolean> {
    const { job } = await this.change(jobId, {
      status: 'failed',
      set: failureOf(error, at),
      from: UNFINISHED,
    });
    return job !== undefined;
  }

  async setStalled(jobId: string, stalled: string | null): Promise<void> {
    await this.change(jobId, { set: { stalled }, from: ['running'] });
  }
}
