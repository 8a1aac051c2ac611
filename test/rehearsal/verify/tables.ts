import { isDeepStrictEqual } from 'node:util';
import { DescribeTableCommand, DescribeTimeToLiveCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type KeyAttribute, TABLES, type TableId } from '#contract/values/tables.ts';
import { clientConfig } from '../emulator.ts';
import type { Deployed } from '../rehearsal.ts';
import { failOn, resourcesOf } from './resources.ts';

/** Compares keys, indexes, projections and TTL of the deployed tables with src/contract/values/tables.ts. */
export async function tables(deployed: Deployed): Promise<string> {
  const dynamo = new DynamoDBClient(clientConfig(deployed.emulator));
  const found = resourcesOf(deployed, 'AWS::DynamoDB::GlobalTable');
  const problems: string[] = [];
  let indexes = 0;
  for (const [id, table] of Object.entries(TABLES)) {
    const named = found.find(({ logicalId }) => logicalId.toLowerCase().startsWith(id));
    if (!named) {
      problems.push(`Table ${id} is not deployed`);
      continue;
    }
    const { Table } = await dynamo.send(new DescribeTableCommand({ TableName: named.physical }));
    const { TimeToLiveDescription } = await dynamo.send(
      new DescribeTimeToLiveCommand({ TableName: named.physical }),
    );
    const types = new Map(
      Table!.AttributeDefinitions!.map((each) => [each.AttributeName, each.AttributeType]),
    );
    const keys = (schema: readonly { readonly AttributeName?: string | undefined }[]) =>
      schema.map(({ AttributeName }) => ({ name: AttributeName, type: types.get(AttributeName) }));
    const actual = {
      keys: keys(Table!.KeySchema!),
      indexes: sorted(
        (Table!.GlobalSecondaryIndexes ?? []).map((index) => ({
          name: index.IndexName!,
          keys: keys(index.KeySchema!),
          include: [...(index.Projection!.NonKeyAttributes ?? [])].sort(),
        })),
      ),
      expires: TimeToLiveDescription?.AttributeName,
    };
    const expected = expectedOf(id as TableId);
    indexes += table.indexes.length;
    if (!isDeepStrictEqual(actual, expected)) {
      problems.push(`Table ${id} is ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
    }
  }
  failOn(problems);
  return `${Object.keys(TABLES).length} with ${indexes} indexes equal src/contract/values/tables.ts`;
}

function expectedOf(id: TableId) {
  const { partitionKey, sortKey, indexes, expires } = TABLES[id] as (typeof TABLES)[TableId] & {
    readonly expires?: string;
  };
  const keys = (...attributes: readonly KeyAttribute[]) =>
    attributes.map(({ name, type }) => ({ name, type }));
  return {
    keys: keys(partitionKey, sortKey),
    indexes: sorted(
      indexes.map((index) => ({
        name: index.name,
        keys: keys(index.partitionKey, index.sortKey),
        include: [...index.include].sort(),
      })),
    ),
    expires,
  };
}

function sorted<T extends { readonly name: string }>(each: readonly T[]): T[] {
  return [...each].sort((a, b) => a.name.localeCompare(b.name));
}
