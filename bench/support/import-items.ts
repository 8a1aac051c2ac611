import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { DescribeTableCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { databaseBinary } from '#adapters/local/dynoxide.ts';
import type { Item } from './challenge-log.ts';

/** Items per file. The database reads a file as a whole into memory. */
const ITEMS_A_FILE = 100_000;

export interface TableDump {
  readonly schema: unknown;
  readonly items: readonly Item[];
}

/** Reads a small table of a running database, in DynamoDB JSON. */
export async function dumpTable(endpoint: string, table: string): Promise<TableDump> {
  const client = createDocumentClient({ endpoint });
  const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
  const items: Item[] = [];
  let start: ScanCommand['input']['ExclusiveStartKey'];
  do {
    const page = await client.send(new ScanCommand({ TableName: table, ExclusiveStartKey: start }));
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start);
  client.destroy();
  return { schema: { Table }, items };
}

/**
 * Replaces the file of a stopped database by one with a single table of these items. It uses the database's own import of
 * DynamoDB exports, which is ten times as fast as transactions.
 */
export async function importItems(
  dbPath: string,
  {
    table,
    schema,
    items,
  }: { readonly table: string; readonly schema: unknown; readonly items: Iterable<Item> },
): Promise<void> {
  const folder = await mkdtemp(join(dirname(dbPath), 'export-'));
  const data = join(folder, table, 'data');
  await mkdir(data, { recursive: true });
  await writeFile(join(folder, 'schema.json'), JSON.stringify(schema));
  const iterator = items[Symbol.iterator]();
  for (let part = 0, first = iterator.next(); !first.done; part++, first = iterator.next()) {
    const lines = linesOf(iterator, first.value);
    await pipeline(Readable.from(lines), createWriteStream(join(data, `${part}.json`)));
  }
  for (const suffix of ['', '-wal', '-shm']) await rm(`${dbPath}${suffix}`, { force: true });
  const source = ['--source', folder, '--schema', join(folder, 'schema.json')];
  await promisify(execFile)(databaseBinary(), ['import', ...source, '--output', dbPath]);
  await rm(folder, { recursive: true });
}

function* linesOf(iterator: Iterator<Item>, first: Item): Generator<string> {
  let lines = `${JSON.stringify({ Item: first })}\n`;
  for (let count = 1; count < ITEMS_A_FILE; count++) {
    const { done, value } = iterator.next();
    if (done) break;
    lines += `${JSON.stringify({ Item: value })}\n`;
    if (lines.length < 1_000_000) continue;
    yield lines;
    lines = '';
  }
  yield lines;
}
