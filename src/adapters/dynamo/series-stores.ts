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
import type { DatedInstrument, InstrumentStore } from '#domain/data/instrument-ports.ts';
import {
  type Page,
  type SeriesInfo,
  type SeriesKey,
  type SeriesMonth,
  type SeriesOrigin,
  SeriesReplacedError,
  type SeriesState,
  type SeriesStates,
  type SeriesStore,
} from '#domain/ports.ts';
import { ALL_TIMEFRAMES, TIMEFRAME_MS } from '#engine/timeframe.ts';
import { mergeMonths, summarizeMonths, withCorruptMonth } from '../series-months.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { batchGet, checkStored, type Item, parseStoredJson } from './stored-items.ts';
import { type Action, conflictOf, unlessConditionFails } from './transactions.ts';

/** An attempt fails when another writer changed the series, or another timeframe of its symbol, in the meantime. */
const WRITE_ATTEMPTS = 50;

/**
 * Series in the Series table. Each symbol has an item with a short JSON string per timeframe. Each series has an item with
 * its months, in a partition of its own, so that freshness does not read it. One transaction writes both. Reads are
 * strongly consistent.
 */
export class DynamoSeriesStore implements SeriesStore, SeriesStates {
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

  async state(series: SeriesKey): Promise<SeriesState> {
    return stateOf(await this.#recorded(series));
  }

  /** @throws RangeError if `months` is empty and the series is unknown */
  async record(
    series: SeriesKey,
    months: readonly SeriesMonth[],
    at: string,
    generation?: number,
    origin: SeriesOrigin = {},
  ): Promise<SeriesInfo> {
    const changed = await this.change(series, at, (state) => {
      const isReplaced = state.pending !== undefined || (state.generation ?? 0) !== generation;
      if (generation !== undefined && isReplaced) throw new SeriesReplacedError();
      return { ...state, ...origin, months: mergeMonths(state.months, months) };
    });
    const info = changed && summaryOf(series, changed, at);
    if (!info) throw new RangeError(`Unknown series without months: ${seriesName(series)}`);
    return info;
  }

  async markComplete(
    series: SeriesKey,
    { from, to }: { readonly from: number; readonly to: number },
    at: string,
  ): Promise<void> {
    await this.change(series, at, (state) => {
      const { months, complete_from } = state;
      if (months.length === 0) return undefined;
      const begins = complete_from === undefined ? months[0]!.first : Date.parse(complete_from);
      return from < begins && begins <= to
        ? { ...state, complete_from: new Date(from).toISOString() }
        : undefined;
    });
  }

  async markRefetched(series: SeriesKey, months: readonly string[], at: string): Promise<void> {
    const gaps_refetched_at = Date.parse(at);
    await this.change(series, at, (state) => ({
      ...state,
      months: state.months.map((each) =>
        months.includes(each.month) ? { ...each, gaps_refetched_at } : each,
      ),
    }));
  }

  async markCorrupt(series: SeriesKey, month: string, at: string): Promise<void> {
    const step = TIMEFRAME_MS[series.timeframe];
    await this.change(series, at, (state) =>
      state.months.length === 0
        ? undefined
        : {
            ...state,
            months: withCorruptMonth(state.months, month, step),
            // The series may start later once the month has been collected again.
            complete_from: undefined,
          },
    );
  }

  async change(
    series: SeriesKey,
    at: string,
    change: (state: SeriesState) => SeriesState | undefined,
  ): Promise<SeriesState | undefined> {
    for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt++) {
      if (attempt > 0) await wait(Math.random() * 5 * Math.min(attempt, 10));
      const recorded = await this.#recorded(series);
      const changed = change(stateOf(recorded));
      if (!changed || isEmpty(changed)) return undefined;
      if (await this.#replace([{ series, recorded, changed }], at)) return changed;
    }
    throw writeConflict(series);
  }

  async changeBoth(
    [one, other]: readonly [SeriesKey, SeriesKey],
    at: string,
    change: Parameters<SeriesStates['changeBoth']>[2],
  ): Promise<boolean> {
    for (let attempt = 0; attempt < WRITE_ATTEMPTS; attempt++) {
      if (attempt > 0) await wait(Math.random() * 5 * Math.min(attempt, 10));
      const [first, second] = [await this.#recorded(one), await this.#recorded(other)];
      const changed = change([stateOf(first), stateOf(second)]);
      if (!changed) return false;
      const writes = [
        { series: one, recorded: first, changed: changed[0] },
        { series: other, recorded: second, changed: changed[1] },
      ];
      if (await this.#replace(writes, at)) return true;
    }
    throw writeConflict(one);
  }

  async #recorded(series: SeriesKey): Promise<StoredSeriesMonths | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({ TableName: this.#table, Key: monthsKey(series), ConsistentRead: true }),
    );
    return Item && readMonths(Item);
  }

  /** Stores the series; false if another writer changed one of them in the meantime. */
  async #replace(changes: readonly Change[], at: string): Promise<boolean> {
    try {
      await this.#client.send(
        new TransactWriteCommand({
          TransactItems: changes.flatMap((change) => this.#actions(change, at)),
        }),
      );
      return true;
    } catch (error) {
      conflictOf(error, 'DATA005');
      return false;
    }
  }

