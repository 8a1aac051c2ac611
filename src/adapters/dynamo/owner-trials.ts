import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, PutCommand, paginateQuery, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { StoredTrialGroup } from '#contract/jobs/trial-ledger.ts';
import { assetsOf } from '#contract/values/currency.ts';
import { TRIALS_PREFIX } from '#contract/values/tables.ts';
import {
  MAX_KEPT_TRIALS,
  type OwnerTrials,
  type Trial,
  type TrialResult,
  type TrialRun,
  type TrialSum,
  type TrialsOfOwner,
} from '#domain/trials/owner-trials.ts';
import type { RunningMoments } from '#engine/stats/running-moments.ts';
import { sha256 } from '../sha256.ts';
import { checkStored, fromAttributes, type Item } from './stored-items.ts';

/** Entries of an item that backtests share: one write unit each, because the item stays below 1 KB unless it has dozens of assets. */
const MAX_ENTRIES = 16;
/** Sums of one owner: hyperopt jobs of many trials. */
const MAX_SUMS = 1_000;
/** Decimals of stored sums: DynamoDB adds numbers of up to 38 digits exactly. */
const DECIMALS = 18;
/** Width of the number of an item in its key. */
const DIGITS = 6;

/** Trials, with their entries in each item, by sort key. */
interface Found extends TrialsOfOwner {
  readonly entries: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * Trials of users in the Jobs table, in one partition for each owner (`#trials#<owner>`). Trials of one strategy, set of assets and kind
 * of market have the same hash in their sort key.
 * - `GROUP2#<hash>#<number>`: trials of backtests, as entries of a string set
 * - `GROUP2#<hash>#S<digest>`: those of a hyperopt job, as such entries or as one sum
 * - `GROUP2#<hash>#R<job ID>`: the number of trials of a hyperopt job that runs; 0 when it has ended
 * - `GROUP2#FURTHER#real`, `GROUP2#FURTHER#simulated`: sums of those beyond {@link MAX_KEPT_TRIALS} and {@link MAX_SUMS}
 * - `GROUP#<hash>`, `GROUP#FURTHER`: sums of the trials that version 1 counted
 *
 * An update adds an entry to the set, so concurrent runs do not wait for each other and a repeated one changes nothing. Where two of
 * them write the same trial into two items, the reader finds equal entries.
 */
export class DynamoOwnerTrials implements OwnerTrials {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async count(owner: string, run: TrialRun, results: readonly TrialResult[]): Promise<TrialsOfOwner> {
    const known = await this.#read(owner, sessionsOf(run), true);
    const group = groupOf(owner, run);
    const counted = new Set(
      [...known.entries].flatMap(([item, own]) => (item.startsWith(group.item) ? [...own] : [])),
    );
    const trials = results.map((result): Trial => ({ ...run, ...result }));
    const added = trials.filter((trial) => !counted.has(entryOf(trial)));
    if (added.length === 0) return known;
    const [only] = trials;
    if (trials.length > 1) {
      const room = MAX_KEPT_TRIALS / 2 - known.trials.length;
      return this.#addStudy(group, trials, { known, added, isKept: added.length <= room });
    }
    if (known.trials.length < MAX_KEPT_TRIALS) {
      const written = await this.#addEntry(group, entryOf(only!), known.entries);
      // With those that concurrent runs have added since the read.
      const trials = written.flatMap((item) => toTrials(item, sessionsOf(run)).trials);
      return { ...known, trials: [...known.trials, ...trials] };
    }
    await this.#addToFurther(group, added);
    return { ...known, trials: [...known.trials, ...added] };
  }

