import { type DynamoDBDocumentClient, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { COUNTS_KEY, catalogAttributes, isInCatalog, versionKey } from '#adapters/dynamo/registry-item.ts';
import type { StoredModel, StoredVersion } from '#contract/registry/stored-registry.ts';

/** Items per transaction, which the engine syncs once. */
const BATCH = 100;

/** Stores the rows and counters of the catalog as transitions would, without full versions. */
export async function storeCatalog(
  client: DynamoDBDocumentClient,
  table: string,
  versions: readonly StoredVersion[],
): Promise<void> {
  const model = { owner: 'anonymous' } as StoredModel;
  const items = versions.map((version) => ({
    ...versionKey(version.model_name, version.version),
    ...catalogAttributes(version, model),
  }));
  for (let at = 0; at < items.length; at += BATCH) {
    const puts = items.slice(at, at + BATCH).map((Item) => ({ Put: { TableName: table, Item } }));
    await client.send(new TransactWriteCommand({ TransactItems: puts }));
  }
  const counts = Object.groupBy(versions.map(({ stage }) => stage).filter(isInCatalog), (stage) => stage);
  const count = {
    Production: counts.Production?.length ?? 0,
    Staging: counts.Staging?.length ?? 0,
  };
  await client.send(new PutCommand({ TableName: table, Item: { ...COUNTS_KEY, ...count } }));
}
