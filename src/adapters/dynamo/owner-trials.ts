import { setTimeout as wait } from 'node:timers/promises';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateQuery,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb';
import { StoredTrialGroup } from '#contract/backtests/trial-ledger.ts';
import { CodedError } from '#contract/values/errors.ts';
import { TRIALS_PREFIX } from '#contract/values/tables.ts';
import {
  MAX_TRIAL_GROUPS,
  type NewTrials,
  type OwnerTrials,
  type TrialCandles,
  type TrialGroup,
  type TrialScope,
} from '#domain/trials/owner-trials.ts';
import type { RunningMoments } from '#engine/stats/running-moments.ts';
import { sha256 } from '../ids.ts';
import { checkStored, type Item } from './stored-items.ts';

/** Attempts to count in a group whose digests others move at the same time. The pauses between them grow to 1 s. */
const ATTEMPTS = 50;
const MAX_PAUSE_MS = 1_000;
/** Digests in a group after which the writer of the last one moves them out. An item stays below 1 KB. */
const MOVED_AT = 12;
/** Digests that a group takes at most, while the writers that should move them are late. */
const MAX_RECENT = 48;
/** Attempts after which any writer moves the digests of a full group: those that should have are gone. */
const PATIENCE = 4;
/** Characters of a stored digest, 128 bits of SHA-256. */
const DIGEST_LENGTH = 32;
/** Decimals of stored sums: DynamoDB adds numbers of up to 38 digits exactly. */
const DECIMALS = 18;

/** Sort key of the group of trials beyond the maximum number of groups. */
const FURTHER = 'FURTHER';

/** A stored group. */
interface Stored extends TrialGroup {
  /** Sort key. */
  readonly item: string;
  readonly recent: ReadonlySet<string>;
  readonly epoch: number;
}

/**
 * Trials of users in the Jobs table, in one partition for each owner (`#trials#<owner>`). Items of an owner's session have its name
 * before their sort key.
 * - `GROUP#<hash>`: trials of one strategy, range and set of pairs
 * - `RUN#<digest>`: a trial that was counted
 *
 * One update adds a trial to the sums of its group and its digest to the set of recent ones, unless the digest is there: concurrent
 * runs do not wait for each other. Every {@link MOVED_AT} trials a writer stores the recent digests as items, then takes them out of the
 * set and raises the epoch. A count is conditional on the epoch in which its digest had neither. So each digest that was counted is found
 * after a crash between any two writes, without a transaction, which would cost four writes instead of two.
 */
export class DynamoOwnerTrials implements OwnerTrials {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async count(scope: TrialScope, trials: NewTrials): Promise<readonly TrialGroup[]> {
    const keys = keysOf(scope);
    const groups = await this.#groups(keys);
    const digest = trials.digest.slice(0, DIGEST_LENGTH);
    if (groups.some(({ recent }) => recent.has(digest))) return groups;
    const added = { ...trials, digest, ...placeOf(keys, trials.of, groups) };
    const others = groups.filter(({ item }) => item !== added.item);
    let group = groups.find(({ item }) => item === added.item);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // After the group was read: a digest that has left it has an item.
      if (group?.recent.has(digest) || (await this.#isCounted(keys, digest))) break;
      const isFull = group !== undefined && group.recent.size >= MAX_RECENT;
      if (isFull && attempt >= PATIENCE) await this.#move(keys, group!);
      const after = await this.#add(keys, group, added);
      if (after) {
        if (after.recent.size % MOVED_AT === 0) await this.#move(keys, after);
        return [...others, after];
      }
      if (attempt === ATTEMPTS - 1) throw conflict();
      await wait(Math.random() * Math.min(MAX_PAUSE_MS, 10 * 2 ** attempt));
      group = await this.#group(keys, added.item);
    }
    return group ? [...others, group] : others;
  }

  async #groups({ partition, prefix }: ScopeKeys): Promise<Stored[]> {
    const pages = paginateQuery(
      { client: this.#client },
      {
        TableName: this.#table,
        KeyConditionExpression: 'job_id = :partition AND begins_with(#item, :prefix)',
        ExpressionAttributeNames: { '#item': 'item' },
        ExpressionAttributeValues: { ':partition': partition, ':prefix': `${prefix}GROUP#` },
        ConsistentRead: true,
      },
    );
    const found: Stored[] = [];
    for await (const { Items = [] } of pages) found.push(...Items.map(toGroup));
    return found;
  }

  async #group({ partition }: ScopeKeys, item: string): Promise<Stored | undefined> {
    const found = await this.#get({ job_id: partition, item });
    return found && toGroup(found);
  }

  async #isCounted(keys: ScopeKeys, digest: string): Promise<boolean> {
    return (await this.#get(keys.run(digest))) !== undefined;
  }

