import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import {
  BacktestResult,
  isTerminal,
  JOB_STATUSES,
  ResolvedBacktestConfig,
} from '#contract/backtests/backtest.ts';
import { LOOK_AHEAD_STATES, LookAhead, lookAheadOf } from '#contract/config/look-ahead.ts';
import { JOB_LIST_LIMITS } from '#contract/values/job-limits.ts';

import type { Experiment, ExperimentPage, Experiments } from '#domain/jobs/job-list-ports.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { countOf } from './job-search.ts';
import { type ListedJob, listPosition } from './job-sharing.ts';
import { batchGet, type Item, JOB_ITEM, parseItem, queryFirst } from './stored-items.ts';
import type { Action } from './transactions.ts';

/** Prefix of the sort key of a job's entry in an experiment. */
export const MEMBER_PREFIX = 'EXPERIMENT#';
/** Writes by which one read of an experiment records ended jobs. The next one records more. */
const MAX_RECORDED = 100;
/** A member whose job was not stored after this time is of a submission that failed, ms. */
const LOST_MS = 10 * 60_000;

/** Only these metrics: the schema of a result keeps unknown ones. */
const MemberResult = z.object(
  BacktestResult.pick({
    total_profit_pct: true,
    sharpe_ratio: true,
    max_drawdown_pct: true,
    undefined_metrics: true,
  }).shape,
);

/** Entry of a job in the list of its experiment. It has a status once the job has ended and a reader has seen it. */
const Member = z.object({
  job_id: z.string(),
  position: z.string(),
  status: z.enum(JOB_STATUSES).optional(),
  result: MemberResult.optional(),
  /** These two are absent where an earlier version recorded the end of the job: the next read of the experiment adds them. */
  exchange: z.string().optional(),
  look_ahead: z.enum(LOOK_AHEAD_STATES).optional(),
});
type Member = z.infer<typeof Member>;

const MemberJob = z.object({
  job_id: z.string(),
  status: z.enum(JOB_STATUSES),
  experiment_name: z.string().nullable(),
  expired_at: z.string().optional(),
  result: MemberResult.optional(),
  /** Absent for a hyperopt job. */
  config: ResolvedBacktestConfig.pick({ exchange: true }).optional(),
  look_ahead: LookAhead.optional(),
});

/** What an entry keeps of a job that has ended. */
function endOf({ status, result, config, look_ahead }: z.infer<typeof MemberJob>) {
  if (!result) return { status };
  return { status, result, exchange: config?.exchange, look_ahead: lookAheadOf({ look_ahead }).state };
}

/**
 * Experiments of users in the Jobs table: an item `#experiments#<owner>` per experiment, and an item of each job that puts it into the
 * list of its experiment. Both are written before the job, and repeated writes change nothing. Counts and the best job follow from the
 * members when they are read, so no crash, retry or deletion can make them wrong.
 */
export class DynamoExperiments implements Experiments {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  /** Puts a new job into its experiment. Call it before the job is stored: readers skip members without a job. */
  async add(job: ListedJob): Promise<void> {
    const { owner, experiment_name: name } = job;
    if (name === null || name === undefined) return;
    await Promise.all([this.#addMember(job, name), this.#addExperiment(owner, name, job.created_at)]);
  }

  /**
   * Prepares the experiment of the same name for a job that another owner will have, and returns what moves the job there. Readers skip
   * an experiment without jobs.
   */
  async beforeTransfer(job: ListedJob): Promise<Action[]> {
    const { job_id, owner, experiment_name: name, created_at } = job;
    if (name === null || name === undefined) return [];
    await this.#addExperiment(owner, name, created_at);
    return [
      {
        Update: {
          TableName: this.#table,
          Key: memberKey(job_id, name),
          UpdateExpression: 'SET #list = :list, #position = :position',
          ExpressionAttributeNames: { '#list': 'list', '#position': 'position' },
          ExpressionAttributeValues: { ':list': membersOf(owner, name), ':position': listPosition(job) },
        },
      },
    ];
  }

  async list(owner: string, limit: number, cursor: string | null): Promise<ExperimentPage> {
    const scope = { experiments_of: owner };
    let after = cursor === null ? undefined : decodeCursor(cursor, scope, 1)[0];
    const items: Experiment[] = [];
    for (;;) {
      const names = await this.#query(experimentsOf(owner), limit + 1 - items.length, after);
      const found = await Promise.all(
        names.map(async ({ experiment_name, position }) => ({
          position: String(position),
          experiment: await this.#experiment(owner, String(experiment_name)),
        })),
      );
      for (const { position, experiment } of found) {
        if (experiment && items.length === limit) return { items, next: encodeCursor([after!], scope) };
        after = position;
        if (experiment) items.push(experiment);
      }
      if (names.length === 0) return { items, next: null };
    }
  }

  /** Undefined when it has no job. */
  async #experiment(owner: string, name: string): Promise<Experiment | undefined> {
    const rows = await this.#query(membersOf(owner, name), JOB_LIST_LIMITS.counted + 1);
    const members = await this.#withStatus(
      rows.map((row) => parseItem(Member, row)),
      name,
    );
    const [last] = members;
    if (!last) return undefined;
    const counted = members.slice(0, JOB_LIST_LIMITS.counted);
    const best = counted
      .flatMap(completedRun)
      .reduce<Experiment['best']>((a, b) => (a && a.total_profit_pct >= b.total_profit_pct ? a : b), null);
    return {
      name,
      jobs: countOf(members.length, rows.length <= JOB_LIST_LIMITS.counted),
      unfinished: counted.filter(({ status }) => !status || !isTerminal(status)).length,
      best,
      last: { job_id: last.job_id, created_at: last.position.split('#')[0]! },
    };
  }

