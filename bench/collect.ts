import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDocumentClient } from '#adapters/dynamo/client.ts';
import { createTables } from '#adapters/dynamo/create-tables.ts';
import { SIM_SYMBOLS } from '#adapters/exchange/sim.ts';
import { startDatabase } from '#adapters/local/dynoxide.ts';
import type { Bench } from './support/bench.ts';
import { type FreshProcess, runFresh } from './support/fresh-process.ts';
import { scaled } from './support/quick.ts';

/** `COLLECT_PAIRS=10 COLLECT_MONTHS=24 npm run bench -- collect` runs the full size: two years of ten pairs, about 3 minutes. */
const PAIRS = Number(process.env.COLLECT_PAIRS ?? scaled(2));
const MONTHS = Number(process.env.COLLECT_MONTHS ?? scaled(6));
const WHOLE = { pairs: 10, months: 24, candles: 10 * 731 * 1440 };

/** Rate limit of ccxt for Binance: 499 candles per page; a page costs 2 units of 50 ms. */
const PAGES_PER_SECOND = 10;
const PAGE_CANDLES = 499;

const SUPPORT = join(import.meta.dirname, 'support');
const TABLES = { jobs: 'Jobs', registry: 'Registry', series: 'Series' };

/** Collects into an empty store, in a new process. */
async function collect(url: string, pairs: number, months: number): Promise<FreshProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'touchstone-bench-'));
  const database = await startDatabase({ dbPath: join(folder, 'database.sqlite') });
  const client = createDocumentClient({ endpoint: database.endpoint });
  await createTables(client, TABLES);
  try {
    return await runFresh([join(SUPPORT, 'collect-process.ts')], {
      DYNAMODB_ENDPOINT: database.endpoint,
      OBJECTS_DIRECTORY: folder,
      CANDLES_BUCKET: 'candles',
      SERIES_TABLE: TABLES.series,
      EXCHANGE_URL: url,
      SYMBOLS: [...SIM_SYMBOLS.keys()].slice(0, pairs).join(','),
      START: String(Date.UTC(2024, 0)),
      END: String(Date.UTC(2024, months)),
    });
  } finally {
    client.destroy();
    await database.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const minutes = (seconds: number) => `${(seconds / 60).toPrecision(2)} min`;

export default {
  name: 'collect',
  description: `collecting one-minute candles of ${PAIRS} pairs, ${MONTHS} months, with ccxt from an exchange on loopback`,
  async run() {
    const server = fork(join(SUPPORT, 'exchange-process.ts'));
    try {
      const [url] = (await once(server, 'message')) as [string];
      const month = await collect(url, 1, 1);
      const all = await collect(url, PAIRS, MONTHS);
      const candles = Number(all.output);
      const perSecond = candles / (all.wallMs / 1000);
      const paced = PAGES_PER_SECOND * PAGE_CANDLES;
      return [
        {
          label: 'candles stored per second',
          value: perSecond,
          unit: '/s',
          detail: `${candles} in ${(all.wallMs / 1000).toFixed(1)} s, ${(all.cpuMs / all.wallMs).toFixed(2)} cores; 2 years of 10 pairs would take ${minutes(WHOLE.candles / perSecond)} here, ${minutes(WHOLE.candles / paced)} at Binance's pace`,
        },
        {
          label: `peak memory, ${PAIRS} pairs x ${MONTHS} months`,
          value: all.peakMb,
          unit: 'MB',
          target: { atMost: 400 },
          detail: `1 pair x 1 month: ${month.peakMb.toFixed(0)} MB`,
        },
      ];
    } finally {
      server.disconnect();
    }
  },
} satisfies Bench;
