import { createHmac } from 'node:crypto';
import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  paginateQuery,
  paginateScan,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { isTerminal, type JobStatus } from '#contract/backtests/backtest.ts';
import type { Grant } from '#contract/common/sharing-schemas.ts';
import { StoredSignals } from '#contract/market-data/stored-signals.ts';
import { ERASED_PREFIX } from '#contract/values/names.ts';
import { DELIVERY_PREFIX, PENDING_DELIVERY_PREFIX, WEBHOOK_PARTITION } from '#contract/values/tables.ts';
import { userPrincipal } from '#domain/access/access.ts';
import type { ResultStore } from '#domain/ports.ts';
import { isBeingRegistered } from '#domain/signals/registered-signals.ts';
import type { SignalFiles } from '#domain/signals/signals-ports.ts';
import { storedCursorKey } from './cursor-key.ts';
import { memberListsOf } from './experiments.ts';
import { DynamoJobRetention } from './job-retention.ts';
import { trialsPartition } from './owner-trials.ts';
import { VERSION_PREFIX } from './registry-item.ts';
import { SIGNALS_ITEM } from './signals-store.ts';
import { type Item, JOB_ITEM, jobKey, parseItem } from './stored-items.ts';
import { unlessConditionFails } from './transactions.ts';

export interface EraseUserDeps {
  readonly client: DynamoDBDocumentClient;
  readonly jobsTable: string;
  readonly registryTable: string;
  readonly results: Pick<ResultStore, 'remove'>;
  readonly signalFiles: Pick<SignalFiles, 'remove'>;
}

/** Numbers of what was erased, or would be. */
export interface Erasure {
  /** Name of the user in what stays. */
  readonly pseudonym: string;
  /** Jobs deleted with their results and trials. */
  jobs: number;
  /** Jobs behind registered versions, which stay under the pseudonym. */
  evidence: number;
  /** Grants to the user on what others own, and such jobs that the user cancelled. */
  grants: number;
  /** Files of signals deleted; those of registered versions stay under the pseudonym. */
  signals: number;
  /** Webhooks deleted with their deliveries. */
  webhooks: number;
  /** Models, versions, challenges and events that name the user. */
  registry: number;
  /** Audit entries that lose address, user agent and request. */
  audit: number;
  /** Jobs that have not ended, or whose task may still write results: nothing is erased before. */
  readonly unfinished: string[];
}

function nothingErased(pseudonym: string): Erasure {
  const counts = { jobs: 0, evidence: 0, grants: 0, signals: 0, webhooks: 0, registry: 0, audit: 0 };
  return { ...counts, pseudonym, unfinished: [] };
}

/** Fields that hold the ID of a user, at any depth of an item of the registry. */
const USER_FIELDS = new Set(['owner', 'created_by', 'actor', 'requested_by', 'decided_by', 'registered_by']);
/** Fields of an audit entry that say more of its caller than the ID, and their values without the caller. */
const AUDIT_DETAILS = { request: null, source_ip: null, user_agent: null, roles: [] };
/** A pass repeats what another write has replaced in the meantime. */
const MAX_PASSES = 5;

/**
 * Name that replaces an erased user where others rely on an item: the same for each run. Keyed with a secret of the platform, so that
 * nobody finds out whose it is by trying names.
 */
export async function pseudonymOf(
  { client, registryTable }: Pick<EraseUserDeps, 'client' | 'registryTable'>,
  subject: string,
): Promise<string> {
  const key = await storedCursorKey(client, 'registry', registryTable)();
  const digest = createHmac('sha256', key).update(`erased user\0${subject}`).digest('hex');
  return `${ERASED_PREFIX}${digest.slice(0, 16)}`;
}

/**
 * Erases the data of a user. Each step is idempotent, so a run that was interrupted is repeated. A dry run only counts.
 *
 * @param subject `sub` of the user's tokens
 */
