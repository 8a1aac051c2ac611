import { join } from 'node:path';
import { startDatabase } from '#adapters/local/dynoxide.ts';
import { type Platform, startPlatform } from '../src/local/platform.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { ChallengeRequests, createChallenge } from './support/challenge-requests.ts';
import { type CountingDatabase, countDatabase, type DatabaseCost } from './support/counting-database.ts';
import { withHome } from './support/local-platform.ts';
import { RegistryClient } from './support/registry-client.ts';

const MODEL = 'buy_and_hold';
const REQUESTS = {
  trade: 'POST a trade',
  keyedTrade: 'POST a trade with a key',
  batch: 'POST 100 trades',
  assignment: 'POST an assignment',
  evaluate: 'GET evaluate',
  route: 'GET route',
} as const;

/** Runs `work` with a platform in this process whose database calls are counted. */
async function withCountedPlatform<T>(
  work: (platform: Platform, database: CountingDatabase) => Promise<T>,
): Promise<T> {
  return withHome(async (home) => {
    const database = await startDatabase({ dbPath: join(home, 'counted.sqlite') });
    const counting = await countDatabase(database.endpoint);
    const platform = await startPlatform({
      home: join(home, 'platform'),
      ports: { backend: 0, strategy: 0, dataCollection: 0 },
      concurrency: 1,
      logLevel: 'ERROR',
      dynamodbEndpoint: counting.endpoint,
    });
    try {
      return await work(platform, counting);
    } finally {
      await platform.stop();
      counting.stop();
      await database.stop();
    }
  });
}

function measurementOf(label: string, first: DatabaseCost, last: DatabaseCost): Measurement {
  const detail = `${last.writeUnits} in the last stage, ${first.readUnits} read units, ${first.trips} round trips`;
  return { label, value: first.writeUnits, unit: 'write units', detail };
}

export default {
  name: 'challenge-cost',
  description:
    'DynamoDB cost of the requests of champion/challenger tests, in the first and the last stage: counted, not timed',
  run: () =>
    withCountedPlatform(async ({ info }, database) => {
      const client = new RegistryClient(info);
      const id = await createChallenge(client, MODEL);
      const requests = new ChallengeRequests(info, { model: MODEL, id, filled: 0 });
      const costs = async () => {
        await requests.trade();
        const found = new Map<string, DatabaseCost>();
        for (const [name, label] of Object.entries(REQUESTS)) {
          found.set(label, await database.costOf(() => requests[name as keyof typeof REQUESTS]()));
        }
        return found;
      };
      const first = await costs();
      for (let stage = 1; stage < 4; stage++) await client.post(`challenges/${id}/advance`, {}, 'strategy');
      const last = await costs();
      return [...first].map(([label, cost]) => measurementOf(label, cost, last.get(label)!));
    }),
} satisfies Bench;
