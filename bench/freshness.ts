import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openAudit } from '#adapters/dynamo/audit-trail.ts';
import { createTables } from '#adapters/dynamo/create-tables.ts';
import { storedCursorKey } from '#adapters/dynamo/cursor-key.ts';
import { ulids } from '#adapters/ids.ts';
import { startDatabase } from '#adapters/local/dynoxide.ts';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import { openStores, type Stores } from '#adapters/open-stores.ts';
import { TIMEFRAMES } from '#engine/timeframe.ts';
import { withoutIdentityProvider } from '#runtime/authenticate.ts';
import { createLogger } from '#runtime/log.ts';
import { startDataCollection } from '../src/local/services.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { medianTime } from './support/measure.ts';
import { scaled } from './support/quick.ts';

const authenticate = withoutIdentityProvider({ enforced: false });

const SYMBOLS = Array.from({ length: scaled(500, 20) }, (_, i) => `S${i}/USDT:USDT`);
const MINUTE = 60_000;
/** Months of each series: two years of candles. */
const MONTHS = 24;
const TARGET_MS = 50;

/** Exchange whose symbols have six series each, with listed gaps in every month. */
const EXCHANGE_WITH_GAPS = 'bybit';
const GAPS_PER_MONTH = 20;

/** Start of a month, ISO 8601. */
function monthsAgo(back: number): string {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString();
}

async function record({ series }: Stores): Promise<void> {
  const now = new Date();
  const months = Array.from({ length: MONTHS }, (_, back) => {
    const first = Date.parse(monthsAgo(back));
    const next = Date.parse(monthsAgo(back - 1));
    const last = Math.min(next, Math.floor(now.getTime() / MINUTE) * MINUTE) - MINUTE;
    const month = new Date(first).toISOString().slice(0, 7);
    return {
      month,
      first,
      last,
      count: (last - first) / MINUTE + 1,
      gap_count: 0,
      gaps: [],
      longest_omitted_gap: 0,
    };
  });
  const withGaps = months.map((month) => ({
    ...month,
    gap_count: 1000,
    gaps: Array.from({ length: GAPS_PER_MONTH }, (_, i) => [month.first + 10 * (i + 1) * MINUTE, 5] as const),
    longest_omitted_gap: 4,
  }));
  const at = now.toISOString();
  for (const symbol of SYMBOLS) {
    await series.record({ exchange: 'sim', symbol, timeframe: '1m' }, months, at);
    for (const timeframe of TIMEFRAMES) {
      await series.record({ exchange: EXCHANGE_WITH_GAPS, symbol, timeframe }, withGaps, at);
    }
  }
}

async function measure(url: string, query: string): Promise<number> {
  return medianTime(async () => {
    const response = await fetch(`${url}/api/v1/freshness?symbols=${SYMBOLS.join(',')}${query}`);
    const { all_fresh } = (await response.json()) as { all_fresh: boolean };
    if (!all_fresh)
      throw new Error(
        `A series is stale for the query "${query}"; all series of this benchmark must be fresh`,
      );
  });
}

function measurement(label: string, ms: number): Measurement {
  return { label, value: ms, unit: 'ms', target: { atMost: TARGET_MS } };
}

export default {
  name: 'freshness',
  description:
    'freshness of 500 symbols, from data collection over HTTP, on the embedded database: 5 BatchGet calls',
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-bench-'));
    const database = await startDatabase({ dbPath: join(folder, 'database.sqlite') });
    const tables = { jobs: 'Jobs', registry: 'Registry', series: 'Series' };
    const storage = {
      DYNAMODB_ENDPOINT: database.endpoint,
      OBJECTS_DIRECTORY: folder,
      JOBS_TABLE: tables.jobs,
      SERIES_TABLE: tables.series,
      RESULTS_BUCKET: 'results',
      CANDLES_BUCKET: 'candles',
    };
    const stores = openStores(storage);
    await createTables(stores.dynamo, tables);
    await record(stores);
    const log = createLogger('bench', 'ERROR');
    const service = await startDataCollection(
      {
        port: 0,
        exchange: 'sim',
        checkResponses: false,
        authenticate,
        log,
        audit: { trail: openAudit(tables.registry, database.endpoint), clock: Date, ids: ulids },
        cursorKey: storedCursorKey(stores.dynamo, 'registry', tables.registry),
      },
      {
        ...stores,
        ...openMarketStores(storage, stores.dynamo),
        registry: { catalog: async function* () {} },
      },
    );
    try {
      return [
        measurement('one timeframe', await measure(service.url, '&timeframe=1m')),
        measurement('the newest of six timeframes', await measure(service.url, '')),
        measurement(
          'over two years, with gaps in each month',
          await measure(
            service.url,
            `&exchange=${EXCHANGE_WITH_GAPS}&timeframe=1m&start=${monthsAgo(MONTHS - 1)}`,
          ),
        ),
        {
          label: 'largest items: six series, each with 40 gaps listed',
          value: await measure(service.url, `&exchange=${EXCHANGE_WITH_GAPS}`),
          unit: 'ms',
        },
      ];
    } finally {
      await service.stop();
      stores.dynamo.destroy();
      await database.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
} satisfies Bench;
