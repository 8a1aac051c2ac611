import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { CatalogRow } from '#contract/stored-registry.ts';
import type { CatalogEntry, CatalogPosition, CatalogSort } from '#domain/transitions/registry-store.ts';
import { readItem, SORT_ATTRIBUTES } from './registry-item.ts';

/** Rows of the first read of a stage: a page of 100 that begins near the start. Later reads are of 1 MB. */
const FIRST_READ = 150;

export interface CatalogQuery {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly sort: CatalogSort;
  /** Continues after this row; null: from the start. */
  readonly after: CatalogPosition | null;
}

/** The rows of some stages in one order: each stage is a partition of the index, and they are merged as they are read. */
export async function* readCatalog(
  query: CatalogQuery,
  stages: readonly CatalogRow['stage'][],
): AsyncIterable<CatalogEntry> {
  const sources = stages.map((stage) => readStage(query, stage));
  const heads = await Promise.all(sources.map((source) => source.next()));
  for (;;) {
    const next = firstOf(heads, query.sort.order);
    if (next === undefined) return;
    yield heads[next]!.value as CatalogEntry;
    heads[next] = await sources[next]!.next();
  }
}

/** Which head comes first; undefined when every source is at its end. */
function firstOf(
  heads: readonly IteratorResult<CatalogEntry, void>[],
  order: CatalogSort['order'],
): number | undefined {
  let first: { index: number; key: string } | undefined;
  for (const [index, { done, value }] of heads.entries()) {
    if (done || !value) continue;
    const [key] = value.position;
    if (!first || (order === 'asc' ? key < first.key : key > first.key)) first = { index, key };
  }
  return first?.index;
}

async function* readStage(
  { client, table, sort, after }: CatalogQuery,
  stage: CatalogRow['stage'],
): AsyncGenerator<CatalogEntry, void> {
  const attribute = SORT_ATTRIBUTES[sort.field];
  const beyond = sort.order === 'asc' ? '>' : '<';
  let limit: number | undefined = FIRST_READ;
  let from: Record<string, unknown> | undefined;
  do {
    const { Items = [], LastEvaluatedKey } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: `catalog-by-${sort.field}`,
        ScanIndexForward: sort.order === 'asc',
        KeyConditionExpression: after ? `#catalog = :stage AND #sort ${beyond} :after` : '#catalog = :stage',
        ExpressionAttributeNames: { '#catalog': 'catalog', ...(after && { '#sort': attribute }) },
        ExpressionAttributeValues: { ':stage': stage, ...(after && { ':after': after[0] }) },
        ExclusiveStartKey: from,
        Limit: limit,
      }),
    );
    for (const item of Items) {
      const row = readItem(CatalogRow, JSON.parse(String(item.catalog_row)));
      yield { row, position: [String(item[attribute]), row.model_name, row.version] };
    }
    from = LastEvaluatedKey;
    limit = undefined;
  } while (from);
}
