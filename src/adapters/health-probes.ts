import { type DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
import { TABLES, type TableId } from '#contract/values/tables.ts';

/** Health probe of a table: reads an item that does not exist. Rejects when the table cannot be read. */
export function tableProbe(client: DynamoDBDocumentClient, id: TableId, table: string) {
  const { partitionKey, sortKey } = TABLES[id];
  const command = new GetCommand({
    TableName: table,
    Key: { [partitionKey.name]: 'HEALTH', [sortKey.name]: 'PROBE' },
  });
  return (signal: AbortSignal) => client.send(command, { abortSignal: signal });
}

/** Health probe of a Touchstone service. Rejects when its health operation fails or belongs to another service. */
export function serviceProbe(baseUrl: string, service: string) {
  const address = `${baseUrl.replace(/\/+$/, '')}/api/v1/health`;
  return async (signal: AbortSignal): Promise<void> => {
    const response = await fetch(address, { signal, redirect: 'error' });
    const body = (await response.json()) as { readonly service?: unknown } | null;
    if (response.status !== 200 || body?.service !== service) {
      throw new Error(`${address} returned ${response.status} and is not a healthy ${service}`);
    }
  };
}
