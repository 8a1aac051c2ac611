import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateQuery,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import {
  type EndedTrial,
  type HyperoptJobIn,
  type Improvement,
  type PermutedTrial,
  StoredPermutedSearch,
  StoredPermutedTrials,
  StoredReturns,
  StoredTrial,
  type TrialCounts,
  type TrialIn,
  type TrialState,
} from '#contract/hyperopt/hyperopt.ts';
import type { TrialLedger, TrialReturns } from '#domain/hyperopt/hyperopt-ports.ts';
import { endedTrials } from '#domain/hyperopt/trial-counts.ts';
import type { Page } from '#domain/ports.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { fromAttributes, type Item, jobKey, parseItem } from './stored-items.ts';
import { type Action, conflictOf, transact, unlessConditionFails } from './transactions.ts';

/** Prefixes of the sort keys of trials, of their daily returns, of searches on permuted candles, and of trials of such searches. */
const TRIAL_PREFIX = 'TRIAL#';
const RETURNS_PREFIX = 'RETURNS#';
const PERMUTED_PREFIX = 'PERMUTED#';
const PERMUTED_TRIALS_PREFIX = 'PERMUTED_TRIALS#';
/** Width of a trial number in a key: digits of the highest number. */
const DIGITS = 6;
/** Sorts after every digit. */
const END = '~';
/** Items per read of a filtered list. The filter runs after the read, so a read of one page would often be short. */
const FILTERED_PAGE = 300;

/** Trials of hyperopt jobs, in the Jobs table under the ID of their job. */
export class DynamoTrialLedger implements TrialLedger {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async read(jobId: string, from: number, limit = Number.POSITIVE_INFINITY): Promise<StoredTrial[]> {
    const { item } = trialKey(jobId, from);
    const page = Number.isFinite(limit) ? { pageSize: limit } : {};
    const trials: StoredTrial[] = [];
    for await (const each of this.#items(jobId, item, `${TRIAL_PREFIX}${END}`, page)) {
      if (trials.push(toTrial(each)) === limit) break;
    }
    return trials;
  }

  async list(
    jobId: string,
    state: TrialState | null,
    limit: number,
    cursor: string | null,
  ): Promise<Page<StoredTrial>> {
    const scope = { job_id: jobId, state };
    const after = cursor === null ? TRIAL_PREFIX : `${decodeCursor(cursor, scope, 1)[0]}${END}`;
    const trials: StoredTrial[] = [];
    const pageSize = state === null ? limit + 1 : FILTERED_PAGE;
    for await (const item of this.#items(jobId, after, `${TRIAL_PREFIX}${END}`, { state, pageSize })) {
      if (trials.length === limit) {
        const last = trials.at(-1)!;
        return { items: trials, next: encodeCursor([trialKey(jobId, last.number).item], scope) };
      }
      trials.push(toTrial(item));
    }
    return { items: trials, next: null };
  }

  async begin(trial: TrialIn<'running'>): Promise<boolean> {
    return this.#put(trial, { ConditionExpression: 'attribute_not_exists(job_id)' });
  }

