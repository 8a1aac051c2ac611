import { setTimeout as wait } from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import type * as z from 'zod';
import { CodedError } from '#contract/errors.ts';
import { StoredSeries, StoredSeriesMonths } from '#contract/stored-market-data.ts';
import type { SeriesInfo, SeriesKey, SeriesMonth, SeriesStore } from '#domain/ports.ts';
import { TIMEFRAME_MS, TIMEFRAMES, type Timeframe } from '#engine/timeframe.ts';
import { mergeMonths, summarizeMonths, withCorruptMonth } from '../series-months.ts';

/** What a BatchGetItem takes. */
const BATCH = 100;
/** Pauses of 0.05 to 1.6 s between them, 3.2 s in all at most. */
const BATCH_ATTEMPTS = 7;
/** Each lost attempt means that another writer came between, of this series or of another timeframe of its symbol. */
const WRITE_ATTEMPTS = 50;

/** Why a transaction may be tried again: another writer was first, or is at it. */
const LOST = new Set(['ConditionalCheckFailed', 'TransactionConflict']);

/** What `info` is made of. */
interface Recorded {
  /** By month, ascending. */
  readonly months: readonly SeriesMonth[];
  readonly complete_from?: string | undefined;
}

/**
 * What is stored of each series, in the Series table: an item for each symbol with a short text for each timeframe, and, out
 * of the way of freshness, an item for each series with its months. Both are written in one transaction. Reads are strongly
 * consistent.
 */
