import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EVENT_LOG_PARTITION } from '#contract/values/tables.ts';

/** Billed units of DynamoDB, and number of requests. */
export interface DatabaseCost {
  readonly trips: number;
  readonly writeUnits: number;
  readonly readUnits: number;
}

/** Value in DynamoDB JSON: one member, named by its type. */
type Value = Readonly<{
  S?: string;
  N?: string;
  L?: readonly Value[];
  M?: Item;
  BOOL?: boolean;
  NULL?: boolean;
}>;
type Item = Readonly<{ [name: string]: Value }>;

interface Sent {
  readonly ConsistentRead?: boolean;
  readonly Item: Item;
  readonly TransactItems: readonly { readonly Put: { readonly Item: Item } }[];
  readonly RequestItems: Readonly<
    Record<string, { readonly Keys: readonly Item[]; ConsistentRead?: boolean }>
  >;
}

interface Received {
  readonly Item?: Item;
  readonly Items: readonly Item[];
  readonly Responses: Readonly<Record<string, readonly Item[]>>;
}

export interface CountingDatabase {
  readonly endpoint: string;
  /** Cost of all requests during `work`. */
  costOf(work: () => Promise<unknown>): Promise<DatabaseCost>;
  stop(): void;
}

/** Forwards every request to a database and counts its cost by DynamoDB's rules, without indexes. */
export async function countDatabase(database: string): Promise<CountingDatabase> {
  let costs: DatabaseCost[] | undefined;
  const server = createServer(async (request, response) => {
    const sent = await bodyOf(request);
    const headers = request.headers as Record<string, string>;
    const { host: _, 'content-length': __, connection: ___, ...passed } = headers;
    const forwarded = await fetch(database, { method: 'POST', headers: passed, body: sent });
    const received = await forwarded.text();
    const [service, operation] = String(headers['x-amz-target']).split('.') as [string, string];
    const parsed: Sent = JSON.parse(sent);
    // Events follow the tables' streams, beside the requests and in AWS in a function of their own.
    if (!service.startsWith('DynamoDBStreams') && parsed.Item?.job_id?.S !== EVENT_LOG_PARTITION)
      costs?.push(costOf(operation, parsed, JSON.parse(received)));
    response.writeHead(forwarded.status, Object.fromEntries(forwarded.headers)).end(received);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    costOf: async (work) => {
      const counted: DatabaseCost[] = [];
      costs = counted;
      await work();
      costs = undefined;
      const sum = (of: keyof DatabaseCost) => counted.reduce((all, cost) => all + cost[of], 0);
      return { trips: sum('trips'), writeUnits: sum('writeUnits'), readUnits: sum('readUnits') };
    },
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** A strongly consistent read costs 1 unit per 4 KB, at least 1; a write 1 unit per KB, in a transaction 2. */
function costOf(operation: string, sent: Sent, received: Received): DatabaseCost {
  const reads = (bytes: readonly number[], consistent: boolean | undefined) => ({
    trips: 1,
    writeUnits: 0,
    readUnits: units(bytes, 4096) * (consistent ? 1 : 0.5),
  });
  const writes = (items: readonly Item[]) => ({
    trips: 1,
    writeUnits: units(items.map(sizeOf), 1024),
    readUnits: 0,
  });
  switch (operation) {
    case 'PutItem':
      return writes([sent.Item]);
    case 'TransactWriteItems': {
      const items = sent.TransactItems.map(({ Put }) => Put.Item);
      return writes([...items, ...items]);
    }
    case 'GetItem':
      return reads([sizeOf(received.Item ?? {})], sent.ConsistentRead);
    case 'Query':
      return reads([total(received.Items.map(sizeOf))], sent.ConsistentRead);
    case 'BatchGetItem': {
      const [table, { Keys, ConsistentRead }] = Object.entries(sent.RequestItems)[0]!;
      const found = received.Responses[table]!.map(sizeOf);
      return reads([...found, ...Array(Keys.length - found.length).fill(0)], ConsistentRead);
    }
    default:
      throw new Error(`${operation} has no cost rule. Add one to costOf().`);
  }
}

function units(bytes: readonly number[], unit: number): number {
  return total(bytes.map((size) => Math.max(1, Math.ceil(size / unit))));
}

function total(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

/** Size in bytes by DynamoDB's rules: names and values; a map or list has 3 bytes more, plus 1 per member. */
function sizeOf(item: Item): number {
  return total(Object.entries(item).map(([name, value]) => Buffer.byteLength(name) + bytesOf(value)));
}

function bytesOf({ S, N, L, M }: Value): number {
  if (S !== undefined) return Buffer.byteLength(S);
  if (N !== undefined) return 1 + Math.ceil(N.replace(/[-.]|e.*$/gi, '').replace(/^0+|0+$/g, '').length / 2);
  if (L) return 3 + L.length + total(L.map(bytesOf));
  if (M) return 3 + Object.keys(M).length + sizeOf(M);
  return 1;
}
