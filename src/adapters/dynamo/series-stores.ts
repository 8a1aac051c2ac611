import { setTimeout as wait } from 'node:timers/promises';
import {
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateQuery,
  QueryCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import {
  type InstrumentRecord,
  StoredInstrument,
  StoredSeries,
  StoredSeriesMonths,
} from '#contract/market-data/stored-market-data.ts';
import { CodedError } from '#contract/values/errors.ts';
import type { InstrumentStore } from '#domain/data/instrument-ports.ts';
import type { Page, SeriesInfo, SeriesKey, SeriesMonth, SeriesStore } from '#domain/ports.ts';
import { ALL_TIMEFRAMES, TIMEFRAME_MS } from '#engine/timeframe.ts';
import { mergeMonths, summarizeMonths, withCorruptMonth } from '../series-months.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { batchGet, checkStored, type Item, parseStoredJson } from './stored-items.ts';
import { conflictOf } from './transactions.ts';

/** An attempt fails when another writer changed the series, or another timeframe of its symbol, in the meantime. */
const WRITE_ATTEMPTS = 50;

/** The content of a series that is summarized in its {@link SeriesInfo}. */
interface Recorded {
  /** By month, ascending. */
  readonly months: readonly SeriesMonth[];
  readonly complete_from?: string | undefined;
}

/**
 * Series in the Series table. Each symbol has an item with a short JSON string per timeframe. Each series has an item with
 * its months, in a partition of its own, so that freshness does not read it. One transaction writes both. Reads are
 * strongly consistent.
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
    const timeframes = ALL_TIMEFRAMES.filter((each) => series.some(({ timeframe }) => timeframe === each));
    const symbols = [...new Set(series.map(({ symbol }) => symbol))];
    const items = await batchGet({
      client: this.#client,
      table: this.#table,
      keys: symbols.map((symbol) => ({ exchange, series: symbol })),
      attributes: ['series', ...timeframes],
      busy: 'DATA005',
    });
    const found = items.flatMap((item) => readSymbol(exchange, item));
    const named = found.map((info) => [seriesName(info), info] as const);
    return new Map(named.filter(([name]) => wanted.has(name)));
  }

  async list(exchange: string): Promise<readonly SeriesInfo[]> {
    const items = await readPartition(this.#client, this.#table, exchange);
    return items.flatMap((item) => readSymbol(exchange, item));
  }

  async listPage(exchange: string, limit: number, cursor: string | null): Promise<Page<SeriesInfo>> {
    const scope = { list: 'series', exchange };
    const [after] = cursor === null ? [] : decodeCursor(cursor, scope, 1);
    const { Items = [], LastEvaluatedKey } = await this.#client.send(
      new QueryCommand({
        ...partitionQuery(this.#table, exchange),
        Limit: limit,
        ...(after !== undefined && { ExclusiveStartKey: { exchange, series: after } }),
      }),
    );
    const next = LastEvaluatedKey ? encodeCursor([String(LastEvaluatedKey.series)], scope) : null;
    return { items: Items.flatMap((item) => readSymbol(exchange, item)), next };
  }

  async monthsOfMany(
    exchange: string,
    series: readonly Omit<SeriesKey, 'exchange'>[],
  ): Promise<ReadonlyMap<string, readonly SeriesMonth[]>> {
    const items = await batchGet({
      client: this.#client,
      table: this.#table,
      keys: series.map((each) => monthsKey({ exchange, ...each })),
      busy: 'DATA005',
    });
    return new Map(items.map((item) => [String(item.series), readMonths(item).months]));
  }

  async months(series: SeriesKey): Promise<readonly SeriesMonth[]> {
    return (await this.#recorded(series))?.months ?? [];
  }

  /** @throws RangeError if `months` is empty and the series is unknown */
  async record(series: SeriesKey, months: readonly SeriesMonth[], at: string): Promise<SeriesInfo> {
    const info = await this.#change(series, at, (known) => ({
      ...known,
      months: mergeMonths(known?.months ?? [], months),
    }));
    if (!info) throw new RangeError(`Unknown series without months: ${seriesName(series)}`);
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
      // Clears complete_from: the series may start later once the month has been collected again.
      (known) => known && { months: withCorruptMonth(known.months, month, step) },
    );
  }

  /** Stores and returns the result of `change`. Undefined, and nothing stored, if that has no months. */
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
      message: `Write conflict: ${seriesName(series)} changed during ${WRITE_ATTEMPTS} attempts. Retry the request.`,
    });
  }

  async #recorded(series: SeriesKey): Promise<StoredSeriesMonths | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: monthsKey(series), ConsistentRead: true }),
    );
    return Item && readMonths(Item);
  }

  /** Stores the series; false if another writer changed it in the meantime. */
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
      conflictOf(error, 'DATA005');
      return false;
    }
  }
}

