import { type DynamoDBDocumentClient, PutCommand, paginateScan } from '@aws-sdk/lib-dynamodb';
import { TABLES, type TableId, type TableNames } from '#contract/values/tables.ts';
import { upgradeItem } from './upgrade-items.ts';

const CONCURRENT_WRITES = 25;

interface Tables {
  readonly client: DynamoDBDocumentClient;
  readonly tables: TableNames;
}

/**
 * Copies every item of the tables of an earlier layout into tables of this one. Nothing else may write to either in the
 * meantime. A copy that was interrupted can be repeated.
 */
export async function copyTables(from: Tables, to: Tables, layout: number): Promise<void> {
  for (const id of Object.keys(TABLES) as TableId[]) {
    const pages = paginateScan({ client: from.client }, { TableName: from.tables[id], ConsistentRead: true });
    for await (const { Items = [] } of pages) {
      for (let at = 0; at < Items.length; at += CONCURRENT_WRITES) {
        await Promise.all(
          Items.slice(at, at + CONCURRENT_WRITES).map((item) =>
            to.client.send(new PutCommand({ TableName: to.tables[id], Item: upgradeItem(layout, id, item) })),
          ),
        );
      }
    }
  }
}
