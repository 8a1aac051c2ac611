import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTables } from '#adapters/aws/create-tables.ts';
import { startDatabase } from '#adapters/local/dynoxide.ts';
import { openStores, type Stores } from '#adapters/open-stores.ts';
import { createLogger } from '#runtime/log.ts';
import { startDataCollection } from '../src/local/services.ts';
import type { Bench, Figure } from './support/bench.ts';
import { medianTime } from './support/measure.ts';

const SYMBOLS = Array.from({ length: 500 }, (_, i) => `S${i}/USDT:USDT`);
const MINUTE = 60_000;
/** Months of a series that was collected for two years: most of its item's size. */
const MONTHS = 24;
const TARGET_MS = 50;

async function record({ series }: Stores): Promise<void> {
  const now = new Date();
  const months = Array.from({ length: MONTHS }, (_, back) => {
    const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back);
    const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back + 1);
    const last = Math.min(next, Math.floor(now.getTime() / MINUTE) * MINUTE) - MINUTE;
    const month = new Date(first).toISOString().slice(0, 7);
    return { month, first, last, count: (last - first) / MINUTE + 1, gapCount: 0, gaps: [] };
  });
  for (const symbol of SYMBOLS) {
    await series.record({ exchange: 'sim', symbol, timeframe: '1m' }, months, now.toISOString());
  }
}

async function measure(url: string, query: string): Promise<number> {
  return medianTime(async () => {
    const response = await fetch(`${url}/api/v1/freshness?symbols=${SYMBOLS.join(',')}${query}`);
    const { all_fresh } = (await response.json()) as { all_fresh: boolean };
    if (!all_fresh) throw new Error('The series of the bench must be fresh');
  });
}

function figure(label: string, ms: number): Figure {
  return { label, value: ms, unit: 'ms', target: { atMost: TARGET_MS } };
}

export default {
  name: 'freshness',
  description: '500 symbols at data collection over HTTP, on the embedded database',
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'touchstone-bench-'));
    const database = await startDatabase({ dbPath: join(folder, 'database.sqlite') });
    const tables = { jobs: 'Jobs', registry: 'Registry', series: 'Series' };
    const stores = openStores({
      DYNAMODB_ENDPOINT: database.endpoint,
      OBJECTS_DIRECTORY: folder,
      JOBS_TABLE: tables.jobs,
      SERIES_TABLE: tables.series,
      RESULTS_BUCKET: 'results',
      CANDLES_BUCKET: 'candles',
    });
    await createTables(stores.dynamo, tables);
    await record(stores);
    const log = createLogger('bench', 'ERROR');
    const service = await startDataCollection(
      { port: 0, exchange: 'sim', checkResponses: false, log },
      stores,
    );
    try {
      return [
        figure('one timeframe: 5 BatchGet calls', await measure(service.url, '&timeframe=1m')),
        figure('the newest of six timeframes: 30 BatchGet calls', await measure(service.url, '')),
      ];
    } finally {
      await service.stop();
      stores.dynamo.destroy();
      await database.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
} satisfies Bench;
