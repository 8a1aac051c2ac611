import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { DynamoSeriesStore } from '#adapters/aws/dynamo-series-store.ts';
import { FileReader } from '#adapters/import/file-reader.ts';
import { findFiles } from '#adapters/import/find.ts';
import { type ImportOptions, type ImportResult, importFiles } from '#adapters/import/import-files.ts';
import { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { ParquetCandleStore } from '#adapters/parquet/candle-store.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';

export const T0 = Date.UTC(2025, 2, 1);
export const MINUTES_5 = 300_000;
/** When the files are imported. */
export const NOW = Date.UTC(2026, 0, 1);
export const FOREVER = Number.MAX_SAFE_INTEGER;
export const FIXTURES = join(import.meta.dirname, 'fixtures/import');

/** A folder of files to import and real stores to import them into, fresh for each test. */
export interface ImportWorld {
  folder: string;
  /** Where the stores keep their files. */
  storage: string;
  store: ParquetCandleStore;
  series: DynamoSeriesStore;
  /** One for all tests: it is a process. */
  readonly reader: FileReader;
  /** Writes a file into the folder, gzip'd when its name says so, and answers its path. */
  put(name: string, content: string | Uint8Array): string;
  load(path?: string, options?: Partial<ImportOptions>): Promise<ImportResult[]>;
  /** What is stored of BTC/USDT:USDT or another symbol, column by column. */
  stored(timeframe: Timeframe, symbol?: string): Promise<Record<string, number[]>>;
}

export function importWorld(): ImportWorld {
  const root = mkdtempSync(join(tmpdir(), 'touchstone-import-'));
  const reader = new FileReader();
  let engine: TestEngine;
  let worlds = 0;
  const world = {
    reader,
    put(name: string, content: string | Uint8Array): string {
      const path = join(world.folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, name.endsWith('.gz') ? gzipSync(content) : content);
      return path;
    },
    async load(path = world.folder, options: Partial<ImportOptions> = {}) {
      const clock = { now: () => NOW };
      return importFiles(await findFiles(path), {
        store: world.store,
        reader,
        exchange: 'binanceusdm',
        clock,
        ...options,
      });
    },
    async stored(timeframe: Timeframe, symbol = 'BTC/USDT:USDT') {
      const candles = await world.store.read({ exchange: 'binanceusdm', symbol, timeframe }, 0, FOREVER);
      return Object.fromEntries(Object.entries(candles).map(([name, column]) => [name, [...column]]));
    },
  } as ImportWorld;
  beforeAll(async () => {
    engine = await startEngine();
  });
  afterAll(async () => {
    reader.close();
    await engine?.stop();
    rmSync(root, { recursive: true, force: true });
  });
  beforeEach(async () => {
    world.folder = join(root, `in-${worlds}`);
    mkdirSync(world.folder);
    world.series = new DynamoSeriesStore(engine.client, (await engine.freshTables()).series);
    world.storage = join(root, `out-${worlds++}`);
    const objects = new FileObjectStore(world.storage);
    world.store = new ParquetCandleStore({ objects, series: world.series, clock: { now: () => NOW } });
  });
  return world;
}

/** CSV rows of the 5m grid: `[row, open, high, low, close, volume]`. */
export const csvRows = (...rows: number[][]) =>
  rows.map(([row, ...values]) => [T0 + row! * MINUTES_5, ...values].join(',')).join('\n');
