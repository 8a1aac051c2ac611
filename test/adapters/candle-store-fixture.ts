import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { DynamoSeriesStore } from '#adapters/dynamo/series-stores.ts';
import { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { ParquetCandleStore } from '#adapters/parquet/candle-store.ts';
import type { SeriesKey } from '#domain/ports.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';

export const HOUR: SeriesKey = { exchange: 'sim', symbol: 'BTC/USDT:USDT', timeframe: '1h' };
export const T0 = Date.UTC(2025, 0, 30);
const clock = { now: () => Date.UTC(2025, 6, 1) };

export const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

/** Candle store and what it writes to, fresh for each test. */
export interface CandleStoreFixture {
  /** Engine of the test file. */
  engine: TestEngine;
  /** Folder of the stored files. */
  root: string;
  objects: FileObjectStore;
  /** Name of the series table. */
  table: string;
  series: DynamoSeriesStore;
  store: ParquetCandleStore;
}

export function candleStoreFixture(): CandleStoreFixture {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-candles-'));
  const fixture = {} as CandleStoreFixture;
  let roots = 0;
  beforeAll(async () => {
    fixture.engine = await startEngine();
  });
  afterAll(async () => {
    await fixture.engine?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    fixture.root = join(folder, String(roots++));
    const objects = new FileObjectStore(fixture.root);
    fixture.table = (await fixture.engine.freshTables()).series;
    const series = new DynamoSeriesStore(fixture.engine.client, fixture.table);
    const store = new ParquetCandleStore({ objects, series, clock });
    Object.assign(fixture, { objects, series, store });
  });
  return fixture;
}