  /** Members that have a job, newest first. Records the end of those that have ended since the last read. */
  async #withStatus(members: readonly Member[], name: string): Promise<Member[]> {
    const isOpen = ({ status, result, look_ahead }: Member) =>
      status === undefined || (result !== undefined && look_ahead === undefined);
    const open = members.filter(isOpen);
    const read = await batchGet({
      client: this.#client,
      table: this.#table,
      keys: open.map(({ job_id }) => ({ job_id, item: JOB_ITEM })),
      attributes: [
        ...Object.keys(MemberJob.shape).filter((name) => name !== 'config'),
        'config.exchange',
        'item',
      ],
      busy: 'DATA005',
    });
    const jobs = new Map(read.map((item) => [item.job_id, parseItem(MemberJob, item)]));
    const writes: (() => Promise<void>)[] = [];
    const seen = members.flatMap((member) => {
      if (!isOpen(member)) return [member];
      const job = jobs.get(member.job_id);
      if (!job || job.expired_at !== undefined || job.experiment_name !== name) {
        writes.push(() => this.#forgetLost(member, name));
        return [];
      }
      if (isTerminal(job.status)) writes.push(() => this.#settle(job, name));
      return [{ ...member, ...endOf(job) }];
    });
    // They only save later reads: errors are ignored.
    await Promise.allSettled(writes.slice(0, MAX_RECORDED).map((write) => write()));
    return seen;
  }

  async #addMember({ job_id, created_at, owner }: ListedJob, name: string): Promise<void> {
    const Item = {
      ...memberKey(job_id, name),
      list: membersOf(owner, name),
      position: listPosition({ job_id, created_at }),
    };
    await this.#send(
      new PutCommand({
        TableName: this.#table,
        Item,
        ConditionExpression: 'attribute_not_exists(job_id)',
      }),
    );
  }

  async #addExperiment(owner: string, name: string, at: string): Promise<void> {
    await this.#send(
      new UpdateCommand({
        TableName: this.#table,
        Key: { job_id: `#experiments#${owner}`, item: name },
        UpdateExpression: 'SET #list = :list, #position = :position, experiment_name = :name',
        ConditionExpression: 'attribute_not_exists(#position) OR #position < :position',
        ExpressionAttributeNames: { '#list': 'list', '#position': 'position' },
        ExpressionAttributeValues: {
          ':list': experimentsOf(owner),
          ':position': `${at}#${name}`,
          ':name': name,
        },
      }),
    );
  }

  async #settle(job: z.infer<typeof MemberJob>, name: string): Promise<void> {
    const end = Object.entries(endOf(job));
    await this.#send(
      new UpdateCommand({
        TableName: this.#table,
        Key: memberKey(job.job_id, name),
        UpdateExpression: `SET ${end.map(([field]) => `#${field} = :${field}`).join(', ')}`,
        // A deleted job has left the list.
        ConditionExpression: 'attribute_exists(#list)',
        ExpressionAttributeNames: {
          '#list': 'list',
          ...Object.fromEntries(end.map(([field]) => [`#${field}`, field])),
        },
        ExpressionAttributeValues: Object.fromEntries(end.map(([field, value]) => [`:${field}`, value])),
      }),
    );
  }

  async #forgetLost({ job_id, position }: Member, name: string): Promise<void> {
    if (Date.now() - Date.parse(position.split('#')[0]!) < LOST_MS) return;
    await this.#client.send(new UpdateCommand(forgotten(this.#table, job_id, name)));
  }

  /** A failed condition means that the write is not needed. */
  async #send(command: PutCommand | UpdateCommand): Promise<void> {
    try {
      await this.#client.send(command as PutCommand);
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  }

  /** Rows of a list, newest first. */
  #query(list: string, limit: number, after?: string): Promise<Item[]> {
    const query = {
      TableName: this.#table,
      IndexName: 'by-list',
      ScanIndexForward: false,
      KeyConditionExpression: `#list = :list${after ? ' AND #position < :after' : ''}`,
      ExpressionAttributeNames: { '#list': 'list', ...(after && { '#position': 'position' }) },
      ExpressionAttributeValues: { ':list': list, ...(after && { ':after': after }) },
    };
    return queryFirst(this.#client, query, limit);
  }
}

/** A completed backtest that may be the best of its experiment; empty for another job, and for one with a found leak. */
function completedRun({ job_id, result, exchange, look_ahead }: Member): NonNullable<Experiment['best']>[] {
  if (!result || !exchange || !look_ahead || look_ahead === 'found') return [];
  return [{ job_id, exchange, look_ahead, ...result }];
}

/** Takes a job out of the list of its experiment, as a part of its deletion. */
export function leaveExperiment(table: string, jobId: string, name: string | null | undefined): Action[] {
  return name === null || name === undefined ? [] : [{ Update: forgotten(table, jobId, name) }];
}

function forgotten(TableName: string, jobId: string, name: string) {
  return {
    TableName,
    Key: memberKey(jobId, name),
    UpdateExpression: 'REMOVE #list, #position',
    ExpressionAttributeNames: { '#list': 'list', '#position': 'position' },
  };
}

function memberKey(jobId: string, name: string) {
  return { job_id: jobId, item: `${MEMBER_PREFIX}${name}` };
}

/** List of the experiments of a user. */
function experimentsOf(owner: string): string {
  return `experiments#${encodeURIComponent(owner)}`;
}

/** List of the jobs of an experiment. */
function membersOf(owner: string, name: string): string {
  return `${memberListsOf(owner)}${name}`;
}

/** Prefix of the lists of the jobs of a user's experiments. */
export function memberListsOf(owner: string): string {
  return `experiment#${encodeURIComponent(owner)}#`;
}