export async function eraseUser(
  deps: EraseUserDeps,
  subject: string,
  { dryRun }: { readonly dryRun: boolean },
): Promise<Erasure> {
  const pseudonym = await pseudonymOf(deps, subject);
  const erased = nothingErased(pseudonym);
  const found = await new Pass(deps, subject, pseudonym, true).run();
  if (dryRun || found.unfinished.length > 0) return found;
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const { unfinished, pseudonym: _, ...counts } = await new Pass(deps, subject, pseudonym, false).run();
    const names = Object.keys(counts) as (keyof typeof counts)[];
    for (const name of names) erased[name] += counts[name];
    if (unfinished.length === 0 && names.every((name) => counts[name] === 0)) return erased;
  }
  throw new Error(`Data of ${subject} are still written: stop their requests, then repeat the command.`);
}

/** One pass through both tables. */
class Pass {
  readonly #deps: EraseUserDeps;
  readonly #subject: string;
  readonly #principal: string;
  readonly #pseudonym: string;
  readonly #dryRun: boolean;
  readonly #retention: DynamoJobRetention;
  /** Jobs behind registered versions. */
  readonly #evidence = new Set<unknown>();
  /** Files of signals of registered versions. */
  readonly #versionSignals = new Set<unknown>();
  readonly #erased: Erasure;

  constructor(deps: EraseUserDeps, subject: string, pseudonym: string, dryRun: boolean) {
    this.#deps = deps;
    this.#subject = subject;
    this.#principal = userPrincipal(subject);
    this.#pseudonym = pseudonym;
    this.#erased = nothingErased(pseudonym);
    this.#dryRun = dryRun;
    this.#retention = new DynamoJobRetention(deps.client, deps.jobsTable);
  }