  #actions({ series, recorded, changed }: Change, at: string): Action[] {
    const revision = recorded?.revision ?? 0;
    const { months, kept_import, ...rest } = changed;
    const Item = {
      ...monthsKey(series),
      ...rest,
      schema_version: 2,
      revision: revision + 1,
      months: JSON.stringify(months),
      kept_import: kept_import && JSON.stringify(kept_import),
    };
    const condition =
      revision === 0
        ? { ConditionExpression: 'attribute_not_exists(exchange)' }
        : {
            ConditionExpression: 'revision = :revision',
            ExpressionAttributeValues: { ':revision': revision },
          };
    const put: Action = { Put: { TableName: this.#table, Item, ...condition } };
    const summary = summaryOf(series, changed, at);
    // A series without candles is in no list.
    if (!summary && !recorded?.months.length) return [put];
    return [put, this.#symbolUpdate(series, summary)];
  }

  #symbolUpdate({ exchange, symbol, timeframe }: SeriesKey, summary: SeriesInfo | undefined): Action {
    const update = {
      TableName: this.#table,
      Key: { exchange, series: symbol },
      ExpressionAttributeNames: { '#timeframe': timeframe },
    };
    if (!summary) return { Update: { ...update, UpdateExpression: 'REMOVE #timeframe' } };
    const { exchange: _, symbol: _s, timeframe: _t, ...rest } = summary;
    return {
      Update: {
        ...update,
        UpdateExpression: 'SET #timeframe = :summary',
        ExpressionAttributeValues: { ':summary': JSON.stringify({ schema_version: 3, ...rest }) },
      },
    };
  }
}

interface Change {
  readonly series: SeriesKey;
  readonly recorded: StoredSeriesMonths | undefined;
  readonly changed: SeriesState;
}

function stateOf(recorded: StoredSeriesMonths | undefined): SeriesState {
  if (!recorded) return { months: [] };
  const { schema_version: _, revision: _r, ...state } = recorded;
  return state;
}

function isEmpty({ months, generation, pending, kept_import }: SeriesState): boolean {
  return months.length === 0 && generation === undefined && !pending && !kept_import;
}

/** Undefined for a series without candles. */
function summaryOf(series: SeriesKey, state: SeriesState, at: string): SeriesInfo | undefined {
  const { months, complete_from, imported, calendar } = state;
  if (months.length === 0) return undefined;
  return {
    ...summarizeMonths(series, months, at, { imported, calendar }),
    ...(complete_from ? { complete_from } : {}),
  };
}

function writeConflict(series: SeriesKey): CodedError {
  return new CodedError('DATA005', {
    message: `Write conflict: ${seriesName(series)} changed during ${WRITE_ATTEMPTS} attempts. Retry the request.`,
  });
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
  const { kept_import, ...stored } = item;
  const months = parseStoredJson(item.months, name);
  const kept = kept_import !== undefined && { kept_import: parseStoredJson(kept_import, name) };
  return checkStored(StoredSeriesMonths, { ...stored, months, ...kept }, name);
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
 * Instruments in the Series table, one item each, and their history: an item for each change of the rules. Their partition is separate from that of the series, so that freshness
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

  async history(exchange: string, symbol?: string): Promise<readonly DatedInstrument[]> {
    const partition = historyOf(exchange);
    const entries =
      symbol === undefined
        ? await readPartition(this.#client, this.#table, partition)
        : await readPartition(this.#client, this.#table, partition, `${symbol}#`);
    const dated = entries.map(readDated);
    // Instruments of earlier releases have no entry until their rules change.
    const current = symbol === undefined ? await this.list(exchange) : await this.getMany(exchange, [symbol]);
    const known = new Set(dated.map((each) => each.symbol));
    const others = [...current]
      .filter(([name]) => !known.has(name))
      .map(([name, record]) => ({ symbol: name, valid_from: record.collected_at, record }));
    const key = (each: DatedInstrument) => `${each.symbol}#${each.valid_from}`;
    // A writer that died between entry and instrument is followed by one with an entry of equal rules.
    return [...dated, ...others]
      .sort((a, b) => (key(a) < key(b) ? -1 : 1))
      .filter((each, index, all) => {
        const before = all[index - 1];
        return before?.symbol !== each.symbol || rulesOf(before.record) !== rulesOf(each.record);
      });
  }

  /** The entries of the history are written before the instrument that refers to the last of them. */
  async record(exchange: string, symbol: string, record: InstrumentRecord): Promise<void> {
    const { Item: known } = await this.#client.send(
      new GetCommand({
        TableName: this.#table,
        Key: instrumentKey(exchange, symbol),
        ConsistentRead: true,
      }),
    );
    const before = known && readInstrument(known)[1];
    let validFrom = known?.valid_from as string | undefined;
    if (!before || rulesOf(before) !== rulesOf(record)) {
      if (before && validFrom === undefined) await this.#append(exchange, symbol, before);
      validFrom = await this.#append(exchange, symbol, record);
    }
    await this.#client.send(
      new PutCommand({
        TableName: this.#table,
        Item: { ...instrumentKey(exchange, symbol), instrument: jsonOf(record), valid_from: validFrom },
      }),
    );
  }

  /** Adds an entry to the history; one of that time stays. Returns its time. */
  async #append(exchange: string, symbol: string, record: InstrumentRecord): Promise<string> {
    const at = [record.collected_at, record.leverage_tiers?.at ?? ''].sort().at(-1)!;
    const Item = { exchange: historyOf(exchange), series: `${symbol}#${at}`, instrument: jsonOf(record) };
    const ConditionExpression = 'attribute_not_exists(exchange)';
    await unlessConditionFails(
      this.#client.send(new PutCommand({ TableName: this.#table, Item, ConditionExpression })),
    );
    return at;
  }
}

