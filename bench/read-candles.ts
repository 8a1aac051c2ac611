import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { ParquetCandleStore } from '#adapters/parquet/candle-store.ts';
import { hasValidChecksum } from '#adapters/parquet/checksum.ts';
import { SeriesFiles } from '#adapters/parquet/series-file.ts';
import type { SeriesStates, SeriesStore } from '#domain/ports.ts';
import { CANDLE_COLUMNS } from '#engine/candles.ts';
import type { Bench, Measurement } from './support/bench.ts';
import { CANDLES_START, randomCandles } from './support/candles.ts';
import { cpuTime, median } from './support/measure.ts';
import { scaled } from './support/quick.ts';

const CANDLES = 1_000_000;
const MINUTE = 60_000;
const SERIES = { exchange: 'bench', symbol: 'BTC/USDT:USDT', timeframe: '1m' } as const;
const RUNS = scaled(21);

interface Fixture {
  readonly objects: FileObjectStore;
  readonly store: ParquetCandleStore;
  readonly keys: readonly string[];
}

/** Stores a series of candles as the collector does: one file per month. */
async function storeCandles(folder: string): Promise<Fixture> {
  const objects = new FileObjectStore(folder);
  // Reading uses the object store, and the recorded months only to find missing files.
  const series = {
    record: async () => undefined,
    months: async () => [],
    state: async () => ({ months: [] }),
  } as unknown as SeriesStore & SeriesStates;
  const store = new ParquetCandleStore({ objects, series, clock: Date });
  await store.write(SERIES, randomCandles(1, CANDLES, '1m'));
  const keys: string[] = [];
  for await (const key of objects.list('')) keys.push(key);
  return { objects, store, keys };
}

/** Medians of wall-clock and processor time of `subject`, ms, without the first call. */
async function measure(subject: () => Promise<unknown>) {
  await subject();
  const runs: { wallMs: number; cpuMs: number }[] = [];
  for (let run = 0; run < RUNS; run++) runs.push(await cpuTime(subject));
  return { wallMs: median(runs.map((run) => run.wallMs)), cpuMs: median(runs.map((run) => run.cpuMs)) };
}

async function readWhole({ store }: Fixture): Promise<void> {
  const { timestamp } = await store.read(SERIES, CANDLES_START, CANDLES_START + CANDLES * MINUTE);
  if (timestamp.length !== CANDLES)
    throw new Error(`${timestamp.length} candles were read instead of ${CANDLES}`);
}

/** Measures the parts of a read one by one. `file I/O` reads the files; the other parts use files in memory. */
async function measureParts({ objects, keys }: Fixture) {
  const fetchAll = () => Promise.all(keys.map(async (key) => (await objects.get(key))!.body));
  const files = await fetchAll();
  const format = new SeriesFiles(CANDLE_COLUMNS);
  const check = async () => {
    if (!files.every(hasValidChecksum)) throw new Error('A candle file of the benchmark is corrupt');
  };
  const decode = async () => {
    for (const file of files) format.decode(file);
  };
  return {
    bytes: files.reduce((total, file) => total + file.length, 0),
    parts: {
      'compare and decode': await measure(decode),
      checksum: await measure(check),
      'file I/O': await measure(fetchAll),
    },
  };
}

const perSecond = (ms: number) => CANDLES / ms / 1000;

async function measurements(fixture: Fixture): Promise<Measurement[]> {
  const first = await cpuTime(() => readWhole(fixture));
  const whole = await measure(() => readWhole(fixture));
  const { bytes, parts } = await measureParts(fixture);
  const rest = Object.values(parts).reduce((left, { cpuMs }) => left - cpuMs, whole.cpuMs);
  const share = (label: string, cpuMs: number): Measurement => ({
    label: `share of ${label}`,
    value: (cpuMs / whole.cpuMs) * 100,
    unit: '%',
    detail: `${cpuMs.toFixed(1)} ms of processor time`,
  });
  return [
    {
      label: 'read into columns, on one core',
      value: perSecond(whole.cpuMs),
      unit: 'M candles/s',
      target: { atLeast: 5 },
      detail: `${whole.cpuMs.toFixed(0)} ms of processor time in all threads; ${fixture.keys.length} files, ${(bytes / CANDLES).toFixed(1)} bytes per candle`,
    },
    {
      label: 'read into columns, wall-clock time',
      value: perSecond(whole.wallMs),
      unit: 'M candles/s',
      detail: `${whole.wallMs.toFixed(0)} ms; load average ${loadavg()[0]!.toFixed(1)}`,
    },
    {
      label: 'first read of the process',
      value: perSecond(first.wallMs),
      unit: 'M candles/s',
      detail: `${first.wallMs.toFixed(0)} ms, ${first.cpuMs.toFixed(0)} ms of processor time`,
    },
    ...Object.entries(parts).map(([label, { cpuMs }]) => share(label, cpuMs)),
    share('columns: memory and copy', rest),
  ];
}

export default {
  name: 'read-candles',
  description: `${CANDLES} one-minute candles of a series from its Parquet files into columns (medians of ${RUNS})`,
  async run() {
    const folder = await mkdtemp(join(tmpdir(), 'touchstone-bench-'));
    try {
      return await measurements(await storeCandles(folder));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
} satisfies Bench;
