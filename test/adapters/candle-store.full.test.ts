import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DynamoSeriesStore } from '#adapters/aws/dynamo-series-stores.ts';
import { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { ParquetCandleStore } from '#adapters/parquet/candle-store.ts';
import type { SeriesKey } from '#domain/ports.ts';
import { startEngine, type TestEngine } from '../support/engine.ts';

const folder = mkdtempSync(join(tmpdir(), 'touchstone-candles-'));
const HOUR: SeriesKey = { exchange: 'sim', symbol: 'BTC/USDT:USDT', timeframe: '1h' };
const clock = { now: () => Date.UTC(2025, 6, 1) };
const T0 = Date.UTC(2025, 0, 30);

let engine: TestEngine;
let root: string;
let objects: FileObjectStore;
let table: string;
let series: DynamoSeriesStore;
let store: ParquetCandleStore;
let roots = 0;

beforeAll(async () => {
  engine = await startEngine();
});
afterAll(async () => {
  await engine?.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  root = join(folder, String(roots++));
  objects = new FileObjectStore(root);
  table = (await engine.freshTables()).series;
  series = new DynamoSeriesStore(engine.client, table);
  store = new ParquetCandleStore({ objects, series, clock });
});

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

describe('ParquetCandleStore candles', () => {
  test('concurrent writers in several processes keep every candle of a month', async () => {
    const script = join(import.meta.dirname, 'fixtures', 'write-candles.ts');
    const exits = await Promise.all(
      range(0, 3).map(async (part) => {
        const child = spawn(process.execPath, [script, engine.endpoint, table, root, String(part)], {
          stdio: 'inherit',
        });
        return (await once(child, 'exit'))[0];
      }),
    );
    expect(exits).toEqual([0, 0, 0]);
    const read = await store.read(HOUR, 0, T0 * 2);
    expect(read.timestamp).toHaveLength(60);
    const [info] = await series.list('sim');
    expect(info).toMatchObject({ count: 60, gap_count: 0 });
  });
});