/** Partition of the instruments that were ever valid. No exchange has such a name. */
function historyOf(exchange: string): string {
  return `${exchange}#instrument-history`;
}

function jsonOf(record: InstrumentRecord): string {
  return JSON.stringify({ schema_version: 1, ...record } satisfies StoredInstrument);
}

/** The rules of an instrument, without the times at which they were read. */
function rulesOf({ collected_at: _, leverage_tiers, ...rules }: InstrumentRecord): string {
  const tiers = leverage_tiers && [leverage_tiers.source, leverage_tiers.tiers];
  return JSON.stringify([Object.entries(rules).sort(), tiers]);
}

function readDated(item: Item): DatedInstrument {
  const [symbol, valid_from] = String(item.series).split('#') as [string, string];
  return { symbol, valid_from, record: readInstrument({ ...item, series: symbol })[1] };
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

/** @param prefix of the sort keys; default: all */
async function readPartition(
  client: DynamoDBDocumentClient,
  table: string,
  name: string,
  prefix?: string,
): Promise<Item[]> {
  const { ExpressionAttributeValues, KeyConditionExpression, ...query } = partitionQuery(table, name);
  const pages = paginateQuery(
    { client },
    {
      ...query,
      KeyConditionExpression:
        prefix === undefined
          ? KeyConditionExpression
          : `${KeyConditionExpression} AND begins_with(series, :prefix)`,
      ExpressionAttributeValues: { ...ExpressionAttributeValues, ':prefix': prefix },
    },
  );
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