export class DynamoSeriesStore implements SeriesStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async getMany(
    exchange: string,
    series: readonly Omit<SeriesKey, 'exchange'>[],
  ): Promise<ReadonlyMap<string, SeriesInfo>> {
    const wanted = new Set(series.map(seriesName));
    const timeframes = TIMEFRAMES.filter((each) => series.some(({ timeframe }) => timeframe === each));
    const symbols = [...new Set(series.map(({ symbol }) => symbol))];
    const batches = Array.from({ length: Math.ceil(symbols.length / BATCH) }, (_, index) =>
      symbols.slice(index * BATCH, (index + 1) * BATCH),
    );
    const items = await Promise.all(batches.map((batch) => this.#getBatch(exchange, batch, timeframes)));
    const found = items.flat().flatMap((item) => readSymbol(exchange, item));
    const named = found.map((info) => [seriesName(info), info] as const);
    return new Map(named.filter(([name]) => wanted.has(name)));
  }

  async list(exchange: string): Promise<readonly SeriesInfo[]> {
    const pages = paginateQuery(
      { client: this.#client },
      {
        TableName: this.#table,
        ConsistentRead: true,
        KeyConditionExpression: '#exchange = :exchange',
        ExpressionAttributeNames: { '#exchange': 'exchange' },
        ExpressionAttributeValues: { ':exchange': exchange },
      },
    );
    const listed: SeriesInfo[] = [];
    for await (const { Items = [] } of pages) {
      listed.push(...Items.flatMap((item) => readSymbol(exchange, item)));
    }
    return listed;
  }

  async months(series: SeriesKey): Promise<readonly SeriesMonth[]> {
    return (await this.#recorded(series))?.months ?? [];
  }

  /** @throws RangeError for no months of a series that is not known */
  async record(series: SeriesKey, months: readonly SeriesMonth[], at: string): Promise<SeriesInfo> {
    const info = await this.#change(series, at, (known) => ({
      ...known,
      months: mergeMonths(known?.months ?? [], months),
    }));
    if (!info) throw new RangeError(`Nothing is known of ${seriesName(series)}`);
    return info;
  }

  async markComplete(
    series: SeriesKey,
    { from, to }: { readonly from: number; readonly to: number },
    at: string,
  ): Promise<void> {
    await this.#change(series, at, (known) => {
      if (!known) return undefined;
      const { months, complete_from } = known;
      const begins = complete_from === undefined ? months[0]!.first : Date.parse(complete_from);
      return from < begins && begins <= to
        ? { months, complete_from: new Date(from).toISOString() }
        : undefined;
    });
  }

  async markRefetched(series: SeriesKey, months: readonly string[], at: string): Promise<void> {
    const gaps_refetched_at = Date.parse(at);
    await this.#change(
      series,
      at,
      (known) =>
        known && {
          ...known,
          months: known.months.map((each) =>
            months.includes(each.month) ? { ...each, gaps_refetched_at } : each,
          ),
        },
    );
  }

  async markCorrupt(series: SeriesKey, month: string, at: string): Promise<void> {
    const step = TIMEFRAME_MS[series.timeframe];
    await this.#change(
      series,
      at,
      // Without the mark of its beginning: the series may begin later when the month has been collected again.
      (known) => known && { months: withCorruptMonth(known.months, month, step) },
    );
  }

  /** What `change` makes of what is known; undefined, and nothing stored, when it is no month. */
  async #change(
    series: SeriesKey,
    at: string,
    change: (known: Recorded | undefined) => Recorded | undefined,
  ): Promise<SeriesInfo | undefined> {
    for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt++) {
      if (attempt > 0) await wait(Math.random() * 5 * Math.min(attempt, 10));
      const known = await this.#recorded(series);
      const changed = change(known);
      if (!changed || changed.months.length === 0) return undefined;
      const { complete_from } = changed;
      const info = {
        ...summarizeMonths(series, changed.months, at),
        ...(complete_from ? { complete_from } : {}),
      };
      if (await this.#replace(info, changed, known?.revision)) return info;
    }
    throw new CodedError('DATA005', {
      message: `${seriesName(series)} is being written by too many processes at once`,
    });
  }

  async #recorded(series: SeriesKey): Promise<StoredSeriesMonths | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: monthsKey(series), ConsistentRead: true }),
    );
    if (!Item) return undefined;
    return readStored(`${seriesName(series)}, months`, StoredSeriesMonths, () => ({
      ...Item,
      months: JSON.parse(Item.months),
    }));
  }

  /** Stores the series unless another writer came between; tells whether it did. */
  async #replace(info: SeriesInfo, recorded: Recorded, revision = 0): Promise<boolean> {
    const { exchange, symbol, timeframe, ...rest } = info;
    const summary = JSON.stringify({ schema_version: 3, ...rest });
    const months = {
      ...monthsKey(info),
      schema_version: 2,
      revision: revision + 1,
      months: JSON.stringify(recorded.months),
      complete_from: recorded.complete_from,
    };
    const condition =
      revision === 0
        ? { ConditionExpression: 'attribute_not_exists(exchange)' }
        : {
            ConditionExpression: 'revision = :revision',
            ExpressionAttributeValues: { ':revision': revision },
          };
    try {
      await this.#client.send(
        new TransactWriteCommand({
          TransactItems: [
            { Put: { TableName: this.#table, Item: months, ...condition } },
            {
              Update: {
                TableName: this.#table,
                Key: { exchange, series: symbol },
                UpdateExpression: 'SET #timeframe = :summary',
                ExpressionAttributeNames: { '#timeframe': timeframe },
                ExpressionAttributeValues: { ':summary': summary },
              },
            },
          ],
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof TransactionCanceledException && isLost(error)) return false;
      throw error;
    }
  }

  /** The items of some symbols, with those timeframes. */
  async #getBatch(
    exchange: string,
    symbols: readonly string[],
    timeframes: readonly Timeframe[],
  ): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = [];
    const projection = {
      ProjectionExpression: ['series', ...timeframes.map((each) => `#t${each}`)].join(', '),
      ExpressionAttributeNames: Object.fromEntries(timeframes.map((each) => [`#t${each}`, each])),
    };
    let keys: Record<string, unknown>[] = symbols.map((series) => ({ exchange, series }));
    for (let attempt = 0; attempt < BATCH_ATTEMPTS; attempt++) {
      if (attempt > 0) await wait(25 * 2 ** attempt * (0.5 + Math.random() / 2));
      const { Responses, UnprocessedKeys } = await this.#client.send(
        new BatchGetCommand({
          RequestItems: { [this.#table]: { Keys: keys, ConsistentRead: true, ...projection } },
        }),
      );
      found.push(...(Responses?.[this.#table] ?? []));
      keys = UnprocessedKeys?.[this.#table]?.Keys ?? [];
      if (keys.length === 0) return found;
    }
    throw new CodedError('DATA005', { message: 'The database is too busy to read the series' });
  }
}

function seriesName({ symbol, timeframe }: Omit<SeriesKey, 'exchange'>): string {
  return `${symbol}#${timeframe}`;
}

/** No exchange has such a key, so that the months are in no list of series. */
function monthsKey(series: SeriesKey) {
  return { exchange: `${series.exchange}#months`, series: seriesName(series) };
}

function isLost({ CancellationReasons = [] }: TransactionCanceledException): boolean {
  return CancellationReasons.some(({ Code }) => Code !== undefined && LOST.has(Code));
}

/** The series of a symbol's item, by timeframe. */
function readSymbol(exchange: string, item: Record<string, unknown>): SeriesInfo[] {
  const symbol = String(item.series);
  return TIMEFRAMES.flatMap((timeframe) => {
    const text = item[timeframe];
    if (typeof text !== 'string') return [];
    const read = () => JSON.parse(text);
    const { schema_version: _, ...info } = readStored(seriesName({ symbol, timeframe }), StoredSeries, read);
    return [{ exchange, symbol, timeframe, ...info }];
  });
}

function readStored<T extends z.ZodType>(name: string, schema: T, read: () => unknown): z.output<T> {
  const unreadable = (problem: string, cause: unknown) =>
    new CodedError('SVC001', { message: `The stored series ${name} cannot be read: ${problem}`, cause });
  let stored: unknown;
  try {
    stored = read();
  } catch (cause) {
    throw unreadable('it is not JSON', cause);
  }
  const parsed = schema.safeParse(stored);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw unreadable(`${path.join('.')}: ${message}`, parsed.error);
}