  async countRunning(owner: string, run: TrialRun, jobId: string, trials: number): Promise<void> {
    try {
      await this.#putRunning(owner, run, jobId, {
        content: { trials },
        condition: 'attribute_not_exists(#trials) OR (attribute_not_exists(ended) AND #trials < :trials)',
      });
    } catch (error) {
      // As many are counted, or the job has ended meanwhile.
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
    }
  }

  async endRunning(owner: string, run: TrialRun, jobId: string): Promise<void> {
    await this.#putRunning(owner, run, jobId, { content: { trials: 0, ended: true } });
  }

  async #putRunning(
    owner: string,
    run: TrialRun,
    jobId: string,
    {
      content,
      condition,
    }: { readonly content: { readonly trials: number; readonly ended?: true }; readonly condition?: string },
  ): Promise<void> {
    const group = groupOf(owner, run);
    const { start, end, session } = run;
    const of = { ...group.constants, candles: { start, end }, ...(session !== null && { session }) };
    await this.#client.send(
      new PutCommand({
        TableName: this.#table,
        Item: { job_id: group.partition, item: `${group.item}#R${jobId}`, ...of, ...content },
        ...(condition && {
          ConditionExpression: condition,
          ExpressionAttributeNames: { '#trials': 'trials' },
          ExpressionAttributeValues: { ':trials': content.trials },
        }),
      }),
    );
  }

  async read(owner: string, sessions: readonly string[]): Promise<TrialsOfOwner> {
    return this.#read(owner, namesByTag(sessions), false);
  }

  async #read(owner: string, sessions: SessionNames, isConsistent: boolean): Promise<Found> {
    const pages = paginateQuery(
      { client: this.#client },
      {
        TableName: this.#table,
        KeyConditionExpression: 'job_id = :partition AND begins_with(#item, :prefix)',
        ExpressionAttributeNames: { '#item': 'item' },
        ExpressionAttributeValues: { ':partition': trialsPartition(owner), ':prefix': ANY_VERSION },
        ConsistentRead: isConsistent,
      },
    );
    const found = {
      trials: [] as Trial[],
      sums: [] as TrialSum[],
      entries: new Map<string, ReadonlySet<string>>(),
    };
    for await (const { Items = [] } of pages) {
      for (const item of Items) {
        const { trials, sum } = toTrials(item, sessions);
        for (const trial of trials) found.trials.push(trial);
        if (sum && sum.trials > 0) found.sums.push(sum);
        found.entries.set(String(item.item), entriesOf(item));
      }
    }
    return found;
  }

  /** Adds an entry to the first item with room. Returns the items that it tried, the last one with the entry. */
  async #addEntry(group: Group, entry: string, entries: Found['entries']): Promise<Item[]> {
    const keyOf = (number: number) => `${group.item}#${String(number).padStart(DIGITS, '0')}`;
    const tried: Item[] = [];
    let number = 0;
    while ((entries.get(keyOf(number))?.size ?? 0) >= MAX_ENTRIES) number++;
    for (let isAdded = false; !isAdded; number++) {
      const { added, full } = await this.#addTo(group, keyOf(number), entry);
      tried.push(added ?? full!);
      isAdded = added !== undefined;
    }
    return tried;
  }

  /** The item with the entry, or the full item without it. */
  async #addTo(group: Group, item: string, entry: string): Promise<{ readonly added?: Item; full?: Item }> {
    try {
      const added = await this.#update(group, item, {
        add: { entries: new Set([entry]) },
        condition: 'attribute_not_exists(entries) OR contains(entries, :entry) OR size(entries) < :max',
        values: { ':entry': entry, ':max': MAX_ENTRIES },
      });
      return { added };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw error;
      return { full: fromAttributes((full) => full, error.Item)! };
    }
  }

  /** Adds trials to those of any strategy, assets and range. Repeats count again. */
  async #addToFurther({ partition, constants }: Group, trials: readonly Trial[]): Promise<void> {
    const { schema_version, simulated } = constants;
    const item = `${GROUP_PREFIX}FURTHER#${simulated ? 'simulated' : 'real'}`;
    await this.#update({ partition, constants: { schema_version, simulated } }, item, {
      add: sumsOf(trials),
    });
  }

  /** Stores the trials of a hyperopt job in an item of their own: repeats store the same. */
  async #addStudy(
    group: Group,
    trials: readonly Trial[],
    { known, added, isKept }: { known: Found; added: readonly Trial[]; isKept: boolean },
  ): Promise<TrialsOfOwner> {
    const entries = trials.map(entryOf);
    const item = `${group.item}#S${sha256(entries.toSorted().join()).slice(0, 32)}`;
    // The sum of an earlier attempt.
    if (known.entries.has(item)) return known;
    const after = { ...known, trials: [...known.trials, ...added] };
    if (!isKept && known.sums.length >= MAX_SUMS) {
      await this.#addToFurther(group, added);
      return after;
    }
    const { start, end, session } = trials[0]!;
    const content = isKept
      ? { entries: new Set(entries) }
      : { candles: { start, end }, ...(session !== null && { session }), ...sumsOf(added) };
    await this.#client.send(
      new PutCommand({
        TableName: this.#table,
        Item: { job_id: group.partition, item, ...group.constants, ...content },
      }),
    );
    return after;
  }

  async #update(
    { partition, constants }: { readonly partition: string; readonly constants: object },
    item: string,
    update: {
      readonly add: Readonly<Record<string, unknown>>;
      readonly condition?: string;
      readonly values?: Readonly<Record<string, unknown>>;
    },
  ): Promise<Item> {
    const { add, values, condition } = update;
    const named = { ...constants, ...add };
    const list = (names: object, operator: string) =>
      Object.keys(names)
        .map((name) => `#${name}${operator}:${name}`)
        .join(', ');
    const { Attributes } = await this.#client.send(
      new UpdateCommand({
        TableName: this.#table,
        Key: { job_id: partition, item },
        UpdateExpression: `SET ${list(constants, ' = ')} ADD ${list(add, ' ')}`,
        ...(condition && { ConditionExpression: condition }),
        ExpressionAttributeNames: Object.fromEntries(Object.keys(named).map((name) => [`#${name}`, name])),
        ExpressionAttributeValues: {
          ...Object.fromEntries(Object.entries(named).map(([name, value]) => [`:${name}`, value])),
          ...values,
        },
        ReturnValues: 'ALL_NEW',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    );
    return Attributes!;
  }
}

/** Start of the sort keys. Tasks of a release that reads version 1 only look for `GROUP#`. */
const GROUP_PREFIX = 'GROUP2#';
const ANY_VERSION = 'GROUP';

