import { type DynamoDBDocumentClient, PutCommand, paginateQuery } from '@aws-sdk/lib-dynamodb';
import { CodedError } from '#contract/errors.ts';
import { type InstrumentRecord, StoredInstrument } from '#contract/stored-market-data.ts';
import type { InstrumentStore } from '#domain/instrument-ports.ts';
import { batchGet } from './batch-get.ts';

/**
 * Instruments in the Series table: an item each under `exchange#instruments`, out of the way of freshness and of the
 * transactions that write series. Reads are strongly consistent.
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
      keys: [...new Set(symbols)].map((symbol) => keyOf(exchange, symbol)),
      busy: 'DATA005',
    });
    return new Map(items.map(readItem));
  }

  async list(exchange: string): Promise<ReadonlyMap<string, InstrumentRecord>> {
    const pages = paginateQuery(
      { client: this.#client },
      {
        TableName: this.#table,
        ConsistentRead: true,
        KeyConditionExpression: 'exchange = :exchange',
        ExpressionAttributeValues: { ':exchange': partitionOf(exchange) },
      },
    );
    const found: (readonly [string, InstrumentRecord])[] = [];
    for await (const { Items = [] } of pages) found.push(...Items.map(readItem));
    return new Map(found);
  }

  async record(exchange: string, symbol: string, record: InstrumentRecord): Promise<void> {
    const stored: StoredInstrument = { schema_version: 1, ...record };
    await this.#client.send(
      new PutCommand({
        TableName: this.#table,
        Item: { ...keyOf(exchange, symbol), instrument: JSON.stringify(stored) },
      }),
    );
  }
}

/** No exchange has such a key. */
const partitionOf = (exchange: string) => `${exchange}#instruments`;
const keyOf = (exchange: string, symbol: string) => ({ exchange: partitionOf(exchange), series: symbol });

function readItem(item: Record<string, unknown>): readonly [string, InstrumentRecord] {
  const symbol = String(item.series);
  const unreadable = (problem: string, cause: unknown) =>
    new CodedError('SVC001', {
      message: `The stored instrument ${symbol} cannot be read: ${problem}`,
      cause,
    });
  let stored: unknown;
  try {
    stored = JSON.parse(String(item.instrument));
  } catch (cause) {
    throw unreadable('it is not JSON', cause);
  }
  const parsed = StoredInstrument.safeParse(stored);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw unreadable(`${path.join('.')}: ${message}`, parsed.error);
  }
  const { schema_version: _, ...record } = parsed.data;
  return [symbol, record];
}