  async beginAgain(found: TrialIn<'running'>, trial: TrialIn<'running'>): Promise<boolean> {
    return this.#put(trial, {
      ConditionExpression: '#state = :running AND attempt = :attempt AND lease_expires_at = :lease',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: {
        ':running': 'running',
        ':attempt': found.attempt,
        ':lease': found.lease_expires_at,
      },
    });
  }

  async renew({ job_id, number, attempt }: TrialIn<'running'>, leaseExpiresAt: number): Promise<boolean> {
    return unlessConditionFails(
      this.#client.send(
        new UpdateCommand({
          TableName: this.#table,
          Key: trialKey(job_id, number),
          UpdateExpression: 'SET lease_expires_at = :lease',
          ...runningUnder(attempt),
          ExpressionAttributeValues: {
            ...runningUnder(attempt).ExpressionAttributeValues,
            ':lease': leaseExpiresAt,
          },
        }),
      ),
    );
  }

  async end(
    job: HyperoptJobIn<'running'>,
    trial: EndedTrial,
    counts: TrialCounts,
    returns: TrialReturns | null,
  ): Promise<'recorded' | 'conflict' | 'job_changed'> {
    const TableName = this.#table;
    const { job_id, number, attempt, finished_at } = trial;
    const { best_value } = counts;
    const improvement: Improvement | null =
      best_value === null || best_value === job.trials.best_value
        ? null
        : { ended: endedTrials(counts), value: best_value };
    const improved = improvement
      ? ', improvements = list_append(if_not_exists(improvements, :none), :improvement)'
      : '';
    try {
      await this.#client.send(
        new TransactWriteCommand({
          TransactItems: [
            {
              Put: {
                TableName,
                Item: toTrialItem(trial),
                ...runningUnder(attempt),
                ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
              },
            },
            {
              Update: {
                TableName,
                Key: jobKey(job_id),
                UpdateExpression: `SET trials = :trials, progress_run = runs, updated_at = :at${improved} ADD revision :one`,
                ConditionExpression: '#status = :running AND revision = :revision',
                ExpressionAttributeNames: { '#status': 'status' },
                ExpressionAttributeValues: {
                  ':trials': counts,
                  ':at': finished_at,
                  ':one': 1,
                  ':running': 'running',
                  ':revision': job.revision,
                  ...(improvement && { ':none': [], ':improvement': [improvement] }),
                },
              },
            },
            ...(returns ? [{ Put: { TableName, Item: toReturnsItem(job_id, number, returns) } }] : []),
          ],
        }),
      );
      return 'recorded';
    } catch (error) {
      const [reason] = conflictOf(error, 'DATA005').CancellationReasons ?? [];
      if (reason?.Code !== 'ConditionalCheckFailed') return 'job_changed';
      // If the response is lost, the SDK sends the write again and finds its own result.
      const found = fromAttributes(toTrial, reason.Item);
      return found?.attempt === attempt && found.state === trial.state ? 'recorded' : 'conflict';
    }
  }

  async returns(jobId: string): Promise<ReadonlyMap<number, TrialReturns>> {
    const found = new Map<number, TrialReturns>();
    for await (const item of this.#items(jobId, RETURNS_PREFIX, `${RETURNS_PREFIX}${END}`)) {
      found.set(...toReturns(item));
    }
    return found;
  }

  async returnsOf(jobId: string, number: number): Promise<TrialReturns | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: returnsKey(jobId, number), ConsistentRead: true }),
    );
    return Item && toReturns(Item)[1];
  }

  async permutedSearches(jobId: string): Promise<StoredPermutedSearch[]> {
    const found: StoredPermutedSearch[] = [];
    for await (const item of this.#items(jobId, PERMUTED_PREFIX, `${PERMUTED_PREFIX}${END}`))
      found.push(parseItem(StoredPermutedSearch, item));
    return found;
  }

  async endPermutedSearch(search: StoredPermutedSearch): Promise<'recorded' | 'stopped'> {
    const TableName = this.#table;
    const { job_id, number, finished_at } = search;
    const actions: Action[] = [
      {
        Put: {
          TableName,
          Item: { ...search, ...searchKey(job_id, number) },
          ConditionExpression: 'attribute_not_exists(job_id)',
        },
      },
      {
        Update: {
          TableName,
          Key: jobKey(job_id),
          UpdateExpression:
            'SET progress_run = runs, updated_at = :at ADD revision :one, permuted_searches :one',
          ConditionExpression: '#status = :running',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':at': finished_at, ':one': 1, ':running': 'running' },
        },
      },
    ];
    return (await this.#transact(actions)).includes(1) ? 'stopped' : 'recorded';
  }

  async permutedTrials(jobId: string, search: number): Promise<PermutedTrial[]> {
    const found = new Map<number, PermutedTrial>();
    for await (const item of this.#recordsOf(jobId, search)) {
      for (const trial of parseItem(StoredPermutedTrials, item).trials) found.set(trial.number, trial);
    }
    return [...found.values()].sort((a, b) => a.number - b.number);
  }

  async recordPermutedTrials(record: StoredPermutedTrials): Promise<'recorded' | 'search_ended' | 'stopped'> {
    const TableName = this.#table;
    const { job_id, number, trials, recorded_at } = record;
    // Two workers may make the same search: their records have the same trials.
    const Item = { ...record, item: `${recordsPrefix(number)}${digits(trials[0]!.number)}` };
    const actions: Action[] = [
      { Put: { TableName, Item } },
      {
        ConditionCheck: {
          TableName,
          Key: searchKey(job_id, number),
          ConditionExpression: 'attribute_not_exists(job_id)',
        },
      },
      {
        Update: {
          TableName,
          Key: jobKey(job_id),
          UpdateExpression: 'SET progress_run = runs, updated_at = :at ADD revision :one',
          ConditionExpression: '#status = :running',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':at': recorded_at, ':one': 1, ':running': 'running' },
        },
      },
    ];
    const failed = await this.#transact(actions);
    if (failed.includes(2)) return 'stopped';
    return failed.includes(1) ? 'search_ended' : 'recorded';
  }

  async deletePermutedTrials(jobId: string, search: number): Promise<void> {
    for await (const { item } of this.#recordsOf(jobId, search)) {
      const Key = { job_id: jobId, item };
      await this.#client.send(new DeleteCommand({ TableName: this.#table, Key }));
    }
  }

  #recordsOf(jobId: string, search: number): AsyncIterable<Record<string, unknown>> {
    const prefix = recordsPrefix(search);
    return this.#items(jobId, prefix, `${prefix}${END}`);
  }

  /**
   * Repeats the transaction while other workers write the job at this time. Returns the indexes of the actions whose condition
   * failed; empty once it is done.
   */
  async #transact(actions: readonly Action[]): Promise<readonly number[]> {
    let failed: readonly number[] = [];
    const onConflict = (conditions: readonly number[]) => {
      failed = conditions;
    };
    while ((await transact(this.#client, actions, 'DATA005', { onConflict })) === 'conflict') {
      if (failed.length > 0) return failed;
    }
    return [];
  }

  #put(trial: StoredTrial, condition: object): Promise<boolean> {
    return unlessConditionFails(
      this.#client.send(new PutCommand({ TableName: this.#table, Item: toTrialItem(trial), ...condition })),
    );
  }

  async *#items(
    jobId: string,
    from: string,
    to: string,
    page: { readonly state?: TrialState | null; readonly pageSize?: number } = {},
  ): AsyncIterable<Record<string, unknown>> {
    const { state = null, pageSize } = page;
    const pages = paginateQuery(
      { client: this.#client, ...(pageSize !== undefined && { pageSize }) },
      {
        TableName: this.#table,
        ConsistentRead: true,
        KeyConditionExpression: 'job_id = :job AND #item BETWEEN :from AND :to',
        ExpressionAttributeNames: { '#item': 'item', ...(state && { '#state': 'state' }) },
        ExpressionAttributeValues: {
          ':job': jobId,
          ':from': from,
          ':to': to,
          ...(state && { ':state': state }),
        },
        ...(state && { FilterExpression: '#state = :state' }),
      },
    );
    for await (const { Items = [] } of pages) yield* Items;
  }
}

