import { setTimeout as wait } from 'node:timers/promises';
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  RestoreTableToPointInTimeCommand,
  type StreamSpecification,
  TableAlreadyExistsException,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { BatchGetCommand, type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { STUDY_KIND, StoredHyperoptJob } from '#contract/hyperopt/hyperopt.ts';
import { StoredModel, StoredVersion } from '#contract/registry/stored-registry.ts';
import { TABLES, type TableDefinition, type TableId, type TableNames } from '#contract/values/tables.ts';
import { hasShape } from './create-tables.ts';
import { readItem, VERSION_PREFIX } from './registry-item.ts';
import { JOB_ITEM, jobKey, parseItem } from './stored-items.ts';

/** Interval at which a restore is polled, ms. A restore takes minutes to hours, regardless of the table's size. */
const POLL_MS = 10_000;
/** Limit of BatchGetItem. */
const MAX_KEYS = 100;
/** Problems of one table that a report names. */
const MAX_PROBLEMS = 20;

export interface RestoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly report: (line: string) => void;
  /** Default: {@link POLL_MS}. */
  readonly pollMs?: number;
}

/** As the data stack has it: events are derived from both images. */
const STREAM: StreamSpecification = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' };

const IDS = Object.keys(TABLES) as TableId[];

/** Latest time to which every table can be restored: one time for all keeps versions and their jobs consistent. */
export async function latestRestorable(client: DynamoDBDocumentClient, tables: TableNames): Promise<Date> {
  const times = await Promise.all(
    IDS.map(async (id) => {
      const { ContinuousBackupsDescription: found } = await client.send(
        new DescribeContinuousBackupsCommand({ TableName: tables[id] }),
      );
      const latest = found?.PointInTimeRecoveryDescription?.LatestRestorableDateTime;
      if (!latest)
        throw new Error(`Point-in-time recovery of the table ${tables[id]} is off: restore a backup.`);
      return latest;
    }),
  );
  return new Date(Math.min(...times.map(Number)));
}

/** Restores every table to that time, as `targets`. A target that exists is not restored again, so a repeat continues. */
export async function restoreTables(
  { client, report }: RestoreOptions,
  sources: TableNames,
  targets: TableNames,
  at: Date,
): Promise<void> {
  for (const id of IDS) {
    try {
      await client.send(
        new RestoreTableToPointInTimeCommand({
          SourceTableName: sources[id],
          TargetTableName: targets[id],
          RestoreDateTime: at,
        }),
      );
      report(`${id}: restoring ${sources[id]} to ${targets[id]}`);
    } catch (error) {
      if (!(error instanceof TableAlreadyExistsException)) throw error;
      report(`${id}: ${targets[id]} exists`);
    }
  }
}

/**
 * Waits for the tables and gives them the settings that a restore and a copy leave out: TTL, recovery, deletion protection and a
 * stream. The stream begins here, so it has no record of the items that are in the table already.
 *
 * @returns ARNs of the streams
 */
export async function prepareTables(
  { client, report, pollMs = POLL_MS }: RestoreOptions,
  tables: TableNames,
): Promise<TableNames> {
  const streams: Partial<Record<TableId, string>> = {};
  for (const id of IDS) {
    const TableName = tables[id];
    const active = async () => {
      for (;;) {
        const { Table } = await client.send(new DescribeTableCommand({ TableName }));
        if (Table?.TableStatus === 'ACTIVE') return Table;
        await wait(pollMs);
      }
    };
    await active();
    const { expires }: TableDefinition = TABLES[id];
    if (expires) await enableExpiry(client, TableName, expires);
    await client.send(
      new UpdateContinuousBackupsCommand({
        TableName,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      }),
    );
    await client.send(new UpdateTableCommand({ TableName, DeletionProtectionEnabled: true }));
    // DynamoDB rejects a change while another is made, and a stream for a table that has one.
    let { StreamSpecification: stream, LatestStreamArn: arn } = await active();
    if (!stream?.StreamEnabled) {
      const change = new UpdateTableCommand({ TableName, StreamSpecification: STREAM });
      arn = (await client.send(change)).TableDescription?.LatestStreamArn;
      await active();
    }
    // DescribeTable may be behind for a moment.
    while (arn === undefined) {
      await wait(pollMs);
      arn = (await active()).LatestStreamArn;
    }
    streams[id] = arn;
    report(`${id}: ${TableName} is active and has a stream`);
  }
  return streams as TableNames;
}

