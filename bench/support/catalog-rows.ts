import { PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { COUNTS_KEY, sortableNumber, versionKey } from '#adapters/dynamo/registry-item.ts';
import type { CatalogRow } from '#contract/registry/stored-registry.ts';

/** Items per transaction. The database syncs once per transaction. */
const BATCH = 100;

/**
 * Stores `count` copies of a row in Staging with different names and metrics, as stage transitions of as many models would.
 * Also stores the counters of a catalog with only these rows.
 */
export async function storeCatalogRows(
  target: { readonly endpoint: string; readonly table: string },
  row: CatalogRow,
  count: number,
): Promise<void> {
  const client = createDocumentClient({ endpoint: target.endpoint });
  for (let start = 0; start < count; start += BATCH) {
    const puts = Array.from({ length: Math.min(BATCH, count - start) }, (_, i) => ({
      Put: { TableName: target.table, Item: itemOf(row, start + i) },
    }));
    await client.send(new TransactWriteCommand({ TransactItems: puts }));
  }
  const counts = { ...COUNTS_KEY, Production: 0, Staging: count };
  await client.send(new PutCommand({ TableName: target.table, Item: counts }));
  client.destroy();
}

function itemOf(row: CatalogRow, index: number): Record<string, unknown> {
  const name = `strategy_${String(index).padStart(6, '0')}`;
  const metrics = { ...row.metrics, sharpe_ratio: (index * 37) % 101, max_drawdown_pct: (index * 53) % 97 };
  const id = `${name}#000001`;
  return {
    ...versionKey(name, '1'),
    catalog: 'Staging',
    catalog_name: id,
    catalog_sharpe: `${sortableNumber(metrics.sharpe_ratio)}#${id}`,
    catalog_drawdown: `${sortableNumber(metrics.max_drawdown_pct)}#${id}`,
    catalog_row: JSON.stringify({ ...row, name, model_name: name, version: '1', stage: 'Staging', metrics }),
  };
}
