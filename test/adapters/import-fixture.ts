import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { DynamoSeriesStore } from '#adapters/dynamo/series-stores.ts';
import { findFiles } from '#adapters/import/find.ts';
import { FileReader } from '#adapters/import/formats/file-reader.ts';
import { type ImportOptions, importFiles } from '#adapters/import/import-files.ts';
import type { ImportResult } from '#adapters/import/store-series.ts';
import { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { ParquetCandleStore } from '#adapters/parquet/candle-store.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';

export const T0 = Date.UTC(2025, 2, 1);
export const MINUTES_5 = 300_000;
/** Clock time of the import. */
export const NOW = Date.UTC(2026, 0, 1);
export const FOREVER = Number.MAX_SAFE_INTEGER;
export const FIXTURES = join(import.meta.dirname, 'fixtures/import');

/** Folder of files to import and the stores to import them into, fresh for each test. */
export interface ImportFixture {
  folder: string;
  /** Folder of the stores' files. */
  storage: string;
  store: ParquetCandleStore;
  series: DynamoSeriesStore;
  /** Shared by all tests, because it starts a process. */
  readonly reader: FileReader;
  /** Writes a file into the folder, gzipped if its name ends with .gz. Returns its path. */
  put(name: string, content: string | Uint8Array): string;
  load(path?: string, options?: Partial<ImportOptions>): Promise<ImportResult[]>;
  /** Stored candles of BTC/USDT:USDT or another symbol, by column. */
  stored(timeframe: Timeframe, symbol?: string): Promise<Record<string, number[]>>;
}

export function importFixture(): ImportFixture {
  const root = mkdtempSync(join(tmpdir(), 'touchstone-import-'));
  const reader = new FileReader();
  let engine: TestEngine;
  let fixtures = 0;
  const fixture = {
    reader,
    put(name: string, content: string | Uint8Array): string {
      const path = join(fixture.folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, name.endsWith('.gz') ? gzipSync(content) : content);
      return path;
    },
    async load(path = fixture.folder, options: Partial<ImportOptions> = {}) {
      const clock = { now: () => NOW };
      return importFiles(await findFiles(path), {
        store: fixture.store,
        reader,
        exchange: 'binanceusdm',
        clock,
        ...options,
      });
    },
    async stored(timeframe: Timeframe, symbol = 'BTC/USDT:USDT') {
      const candles = await fixture.store.read({ exchange: 'binanceusdm', symbol, timeframe }, 0, FOREVER);
      return Object.fromEntries(Object.entries(candles).map(([name, column]) => [name, [...column]]));
    },
  } as ImportFixture;
  beforeAll(async () => {
    engine = await startEngine();
  });
  afterAll(async () => {
    reader.close();
    await engine?.stop();
    rmSync(root, { recursive: true, force: true });
  });
  beforeEach(async () => {
    fixture.folder = join(root, `in-${fixtures}`);
    mkdirSync(fixture.folder);
    fixture.series = new DynamoSeriesStore(engine.client, (await engine.freshTables()).series);
    fixture.storage = join(root, `out-${fixtures++}`);
    const objects = new FileObjectStore(fixture.storage);
    fixture.store = new ParquetCandleStore({ objects, series: fixture.series, clock: { now: () => NOW } });
  });
  return fixture;
}

/** CSV rows of the 5m grid: `[row, open, high, low, close, volume]`. */
export const csvRows = (...rows: number[][]) =>
  rows.map(([row, ...values]) => [T0 + row! * MINUTES_5, ...values].join(',')).join('\n');