/** DynamoDB rejects enabling what is enabled. */
async function enableExpiry(
  client: DynamoDBDocumentClient,
  TableName: string,
  AttributeName: string,
): Promise<void> {
  const TimeToLiveSpecification = { AttributeName, Enabled: true };
  await client
    .send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }))
    .catch((error: Error) => {
      if (!/already enabled/i.test(error.message)) throw error;
    });
}

export interface TableCheck {
  readonly items: Readonly<Record<TableId, number>>;
  /** What the platform could not work with; empty: nothing. */
  readonly problems: readonly string[];
}

/**
 * Reads every item: the tables have the keys and indexes of this version, it can read all jobs, models and versions, and
 * each version has its backtest.
 */
export async function checkTables(client: DynamoDBDocumentClient, tables: TableNames): Promise<TableCheck> {
  const problems: string[] = [];
  for (const id of IDS) {
    if (!(await hasShape(client, tables[id], TABLES[id]))) {
      problems.push(`${tables[id]} has other keys or indexes than the table ${id} of this version`);
    }
  }
  const items: Record<TableId, number> = { jobs: 0, registry: 0, series: 0 };
  const evidence = new Map<string, string>();
  for (const id of IDS) {
    for await (const item of itemsOf(client, tables[id])) {
      items[id] += 1;
      try {
        readable(id, item, evidence);
      } catch (error) {
        problems.push((error as Error).message);
      }
    }
  }
  problems.push(...(await missingEvidence(client, tables.jobs, evidence)));
  const more = problems.length - MAX_PROBLEMS;
  return {
    items,
    problems: more > 0 ? [...problems.slice(0, MAX_PROBLEMS), `and ${more} more`] : problems,
  };
}

/** Parses an item that the platform could not do without, and notes the backtest of a version. */
function readable(id: TableId, item: Record<string, unknown>, evidence: Map<string, string>): void {
  if (id === 'jobs' && item.item === JOB_ITEM) {
    if (item.kind === STUDY_KIND) parseItem(StoredHyperoptJob, item);
    else parseItem(StoredBacktestJob, item);
  }
  if (id !== 'registry' || !String(item.pk).startsWith('MODEL#')) return;
  if (item.sk === 'META') readItem(StoredModel, item);
  if (!String(item.sk).startsWith(VERSION_PREFIX)) return;
  const { backtest_run_id, model_name, version } = readItem(StoredVersion, item);
  evidence.set(backtest_run_id, `version ${version} of ${model_name}`);
}

async function missingEvidence(
  client: DynamoDBDocumentClient,
  table: string,
  evidence: ReadonlyMap<string, string>,
): Promise<string[]> {
  const missing: string[] = [];
  const jobs = [...evidence.keys()];
  for (let from = 0; from < jobs.length; from += MAX_KEYS) {
    let keys: Record<string, unknown>[] = jobs.slice(from, from + MAX_KEYS).map(jobKey);
    const found = new Set<unknown>();
    while (keys.length > 0) {
      const { Responses, UnprocessedKeys } = await client.send(
        new BatchGetCommand({ RequestItems: { [table]: { Keys: keys, ProjectionExpression: 'job_id' } } }),
      );
      for (const { job_id } of Responses?.[table] ?? []) found.add(job_id);
      keys = UnprocessedKeys?.[table]?.Keys ?? [];
    }
    for (const job of jobs.slice(from, from + MAX_KEYS)) {
      if (!found.has(job)) missing.push(`${job}, the backtest of ${evidence.get(job)}, is missing`);
    }
  }
  return missing;
}

async function* itemsOf(
  client: DynamoDBDocumentClient,
  TableName: string,
): AsyncIterable<Record<string, unknown>> {
  for await (const { Items = [] } of paginateScan({ client }, { TableName })) yield* Items;
}