/** Condition: the trial is running under that attempt. */
function runningUnder(attempt: number) {
  return {
    ConditionExpression: '#state = :running AND attempt = :attempt',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':running': 'running', ':attempt': attempt },
  };
}

const digits = (number: number) => String(number).padStart(DIGITS, '0');

function trialKey(jobId: string, number: number) {
  return { job_id: jobId, item: `${TRIAL_PREFIX}${digits(number)}` };
}

function returnsKey(jobId: string, number: number) {
  return { job_id: jobId, item: `${RETURNS_PREFIX}${digits(number)}` };
}

function searchKey(jobId: string, number: number) {
  return { job_id: jobId, item: `${PERMUTED_PREFIX}${digits(number)}` };
}

function recordsPrefix(search: number): string {
  return `${PERMUTED_TRIALS_PREFIX}${digits(search)}#`;
}

function toTrialItem(trial: StoredTrial): Item {
  return { ...trial, ...trialKey(trial.job_id, trial.number) };
}

/** Throws SVC001 if the item is not a trial. */
function toTrial(item: Item): StoredTrial {
  return parseItem(StoredTrial, item);
}

function toReturnsItem(jobId: string, number: number, { firstDay, returns }: TrialReturns): Item {
  const stored: StoredReturns = {
    schema_version: 1,
    job_id: jobId,
    number,
    first_day: firstDay,
    returns: new Uint8Array(Float64Array.from(returns).buffer),
  };
  return { ...stored, ...returnsKey(jobId, number) };
}

/** Throws SVC001 if the item does not hold returns. */
function toReturns(item: Item): [number: number, returns: TrialReturns] {
  const { number, first_day, returns } = parseItem(StoredReturns, item);
  // Copied: the bytes as read may not be aligned to 8.
  return [number, { firstDay: first_day, returns: new Float64Array(returns.slice().buffer) }];
}
