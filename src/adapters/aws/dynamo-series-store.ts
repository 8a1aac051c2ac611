import { setTimeout as wait } from 'node:timers/promises';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  paginateQuery,
} from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import { CodedError } from '#contract/errors.ts';
import { StoredSeries, StoredSeriesMonth } from '#contract/stored-series.ts';
import type { SeriesInfo, SeriesKey, SeriesMonth, SeriesStore } from '#domain/ports.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { mergeMonths, summariseMonths, withDamage } from '../series-months.ts';

/** What a BatchGetItem takes. */
const BATCH = 100;
/** Pauses of 0.05 to 1.6 s between them, 3.2 s in all at most. */
const BATCH_ATTEMPTS = 7;
const RECORD_ATTEMPTS = 50;

/** Everything of an item but its months, which only `record` needs: they are most of its size. */
const INFO_NAMES = Object.keys(StoredSeries.shape);
const INFO_PROJECTION = {
  ProjectionExpression: INFO_NAMES.map((name) => `#${name}`).join(', '),
  ExpressionAttributeNames: Object.fromEntries(INFO_NAMES.map((name) => [`#${name}`, name])),
};

const RecordedItem = z.object({
  revision: z.int(),
  // As text: nested values are what an item costs to read, and freshness reads hundreds that need none of these.
  months: z.preprocess(
    (stored) => (typeof stored === 'string' ? JSON.parse(stored) : stored),
    z.array(StoredSeriesMonth),
  ),
  complete_from: z.string().optional(),
});

/** What `info` is made of. */
interface Recorded {
  /** By month, ascending. */
  readonly months: readonly SeriesMonth[];
  readonly complete_from?: string | undefined;
}

/** What is stored of each series, in the Series table. Reads are strongly consistent. */
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
    const names = [...new Set(series.map(seriesName))];
    const batches = Array.from({ length: Math.ceil(names.length / BATCH) }, (_, index) =>
      names.slice(index * BATCH, (index + 1) * BATCH),
    );
    const found = await Promise.all(batches.map((batch) => this.#getBatch(exchange, batch)));
    return new Map(found.flat().map((info) => [seriesName(info), info]));
  }

  async list(exchange: string): Promise<readonly SeriesInfo[]> {
    const { ExpressionAttributeNames, ProjectionExpression } = INFO_PROJECTION;
    const pages = paginateQuery(
      { client: this.#client },
      {
        TableName: this.#table,
        ConsistentRead: true,
        KeyConditionExpression: '#exchange = :exchange',
        ProjectionExpression,
        ExpressionAttributeNames,
        ExpressionAttributeValues: { ':exchange': exchange },
      },
    );
    const listed: SeriesInfo[] = [];
    for await (const { Items = [] } of pages) listed.push(...Items.map(toInfo));
    return listed;
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

  async markComplete(series: SeriesKey, from: string, at: string): Promise<void> {
    await this.#change(series, at, (known) => known && { ...known, complete_from: from });
  }

  async markDamaged(series: SeriesKey, month: string, at: string): Promise<void> {
    const step = TIMEFRAME_MS[series.timeframe];
    await this.#change(
      series,
      at,
      // Without the mark of its beginning: the series may begin later when the month has been collected again.
      (known) => known && { months: withDamage(known.months, month, step) },
    );
  }

  /** What `change` makes of what is known; undefined, and nothing stored, when it is no month. */
  async #change(
    series: SeriesKey,
    at: string,
    change: (known: Recorded | undefined) => Recorded | undefined,
  ): Promise<SeriesInfo | undefined> {
    for (let attempt = 0; attempt < RECORD_ATTEMPTS; attempt++) {
      const known = await this.#recorded(series);
      const changed = change(known);
      if (!changed || changed.months.length === 0) return undefined;
      const { months, complete_from } = changed;
      const info = { ...summariseMonths(series, months, at), ...(complete_from ? { complete_from } : {}) };
      if (await this.#replace(info, months, known?.revision)) return info;
    }
    throw new CodedError('DATA005', {
      message: `${seriesName(series)} is being written by too many processes at once`,
    });
  }

  async #recorded(series: SeriesKey): Promise<z.infer<typeof RecordedItem> | undefined> {
    const { Item } = await this.#client.send(
      new GetCommand({
        TableName: this.#table,
        Key: { exchange: series.exchange, series: seriesName(series) },
        ConsistentRead: true,
      }),
    );
    return Item && RecordedItem.parse(Item);
  }

  /** Stores the series unless another writer came between; tells whether it did. */
  async #replace(info: SeriesInfo, months: readonly SeriesMonth[], revision = 0): Promise<boolean> {
    const { gaps, damaged, ...rest } = info;
    const stored: StoredSeries = {
      schema_version: 1,
      ...rest,
      gaps: [...gaps],
      ...(damaged ? { damaged: [...damaged] } : {}),
    };
    try {
      await this.#client.send(
        new PutCommand({
          TableName: this.#table,
          Item: {
            ...stored,
            series: seriesName(info),
            months: JSON.stringify(months),
            revision: revision + 1,
          },
          ...(revision === 0
            ? { ConditionExpression: 'attribute_not_exists(exchange)' }
            : {
                ConditionExpression: 'revision = :revision',
                ExpressionAttributeValues: { ':revision': revision },
              }),
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  }

  async #getBatch(exchange: string, names: readonly string[]): Promise<SeriesInfo[]> {
    const found: SeriesInfo[] = [];
    let keys: Record<string, unknown>[] = names.map((series) => ({ exchange, series }));
    for (let attempt = 0; attempt < BATCH_ATTEMPTS; attempt++) {
      if (attempt > 0) await wait(25 * 2 ** attempt * (0.5 + Math.random() / 2));
      const { Responses, UnprocessedKeys } = await this.#client.send(
        new BatchGetCommand({
          RequestItems: { [this.#table]: { Keys: keys, ConsistentRead: true, ...INFO_PROJECTION } },
        }),
      );
      found.push(...(Responses?.[this.#table] ?? []).map(toInfo));
      keys = UnprocessedKeys?.[this.#table]?.Keys ?? [];
      if (keys.length === 0) return found;
    }
    throw new CodedError('DATA005', { message: 'The database is too busy to read the series' });
  }
}

function seriesName({ symbol, timeframe }: Omit<SeriesKey, 'exchange'>): string {
  return `${symbol}#${timeframe}`;
}

function toInfo(item: Record<string, unknown>): SeriesInfo {
  const parsed = StoredSeries.safeParse(item);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw new CodedError('SVC001', {
      message: `The stored series ${item.symbol}#${item.timeframe} cannot be read: ${issue.path.join('.')}: ${issue.message}`,
      cause: parsed.error,
    });
  }
  const { schema_version: _, ...info } = parsed.data;
  return info;
}
