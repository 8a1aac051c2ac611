import { randomBytes } from 'node:crypto';
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { CURSOR_KEY_PARTITION, TABLES, type TableId } from '#contract/values/tables.ts';

/** Length of a key, bytes: as long as the digest of HMAC-SHA256. */
const KEY_BYTES = 32;

/**
 * Key of the digests of cursors. The first process that needs it makes it and stores it in the table, so every process of the
 * platform has the same, and a restored table keeps it.
 *
 * @param id table that every process with these lists may read and write
 */
export function storedCursorKey(
  client: DynamoDBDocumentClient,
  id: Extract<TableId, 'registry' | 'series'>,
  table: string,
): () => Promise<Uint8Array> {
  const { partitionKey, sortKey } = TABLES[id];
  const item = { [partitionKey.name]: CURSOR_KEY_PARTITION, [sortKey.name]: 'KEY' };
  let key: Promise<Uint8Array> | undefined;
  return () => {
    key ??= readOrMake(client, table, item).catch((error: unknown) => {
      key = undefined;
      throw error;
    });
    return key;
  };
}

async function readOrMake(
  client: DynamoDBDocumentClient,
  table: string,
  item: Readonly<Record<string, string>>,
): Promise<Uint8Array> {
  const stored = await read(client, table, item);
  if (stored) return stored;
  const key = new Uint8Array(randomBytes(KEY_BYTES));
  const [partition] = Object.keys(item);
  try {
    await client.send(
      new PutCommand({
        TableName: table,
        Item: { ...item, schema_version: 1, key },
        ConditionExpression: 'attribute_not_exists(#partition)',
        ExpressionAttributeNames: { '#partition': partition! },
      }),
    );
    return key;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
    // Another process has made it meanwhile.
    return (await read(client, table, item))!;
  }
}

async function read(
  client: DynamoDBDocumentClient,
  table: string,
  item: Readonly<Record<string, string>>,
): Promise<Uint8Array | undefined> {
  const { Item } = await client.send(
    new GetCommand({ TableName: table, Key: { ...item }, ConsistentRead: true }),
  );
  return Item?.key as Uint8Array | undefined;
}
