import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { TABLES, type TableId } from '#contract/tables.ts';

/** A health probe of a table: reads an item that no one writes; rejects when the table cannot be read. */
export function tableProbe(client: DynamoDBDocumentClient, id: TableId, table: string) {
  const { partitionKey, sortKey } = TABLES[id];
  const command = new GetCommand({
    TableName: table,
    Key: { [partitionKey.name]: 'HEALTH', [sortKey.name]: 'PROBE' },
  });
  return (signal: AbortSignal) => client.send(command, { abortSignal: signal });
}
