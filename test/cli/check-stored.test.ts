import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openObjectStore } from '#adapters/open-object-store.ts';
import { candlesPrefix } from '#adapters/parquet/keys.ts';
import { MonthFiles } from '#adapters/parquet/month-files.ts';
import { CANDLE_COLUMNS } from '#engine/candles.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { expectCausal } from '../../src/testing/index.ts';

const DAY = 86_400_000;
const START = Date.UTC(2025, 2, 1);
const RANGE = { start: '2025-03-01', end: '2025-03-11' };
const PAIR = 'ETH/USDT:USDT';
/** Price by which a strategy knows the series that it reads. */
const [HOURLY, DAILY, MINUTES] = [100, 200, 300];

const folder = mkdtempSync(join(tmpdir(), 'touchstone-check-stored-'));
const home = join(folder, 'home');
afterAll(() => rmSync(folder, { recursive: true }));

/** Stores candles of one price; the close of each second one is a little higher. */
async function store(symbol: string, timeframe: Timeframe, price: number, from: number, to: number) {
  const objects = openObjectStore({ OBJECTS_DIRECTORY: join(home, 'objects') }, 'candles');
  const step = TIMEFRAME_MS[timeframe];
  const rows = (to - from) / step;
  const column = (of: (row: number) => number) => Float64Array.from({ length: rows }, (_, row) => of(row));
  await new MonthFiles(objects, CANDLE_COLUMNS).merge(
    candlesPrefix({ exchange: 'bybit', symbol, timeframe }),
    [
      column((row) => from + row * step),
      ...[price, price + 1, price].map((value) => column(() => value)),
      column((row) => price + (row % 2)),
      column(() => 1),
    ],
  );
}

/** Strategy that enters in each second candle while a column of its informative series has the price. */
function strategy(name: string, informative: string, column: string, price: number): string {
  const file = join(folder, `${name}.ts`);
  writeFileSync(
    file,
    `export default {
  name: '${name}', description: 'Reads stored candles.', timeframe: '1h', pairs: ['${PAIR}'], stakeAmount: 100,
  parameters: {}, startupCandles: () => 2, stoploss: -0.5, ${informative},
  indicators: ({ close }) => ({ close }),
  signals({ close }, columns, params, informative) {
    const other = informative['${column}'].close;
    const near = (row) => other[row] >= ${price} && other[row] <= ${price} + 1;
    return {
      enterLong: Uint8Array.from(close, (_, row) => Number(near(row) && row % 2 === 0)),
      exitLong: Uint8Array.from(close, (_, row) => Number(row % 2 === 1)),
    };
  },
};
`,
  );
  return file;
}

const check = (file: string) => expectCausal(file, { exchange: 'bybit', home, range: RANGE, cuts: 5 });

beforeAll(async () => {
  await store(PAIR, '1h', HOURLY, START - 5 * DAY, START + 10 * DAY);
  await store(PAIR, '1d', DAILY, START - 5 * DAY, START + 10 * DAY);
  // Most of the hours are missing, the five minutes are complete.
  await store('BTC/USDT:USDT', '1h', HOURLY, START, START + DAY);
  await store('BTC/USDT:USDT', '5m', MINUTES, START - DAY, START + 10 * DAY);
});

it('a stored informative timeframe is read, not aggregated, as in a backtest', async () => {
  const certificate = await check(strategy('daily', "informativeTimeframes: ['1d']", '1d', DAILY));
  expect(certificate.entrySignals).toBeGreaterThan(10);
  await expect(check(strategy('hourly', "informativeTimeframes: ['1d']", '1d', HOURLY))).rejects.toThrow(
    'no entry signal',
  );
});

it('other pairs are computed of the series that lacks least', async () => {
  const other = "informative: [{ pair: 'BTC/{stake}', timeframe: '1h' }]";
  const certificate = await check(strategy('minutes', other, 'BTC/{stake} 1h', MINUTES));
  expect(certificate.entrySignals).toBeGreaterThan(10);
});