/** Partition of the trials of a user. */
export function trialsPartition(owner: string): string {
  return `${TRIALS_PREFIX}${owner}`;
}

/** Trials of one strategy, set of assets and kind of market. */
interface Group {
  readonly partition: string;
  /** Start of the sort keys. */
  readonly item: string;
  /** Attributes of all its items. */
  readonly constants: Readonly<Record<'schema_version' | 'strategy' | 'simulated' | 'assets', unknown>>;
}

function groupOf(owner: string, { strategy, simulated, assets }: TrialRun): Group {
  const hash = sha256(JSON.stringify([strategy, simulated, assets])).slice(0, 32);
  return {
    partition: trialsPartition(owner),
    item: `${GROUP_PREFIX}${hash}`,
    constants: { schema_version: 2, strategy, simulated, assets: assets.join(' ') },
  };
}

/** Bytes of an entry: digest of the daily returns, Sharpe ratio, start and end in ms, tag of the session. */
const AT = { digest: 0, sharpe: 6, start: 14, end: 20, session: 26, length: 30 } as const;

/** An entry of 40 characters of base 64. */
function entryOf({ digest, sharpe, start, end, session }: Omit<Trial, 'strategy' | 'simulated' | 'assets'>) {
  const bytes = Buffer.alloc(AT.length);
  bytes.write(digest, AT.digest, AT.sharpe - AT.digest, 'hex');
  bytes.writeDoubleLE(sharpe ?? Number.NaN, AT.sharpe);
  bytes.writeIntLE(start, AT.start, AT.end - AT.start);
  bytes.writeIntLE(end, AT.end, AT.session - AT.end);
  bytes.write(session === null ? '' : sessionTag(session), AT.session, 'hex');
  return bytes.toString('base64');
}

function resultOf(entry: string, sessions: SessionNames) {
  const bytes = Buffer.from(entry, 'base64');
  const sharpe = bytes.readDoubleLE(AT.sharpe);
  return {
    digest: bytes.toString('hex', AT.digest, AT.sharpe),
    sharpe: Number.isNaN(sharpe) ? null : sharpe,
    start: bytes.readIntLE(AT.start, AT.end - AT.start),
    end: bytes.readIntLE(AT.end, AT.session - AT.end),
    session: sessions.get(bytes.toString('hex', AT.session)) ?? null,
  };
}

/** 32 bits that stand for the name of a session in an entry. */
function sessionTag(session: string): string {
  return sha256(session).slice(0, 2 * (AT.length - AT.session));
}

/** Names of sessions that trials are recognized by, by tag. */
type SessionNames = ReadonlyMap<string, string>;

const namesByTag = (sessions: readonly string[]): SessionNames =>
  new Map(sessions.map((session) => [sessionTag(session), session]));
const sessionsOf = ({ session }: TrialRun) => namesByTag(session === null ? [] : [session]);

/** Attributes that are added up. */
function sumsOf(trials: readonly TrialResult[]) {
  const ratios = trials.flatMap(({ sharpe }) => sharpe ?? []);
  const sum = (values: readonly number[]) =>
    Number(values.reduce((total, each) => total + each, 0).toFixed(DECIMALS));
  return {
    trials: trials.length,
    sharpe_count: ratios.length,
    sharpe_sum: sum(ratios),
    sharpe_squares: sum(ratios.map((each) => each * each)),
  };
}

function momentsOfSums(count: number, sum: number, squares: number): RunningMoments {
  const mean = count === 0 ? 0 : sum / count;
  return { count, mean, squares: Math.max(0, squares - sum * mean) };
}

function toTrials(
  item: Item,
  sessions: SessionNames,
): { readonly trials: readonly Trial[]; readonly sum: TrialSum | undefined } {
  const name = () => `${String(item.item)} of ${String(item.job_id)}`;
  const stored = checkStored(StoredTrialGroup, item, name);
  const { start = null, end = null } = stored.candles ?? {};
  if (stored.schema_version === 1) {
    const { strategy = null, pairs } = stored;
    const assets = pairs === undefined ? null : assetsOf(pairs.split(' '));
    return {
      trials: [],
      sum: sumOf({ strategy, simulated: null, assets, start, end, session: null }, stored),
    };
  }
  const { strategy = null, simulated, session = null } = stored;
  const assets = stored.assets?.split(' ') ?? null;
  // An item with entries has both.
  const of = { strategy: strategy!, simulated, assets: assets! };
  return {
    trials: Array.from(entriesOf(item), (entry) => ({ ...of, ...resultOf(entry, sessions) })),
    sum: sumOf({ strategy, simulated, assets, start, end, session }, stored),
  };
}

function entriesOf({ entries }: Item): ReadonlySet<string> {
  return entries instanceof Set ? entries : new Set();
}

function sumOf(of: TrialSum['of'], stored: StoredTrialGroup): TrialSum | undefined {
  const { trials, sharpe_count = 0, sharpe_sum = 0, sharpe_squares = 0 } = stored;
  if (trials === undefined) return undefined;
  return { of, trials, sharpe: momentsOfSums(sharpe_count, sharpe_sum, sharpe_squares) };
}