  async run(): Promise<Erasure> {
    const { registryTable, jobsTable } = this.#deps;
    // First: it tells which jobs are evidence.
    for await (const item of this.#items(registryTable)) await this.#registryItem(item);
    for await (const item of this.#items(jobsTable)) await this.#jobsItem(item);
    return this.#erased;
  }

  async *#items(TableName: string): AsyncIterable<Item> {
    const { client } = this.#deps;
    for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true }))
      yield* Items;
  }

  async #registryItem(item: Item): Promise<void> {
    const pk = String(item.pk);
    if (pk.startsWith('AUDIT#')) return this.#auditItem(item);
    if (pk === `IDEM#${this.#subject}` || pk === `ACCESS#${this.#principal}`) {
      if (!this.#dryRun) await this.#delete(this.#deps.registryTable, { pk: item.pk, sk: item.sk });
      this.#erased.grants += pk.startsWith('ACCESS#') ? 1 : 0;
      return;
    }
    if (String(item.sk).startsWith(VERSION_PREFIX)) this.#noteEvidence(item);
    const changed = Object.entries(item).flatMap(([name, value]) => {
      const after = name === 'catalog_row' ? this.#withoutUserJson(value) : this.#withoutUser(value, name);
      return JSON.stringify(after) === JSON.stringify(value) ? [] : [[name, after] as const];
    });
    if (changed.length === 0) return;
    const key = { pk: item.pk, sk: item.sk };
    if (await this.#replace(this.#deps.registryTable, key, item, Object.fromEntries(changed))) {
      this.#erased.registry += 1;
    }
  }

  #noteEvidence({ backtest_run_id, evidence, validation, config }: Item): void {
    this.#versionSignals.add((config as Item | undefined)?.signals);
    this.#evidence.add(backtest_run_id);
    this.#evidence.add((evidence as Item | undefined)?.hyperopt_job_id);
    this.#evidence.add((validation as Item | undefined)?.job_id);
  }

  /** The trail keeps who did what and when, and the outcome. */
  async #auditItem(item: Item): Promise<void> {
    if (item.principal !== this.#subject) return;
    const changed = Object.fromEntries(
      Object.entries(AUDIT_DETAILS).filter(
        ([name, none]) => item[name] !== undefined && JSON.stringify(item[name]) !== JSON.stringify(none),
      ),
    );
    if (Object.keys(changed).length === 0) return;
    const key = { pk: item.pk, sk: item.sk };
    if (await this.#replace(this.#deps.registryTable, key, item, changed)) this.#erased.audit += 1;
  }

  async #jobsItem(item: Item): Promise<void> {
    const key = { job_id: item.job_id, item: item.item };
    const partition = String(item.job_id);
    if (item.item === JOB_ITEM)
      return item.owner === this.#subject ? this.#ownJob(item) : this.#withoutGrants(item);
    if (item.item === SIGNALS_ITEM) return this.#signals(item);
    // A cancelled job keeps its slot until its execution has ended.
    if (partition.startsWith('#slots#') && item.owner === this.#subject)
      return this.#noteUnfinished(String(item.slot_job));
    if (partition === WEBHOOK_PARTITION)
      return item.owner === this.#subject ? this.#ownWebhook(key) : undefined;
    const isQueueEntry = partition.startsWith('#owners#') && item.item === this.#subject;
    const isExperiment =
      partition === `#experiments#${this.#subject}` ||
      String(item.list).startsWith(memberListsOf(this.#subject));
    // What others rely on, such as a registered version, has a copy of the numbers.
    const isTrial = partition === trialsPartition(this.#subject);
    if (item.item !== `ACCESS#${this.#principal}` && !isQueueEntry && !isExperiment && !isTrial) return;
    // Those of own jobs go with the job.
    if (!this.#dryRun) await this.#delete(this.#deps.jobsTable, key);
  }

  /** The file first: a run that was interrupted finds the record again. Those of versions stay, as their jobs do. */
  async #signals(record: Item): Promise<void> {
    if (record.owner !== this.#subject) return this.#withoutGrants(record);
    const { jobsTable } = this.#deps;
    const key = { job_id: record.job_id, item: record.item };
    this.#erased.signals += 1;
    // The version of a registration in progress may have been stored since the registry was read.
    const isKept =
      this.#versionSignals.has(record.job_id) ||
      isBeingRegistered(parseItem(StoredSignals, record), { now: Date.now });
    if (isKept) {
      const changed = {
        owner: this.#pseudonym,
        name: null,
        principal_kind: `${userPrincipal(this.#pseudonym)}#signals`,
      };
      await this.#replace(jobsTable, key, record, changed);
      return;
    }
    if (this.#dryRun) return;
    await this.#deps.signalFiles.remove(String(record.job_id));
    await this.#delete(jobsTable, key);
  }

  /** The webhook last: a run that was interrupted finds it again. */
  async #ownWebhook(key: { readonly job_id: unknown; readonly item: unknown }): Promise<void> {
    this.#erased.webhooks += 1;
    if (this.#dryRun) return;
    const { client, jobsTable: TableName } = this.#deps;
    for (const prefix of [PENDING_DELIVERY_PREFIX, DELIVERY_PREFIX]) {
      const pages = paginateQuery(
        { client },
        {
          TableName,
          KeyConditionExpression: 'job_id = :partition',
          ExpressionAttributeValues: { ':partition': `${prefix}${key.item}` },
          ExpressionAttributeNames: { '#item': 'item' },
          ProjectionExpression: 'job_id, #item',
        },
      );
      for await (const { Items = [] } of pages) for (const each of Items) await this.#delete(TableName, each);
    }
    await this.#delete(TableName, key);
  }

  #noteUnfinished(jobId: string): void {
    const { unfinished } = this.#erased;
    if (!unfinished.includes(jobId)) unfinished.push(jobId);
  }

  async #ownJob(job: Item): Promise<void> {
    const id = String(job.job_id);
    if (!isTerminal(job.status as JobStatus)) {
      this.#noteUnfinished(id);
      return;
    }
    const isEvidence =
      job.kind === 'validation' || job.evidence_of !== undefined || this.#evidence.has(job.job_id);
    if (isEvidence) {
      const written = {
        ...(job.notes !== undefined && { notes: '' }),
        ...(job.tags !== undefined && { tags: [] }),
        ...(typeof job.experiment_name === 'string' && { experiment_name: null }),
      };
      // Before the job: a run that dies in between finds the job again.
      if ('experiment_name' in written) await this.#forgetExperiment(job);
      const changed = { owner: this.#pseudonym, ...written };
      if (await this.#replace(this.#deps.jobsTable, jobKey(id), job, changed)) {
        this.#erased.evidence += 1;
      }
      return;
    }
    this.#erased.jobs += 1;
    if (this.#dryRun || !(await this.#beginDeletion(id))) return;
    await this.#deps.results.remove(id);
    await this.#retention.deleteItems(id, 'job');
    await this.#delete(this.#deps.jobsTable, jobKey(id));
  }

  /** Lists of those with whom a job is shared have a copy of the name. */
  async #forgetExperiment({ job_id, shared_with = [] }: Item): Promise<void> {
    if (this.#dryRun) return;
    for (const { principal } of shared_with as readonly Grant[]) {
      await this.#update(
        this.#deps.jobsTable,
        { job_id, item: `ACCESS#${principal}` },
        {
          UpdateExpression: 'SET experiment_name = :none',
          ConditionExpression: 'attribute_exists(experiment_name)',
          ExpressionAttributeValues: { ':none': null },
        },
      );
    }
  }

  /** From here on no registration takes the job as evidence. False: one did before. */
  #beginDeletion(jobId: string): Promise<boolean> {
    return this.#update(this.#deps.jobsTable, jobKey(jobId), {
      UpdateExpression: 'SET expired_at = :at',
      ConditionExpression: 'attribute_exists(job_id) AND attribute_not_exists(evidence_of)',
      ExpressionAttributeValues: { ':at': new Date().toISOString() },
    });
  }

  async #withoutGrants(item: Item): Promise<void> {
    const shared = (item.shared_with ?? []) as readonly Grant[];
    const rest = shared.filter(({ principal }) => principal !== this.#principal);
    const isNamed = item.cancelled_by === this.#subject;
    if (rest.length === shared.length && !isNamed) return;
    const key = { job_id: item.job_id, item: item.item };
    const changed = {
      ...(item.shared_with !== undefined && { shared_with: rest }),
      ...(isNamed && { cancelled_by: this.#pseudonym }),
    };
    if (await this.#replace(this.#deps.jobsTable, key, item, changed)) this.#erased.grants += 1;
  }

  /** The value with the pseudonym in fields of users, and without grants to the user. */
  #withoutUser(value: unknown, field: string): unknown {
    if (typeof value === 'string') {
      if (field === 'message') return this.#withoutSaid(value);
      return USER_FIELDS.has(field) && value === this.#subject ? this.#pseudonym : value;
    }
    if (Array.isArray(value)) {
      const kept =
        field === 'shared_with' ? value.filter((grant: Grant) => grant.principal !== this.#principal) : value;
      return kept.map((each) => this.#withoutUser(each, ''));
    }
    if (value === null || typeof value !== 'object' || ArrayBuffer.isView(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, this.#withoutUser(each, name)]),
    );
  }

  /** Messages of checks say who waived or skipped them. */
  #withoutSaid(message: string): string {
    if (message === `Skipped by ${this.#subject}`) return `Skipped by ${this.#pseudonym}`;
    return message.replaceAll(`Waived by ${this.#subject}: `, () => `Waived by ${this.#pseudonym}: `);
  }

  #withoutUserJson(json: unknown): unknown {
    return JSON.stringify(this.#withoutUser(JSON.parse(String(json)), ''));
  }

  /** Sets attributes, if they still are as in `item`; a dry run only counts. */
  #replace(
    table: string,
    key: Item,
    item: Item,
    changed: Readonly<Record<string, unknown>>,
  ): Promise<boolean> {
    if (this.#dryRun) return Promise.resolve(true);
    const names = Object.keys(changed);
    return this.#update(table, key, {
      UpdateExpression: `SET ${names.map((name) => `#${name} = :new_${name}`).join(', ')}`,
      ConditionExpression: names.map((name) => `#${name} = :old_${name}`).join(' AND '),
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: Object.fromEntries(
        names.flatMap((name) => [
          [`:new_${name}`, changed[name]],
          [`:old_${name}`, item[name]],
        ]),
      ),
    });
  }

  async #update(
    TableName: string,
    Key: Item,
    update: {
      readonly UpdateExpression: string;
      readonly ConditionExpression: string;
      readonly ExpressionAttributeNames?: Record<string, string>;
      readonly ExpressionAttributeValues: Record<string, unknown>;
    },
  ): Promise<boolean> {
    // A failed condition means that another write came first: the next pass sees it.
    return unlessConditionFails(this.#deps.client.send(new UpdateCommand({ TableName, Key, ...update })));
  }

  async #delete(TableName: string, Key: Item): Promise<void> {
    await this.#deps.client.send(new DeleteCommand({ TableName, Key }));
  }
}