function seriesName({ symbol, timeframe }: Omit<SeriesKey, 'exchange'>): string {
  return `${symbol}#${timeframe}`;
}

/** Key of a series' months. No exchange has such a name, so lists of series exclude the item. */
function monthsKey(series: SeriesKey) {
  return { exchange: `${series.exchange}#months`, series: seriesName(series) };
}

function readMonths(item: Item): StoredSeriesMonths {
  const name = () => `The stored series ${String(item.series)}, months`;
  return checkStored(StoredSeriesMonths, { ...item, months: parseStoredJson(item.months, name) }, name);
}

/** The series of a symbol's item, by timeframe. */
function readSymbol(exchange: string, item: Item): SeriesInfo[] {
  const symbol = String(item.series);
  return ALL_TIMEFRAMES.flatMap((timeframe) => {
    const json = item[timeframe];
    if (typeof json !== 'string') return [];
    const name = () => `The stored series ${seriesName({ symbol, timeframe })}`;
    const { schema_version: _, ...info } = checkStored(StoredSeries, parseStoredJson(json, name), name);
    return [{ exchange, symbol, timeframe, ...info }];
  });
}

/**
 * Instruments in the Series table, one item each. Their partition is separate from that of the series, so that freshness
 * does not read them and the transactions of series do not conflict with them. Reads are strongly consistent.
 */
export class DynamoInstrumentStore implements InstrumentStore {
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;

  constructor(client: DynamoDBDocumentClient, table: string) {
    this.#client = client;
    this.#table = table;
  }

  async getMany(
    exchange: string,
    symbols: readonly string[],
  ): Promise<ReadonlyMap<string, InstrumentRecord>> {
    const items = await batchGet({
      client: this.#client,
      table: this.#table,
      keys: [...new Set(symbols)].map((symbol) => instrumentKey(exchange, symbol)),
      busy: 'DATA005',
    });
    return new Map(items.map(readInstrument));
  }

  async list(exchange: string): Promise<ReadonlyMap<string, InstrumentRecord>> {
    const items = await readPartition(this.#client, this.#table, instrumentsOf(exchange));
    return new Map(items.map(readInstrument));
  }

  async record(exchange: string, symbol: string, record: InstrumentRecord): Promise<void> {
    const stored: StoredInstrument = { schema_version: 1, ...record };
    await this.#client.send(
      new PutCommand({
        TableName: this.#table,
        Item: { ...instrumentKey(exchange, symbol), instrument: JSON.stringify(stored) },
      }),
    );
  }
}

/** Partition of an exchange's instruments. No exchange has such a name. */
function instrumentsOf(exchange: string): string {
  return `${exchange}#instruments`;
}

function instrumentKey(exchange: string, symbol: string) {
  return { exchange: instrumentsOf(exchange), series: symbol };
}

function readInstrument(item: Item): readonly [symbol: string, InstrumentRecord] {
  const symbol = String(item.series);
  const name = () => `The stored instrument ${symbol}`;
  const { schema_version: _, ...record } = checkStored(
    StoredInstrument,
    parseStoredJson(item.instrument, name),
    name,
  );
  return [symbol, record];
}

async function readPartition(client: DynamoDBDocumentClient, table: string, name: string): Promise<Item[]> {
  const pages = paginateQuery({ client }, partitionQuery(table, name));
  const items: Item[] = [];
  for await (const { Items = [] } of pages) items.push(...Items);
  return items;
}

function partitionQuery(table: string, name: string) {
  return {
    TableName: table,
    ConsistentRead: true,
    KeyConditionExpression: 'exchange = :name',
    ExpressionAttributeValues: { ':name': name },
  };
}