  async #get(Key: Item): Promise<Item | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key, ConsistentRead: true }),
    );
    return Item;
  }

  /** The group with the trials; undefined when they may be in it already, when it is full, or when digests have left it. */
  async #add(
    { partition }: ScopeKeys,
    group: Stored | undefined,
    { item, of, trials, sharpe, digest }: Omit<NewTrials, 'of'> & Pick<Stored, 'item' | 'of'>,
  ): Promise<Stored | undefined> {
    const { count, sum, squares } = sumsOf(sharpe);
    const constants = {
      schema_version: 1,
      ...(of && {
        strategy: of.strategy,
        pairs: of.pairs.join(' '),
        candles: { start: of.start, end: of.end },
      }),
      epoch: group?.epoch ?? 0,
    };
    const names = Object.keys(constants);
    return this.#update({
      Key: { job_id: partition, item },
      UpdateExpression: `SET ${names.map((name) => `#${name} = :${name}`).join(', ')} ADD trials :trials, sharpe_count :count, sharpe_sum :sum, sharpe_squares :squares, recent :digests`,
      ConditionExpression: group
        ? '#epoch = :epoch AND (attribute_not_exists(recent) OR (NOT contains(recent, :digest) AND size(recent) < :max))'
        : 'attribute_not_exists(job_id)',
      ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(Object.entries(constants).map(([name, value]) => [`:${name}`, value])),
        ':trials': trials,
        ':count': count,
        ':sum': sum,
        ':squares': squares,
        ':digests': new Set([digest]),
        ...(group && { ':digest': digest, ':max': MAX_RECENT }),
      },
    });
  }

  /** Stores the recent digests of a group as items and takes them out of it, unless another writer has done so. */
  async #move(keys: ScopeKeys, { item, recent, epoch }: Stored): Promise<void> {
    await Promise.all(
      [...recent].map((digest) =>
        this.#client.send(new PutCommand({ TableName: this.#table, Item: keys.run(digest) })),
      ),
    );
    await this.#update({
      Key: { job_id: keys.partition, item },
      UpdateExpression: 'SET #epoch = :next DELETE recent :digests',
      ConditionExpression: '#epoch = :epoch',
      ExpressionAttributeNames: { '#epoch': 'epoch' },
      ExpressionAttributeValues: { ':next': epoch + 1, ':epoch': epoch, ':digests': new Set(recent) },
    });
  }

  /** The group after the update; undefined when its condition failed. */
  async #update(
    update: Pick<
      ConstructorParameters<typeof UpdateCommand>[0],
      | 'Key'
      | 'UpdateExpression'
      | 'ConditionExpression'
      | 'ExpressionAttributeNames'
      | 'ExpressionAttributeValues'
    >,
  ): Promise<Stored | undefined> {
    try {
      const { Attributes } = await this.#client.send(
        new UpdateCommand({ TableName: this.#table, ...update, ReturnValues: 'ALL_NEW' }),
      );
      return toGroup(Attributes!);
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return undefined;
      throw error;
    }
  }
}

interface ScopeKeys {
  readonly partition: string;
  /** Start of the sort keys of a session. */
  readonly prefix: string;
  /** Key of a trial that was counted. */
  readonly run: (digest: string) => { readonly job_id: string; readonly item: string };
}

function keysOf({ owner, session }: TrialScope): ScopeKeys {
  const partition = trialsPartition(owner);
  // Names of sessions have no `#`.
  const prefix = session === null ? '' : `SESSION#${session}#`;
  return { partition, prefix, run: (digest) => ({ job_id: partition, item: `${prefix}RUN#${digest}` }) };
}

/** Partition of the trials of a user. */
export function trialsPartition(owner: string): string {
  return `${TRIALS_PREFIX}${owner}`;
}

function hashOf({ strategy, start, end, pairs }: TrialCandles): string {
  return sha256(JSON.stringify([strategy, start, end, [...pairs].sort()])).slice(0, 32);
}

/** Group that takes new trials: that of their candles, or the common one when there are too many. */
function placeOf(
  { prefix }: ScopeKeys,
  of: TrialCandles,
  groups: readonly Stored[],
): Pick<Stored, 'item' | 'of'> {
  const item = `${prefix}GROUP#${hashOf(of)}`;
  const hasPlace = groups.length < MAX_TRIAL_GROUPS || groups.some((group) => group.item === item);
  return hasPlace ? { item, of } : { item: `${prefix}GROUP#${FURTHER}`, of: null };
}

function conflict(): CodedError {
  return new CodedError('DATA005', {
    message: `Write conflict: the trials of the owner changed during ${ATTEMPTS} attempts to count one`,
  });
}

/** Sums of the values, and of their squares. */
function sumsOf({ count, mean, squares }: RunningMoments) {
  const fixed = (value: number) => Number(value.toFixed(DECIMALS));
  return { count, sum: fixed(mean * count), squares: fixed(squares + count * mean * mean) };
}

function momentsOfSums(count: number, sum: number, squares: number): RunningMoments {
  const mean = count === 0 ? 0 : sum / count;
  return { count, mean, squares: Math.max(0, squares - sum * mean) };
}

function toGroup(item: Item): Stored {
  const name = () => `${String(item.item)} of ${String(item.job_id)}`;
  const { strategy, pairs, candles, trials, epoch, ...sharpe } = checkStored(StoredTrialGroup, item, name);
  const isKnown = strategy !== undefined && pairs !== undefined && candles !== undefined;
  return {
    item: String(item.item),
    of: isKnown ? { strategy, pairs: pairs.split(' '), ...candles } : null,
    sharpe: momentsOfSums(sharpe.sharpe_count, sharpe.sharpe_sum, sharpe.sharpe_squares),
    trials,
    recent: item.recent instanceof Set ? item.recent : new Set(),
    epoch,
  };
}
