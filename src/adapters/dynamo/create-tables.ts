import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  ResourceInUseException,
  type SSESpecification,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import {
  type KeyAttribute,
  TABLES,
  type TableDefinition,
  type TableId,
  type TableNames,
} from '#contract/values/tables.ts';

/** Encryption by the AWS managed key, as the data stack has it. Without it, DynamoDB uses a key that nobody can audit. */
export const MANAGED_KEY: SSESpecification = { Enabled: true, SSEType: 'KMS' };

/**
 * Creates the missing tables and indexes in local mode and for an upgrade; in AWS the deployment creates all others. Throws
 * when a table of that name has other keys, other indexes or more of them: another version made it.
 *
 * @param encryption none in local mode
 */
export async function createTables(
  client: DynamoDBDocumentClient,
  names: TableNames,
  encryption?: SSESpecification,
): Promise<void> {
  await Promise.all(
    (Object.keys(TABLES) as TableId[]).map((id) => createTable(client, names[id], TABLES[id], encryption)),
  );
}

async function createTable(
  client: DynamoDBDocumentClient,
  name: string,
  table: TableDefinition,
  encryption: SSESpecification | undefined,
): Promise<void> {
  const input = { ...createTableInput(name, table), ...(encryption && { SSESpecification: encryption }) };
  try {
    await client.send(new CreateTableCommand(input));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
    await addIndexes(client, name, table);
    if (!(await hasShape(client, name, table))) {
      throw new Error(
        `The table ${name} was made by another version of Touchstone (it has other keys or indexes): delete it, or move or delete the data folder that holds it.`,
      );
    }
  }
}

/** Adds the indexes that a table of an earlier version lacks. The database fills each from the stored items. */
async function addIndexes(client: DynamoDBDocumentClient, name: string, table: TableDefinition) {
  const { Table: found } = await client.send(new DescribeTableCommand({ TableName: name }));
  const existing = new Set((found?.GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName));
  const { AttributeDefinitions, GlobalSecondaryIndexes = [] } = createTableInput(name, table);
  // DynamoDB creates one index per update.
  for (const index of GlobalSecondaryIndexes.filter(({ IndexName }) => !existing.has(IndexName))) {
    const keys = index.KeySchema?.map(({ AttributeName }) => AttributeName);
    await client.send(
      new UpdateTableCommand({
        TableName: name,
        AttributeDefinitions: AttributeDefinitions?.filter((each) => keys?.includes(each.AttributeName)),
        GlobalSecondaryIndexUpdates: [{ Create: index }],
      }),
    );
  }
}

/** True when an existing table has the keys and indexes of the contract. */
export async function hasShape(
  client: DynamoDBDocumentClient,
  name: string,
  table: TableDefinition,
): Promise<boolean> {
  const { Table: found } = await client.send(new DescribeTableCommand({ TableName: name }));
  const wanted = createTableInput(name, table);
  return (
    shapeOf(found?.KeySchema, found?.GlobalSecondaryIndexes) ===
    shapeOf(wanted.KeySchema, wanted.GlobalSecondaryIndexes)
  );
}

function createTableInput(name: string, table: TableDefinition): CreateTableCommandInput {
  const attributes = new Map<string, KeyAttribute>();
  for (const { partitionKey, sortKey } of [table, ...table.indexes]) {
    attributes.set(partitionKey.name, partitionKey).set(sortKey.name, sortKey);
  }
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [...attributes.values()].map(({ name: AttributeName, type }) => ({
      AttributeName,
      AttributeType: type,
    })),
    KeySchema: keySchema(table),
    ...(table.indexes.length > 0 && {
      GlobalSecondaryIndexes: table.indexes.map((index) => ({
        IndexName: index.name,
        KeySchema: keySchema(index),
        Projection:
          index.include.length > 0
            ? { ProjectionType: 'INCLUDE', NonKeyAttributes: [...index.include] }
            : { ProjectionType: 'KEYS_ONLY' },
      })),
    }),
  };
}

function keySchema(keys: { partitionKey: KeyAttribute; sortKey: KeyAttribute }) {
  return [
    { AttributeName: keys.partitionKey.name, KeyType: 'HASH' as const },
    { AttributeName: keys.sortKey.name, KeyType: 'RANGE' as const },
  ];
}

interface ShapedIndex {
  readonly IndexName?: string | undefined;
  readonly KeySchema?: readonly { AttributeName?: string | undefined }[] | undefined;
  readonly Projection?: { NonKeyAttributes?: readonly string[] | undefined } | undefined;
}

function shapeOf(keys: ShapedIndex['KeySchema'], indexes: readonly ShapedIndex[] | undefined): string {
  const names = (schema: ShapedIndex['KeySchema']) => schema?.map((key) => key.AttributeName);
  return JSON.stringify([
    names(keys),
    (indexes ?? [])
      .map((index) => [
        index.IndexName,
        names(index.KeySchema),
        [...(index.Projection?.NonKeyAttributes ?? [])].sort(),
      ])
      .sort(),
  ]);
}
