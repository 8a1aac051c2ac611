import { setTimeout as wait } from 'node:timers/promises';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, PutCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import { CodedError } from '#contract/errors.ts';
import { TRIALS_PREFIX } from '#contract/tables.ts';
import { StoredTrialGroup } from '#contract/trial-ledger.ts';
import {
  MAX_TRIAL_GROUPS,
  type NewTrials,
  type OwnerTrials,
  type TrialCandles,
  type TrialGroup,
  type TrialScope,
} from '#domain/trials/owner-trials.ts';
import { combineMoments, NO_VALUES } from '#engine/stats/running-moments.ts';
import { sha256 } from '../ids.ts';
import { fromAttributes, type Item, parseItem } from './stored-items.ts';

/** Attempts to count in a group that other runs change at the same time. The pauses between them grow to 0.2 s. */
const ATTEMPTS = 50;
const MAX_PAUSE_MS = 200;

/** Sort key of the group of trials beyond the maximum number of groups. */
const FURTHER = 'FURTHER';

/** A stored group. */
interface Stored extends TrialGroup {
  /** Sort key. */
  readonly item: string;
  readonly last: string;
}

/**
 * Trials of users in the Jobs table, in one partition for each owner (`#trials#<owner>`). Items of an owner's session have its name
 * before their sort key.
 * - `GROUP#<hash>`: trials of one strategy, range and set of pairs
 * - `RUN#<digest>`: a trial that was counted
 *
 * A trial costs two writes of 1 KB. A group names the digest that it counted last. Before the next one is counted, that digest gets
 * an item of its own. So each counted digest is found again after a crash between any two writes, without a transaction, which would
 * cost four.
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
    const { digest } = trials;
    if (groups.some(({ last }) => last === digest)) return groups;
    const wanted = `${keys.prefix}GROUP#${hashOf(trials.of)}`;
    const isKnown = groups.some(({ item }) => item === wanted);
    const item = isKnown || groups.length < MAX_TRIAL_GROUPS ? wanted : `${keys.prefix}GROUP#${FURTHER}`;
    const others = groups.filter((group) => group.item !== item);
    let group = groups.find((each) => each.item === item);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // After the group was read: whoever replaced the digest in it has stored the item before.
      if (group?.last === digest || (await this.#isCounted(keys, digest))) {
        return group ? [...others, group] : others;
      }
      if (group) await this.#put({ ...keys.key(`RUN#${group.last}`) });
      const next: Stored = sumOf(item, item === wanted ? trials.of : null, group, trials);
      const found = await this.#replace(keys, group, next);
      if (found === 'replaced') return [...others, next];
      group = found;
      await wait(Math.random() * Math.min(MAX_PAUSE_MS, 10 * 2 ** attempt));
    }
    throw new CodedError('DATA005', {
      message: `Write conflict: the trials of the owner changed during ${ATTEMPTS} attempts to count one`,
    });
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

  async #isCounted(keys: ScopeKeys, digest: string): Promise<boolean> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: keys.key(`RUN#${digest}`), ConsistentRead: true }),
    );
    return Item !== undefined;
  }

  /** Stores a group unless it has changed since. Returns `replaced`, or the group as found. */
  async #replace(
    keys: ScopeKeys,
    before: Stored | undefined,
    { item, of, trials, sharpe, last }: Stored,
  ): Promise<'replaced' | Stored | undefined> {
    const stored: StoredTrialGroup = {
      schema_version: 1,
      ...(of && {
        strategy: of.strategy,
        pairs: of.pairs.join(' '),
        candles: { start: of.start, end: of.end },
      }),
      ...{ trials, sharpe, last },
    };
    try {
      await this.#client.send(
        new PutCommand({
          TableName: this.#table,
          Item: { job_id: keys.partition, item, ...stored },
          ...(before
            ? {
                ConditionExpression: 'trials = :trials AND #last = :last',
                ExpressionAttributeNames: { '#last': 'last' },
                ExpressionAttributeValues: { ':trials': before.trials, ':last': before.last },
              }
            : { ConditionExpression: 'attribute_not_exists(job_id)' }),
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      return 'replaced';
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      return fromAttributes(toGroup, error.Item);
    }
  }

  async #put(item: Item): Promise<void> {
    await this.#client.send(new PutCommand({ TableName: this.#table, Item: item }));
  }
}

interface ScopeKeys {
  readonly partition: string;
  /** Start of the sort keys of a session. */
  readonly prefix: string;
  readonly key: (item: string) => { readonly job_id: string; readonly item: string };
}

function keysOf({ owner, session }: TrialScope): ScopeKeys {
  const partition = trialsPartition(owner);
  // Names of sessions have no `#`.
  const prefix = session === null ? '' : `SESSION#${session}#`;
  return { partition, prefix, key: (item) => ({ job_id: partition, item: `${prefix}${item}` }) };
}

/** Partition of the trials of a user. */
export function trialsPartition(owner: string): string {
  return `${TRIALS_PREFIX}${owner}`;
}

function hashOf({ strategy, start, end, pairs }: TrialCandles): string {
  return sha256(JSON.stringify([strategy, start, end, [...pairs].sort()])).slice(0, 32);
}

function sumOf(
  item: string,
  of: TrialCandles | null,
  group: Stored | undefined,
  { trials, sharpe, digest }: NewTrials,
): Stored {
  return {
    ...{ item, of, last: digest },
    trials: (group?.trials ?? 0) + trials,
    sharpe: combineMoments(group?.sharpe ?? NO_VALUES, sharpe),
  };
}

function toGroup(item: Item): Stored {
  const { strategy, pairs, candles, trials, sharpe, last } = parseItem(StoredTrialGroup, item);
  const isKnown = strategy !== undefined && pairs !== undefined && candles !== undefined;
  return {
    item: String(item.item),
    of: isKnown ? { strategy, pairs: pairs.split(' '), ...candles } : null,
    ...{ trials, sharpe, last },
  };
}
