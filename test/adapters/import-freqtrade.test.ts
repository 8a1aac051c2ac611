import { relative } from 'node:path';
import { Float64, Table, TimestampMillisecond, tableToIPC, vectorFromArray } from 'apache-arrow';
import { expect, test } from 'vitest';
import { findFiles } from '#adapters/import/find.ts';
import { importFiles } from '#adapters/import/import-files.ts';
import type { ImportResult } from '#adapters/import/store-series.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { encodeParquet, numberColumn, timestampColumn } from '../support/snappy-parquet.ts';
import { FOREVER, importFixture, NOW } from './import-fixture.ts';

/**
 * A `user_data` folder of freqtrade 2026.9: names of `pair_data_filename` and `pair_trades_filename` in
 * freqtrade/data/history/datahandlers, candle types of `CandleType`, and what other commands write there.
 */
const fixture = importFixture();
const { put } = fixture;
const SPOT = 'user_data/data/binance';
const FUTURES = `${SPOT}/futures`;
/** A Monday, at which candles of every timeframe open: a multiple of three days. */
const START = Date.UTC(2025, 2, 10);

/** Three candles: time, open, high, low, close, volume. */
const rows = (timeframe: Timeframe) =>
  [0, 1, 2].map((row) => [START + row * TIMEFRAME_MS[timeframe], 100 + row, 102 + row, 99, 101 + row, 5]);
const column = (all: number[][], index: number) => all.map((row) => row[index]!);
const numbers = (values: number[]) => vectorFromArray(values, new Float64());
const NAMES = ['open', 'high', 'low', 'close', 'volume'];

/** As pandas writes it: times with their zone. `names`: of the columns after the date. */
function feather(all: number[][], names = NAMES): Uint8Array {
  const date = vectorFromArray(column(all, 0), new TimestampMillisecond('UTC'));
  const columns = names.map((name, index) => [name, numbers(column(all, index + 1))]);
  return tableToIPC(new Table({ date, ...Object.fromEntries(columns) }), 'file');
}
const parquet = (all: number[][]) =>
  encodeParquet(
    ['date', ...NAMES].map((name, index) => {
      const values = Float64Array.from(column(all, index));
      return index === 0 ? timestampColumn(name, values) : numberColumn(name, values);
    }),
  );

test('a user_data folder of freqtrade is imported whole: spot, futures, funding, all formats and timeframes', async () => {
  const timeframes = Object.keys(TIMEFRAME_MS) as Timeframe[];
  for (const timeframe of timeframes)
    put(`${FUTURES}/BTC_USDT_USDT-${timeframe}-futures.feather`, feather(rows(timeframe)));
  put(`${FUTURES}/BTC_USDT_USDT-1h-mark.feather`, feather(rows('1h')));
  put(
    `${FUTURES}/BTC_USDT_USDT-1h-funding_rate.feather`,
    feather(
      [0, 1, 2].map((hour) => [START + hour * TIMEFRAME_MS['1h'], hour / 1e4]),
      ['funding_rate'],
    ),
  );
  put(`${FUTURES}/ETH_USDC_USDC-1h-futures.parquet`, parquet(rows('1h')));
  put(`${FUTURES}/SOL_USDT_USDT-30m-futures.json.gz`, JSON.stringify(rows('30m')));
  put(`${SPOT}/ETH_BTC-2h.feather`, feather(rows('2h')));
  put(`${SPOT}/BTC_USDT-1w.json.gz`, JSON.stringify(rows('1w')));
  put(`${SPOT}/BTC_USDT-5m.parquet`, parquet(rows('5m')));
  const skipped: Record<string, string> = {
    [`${FUTURES}/BTC_USDT_USDT-1Mo-futures.feather`]: 'timeframe 1Mo is not one of 1m, 3m',
    [`${FUTURES}/BTC_USDT_USDT-1h-index.feather`]: 'candles of type index',
    [`${FUTURES}/BTC_USDT_USDT-1h-premiumIndex.feather`]: 'candles of type premiumIndex',
    [`${FUTURES}/BTC_USDT_USDT-250627-5m-futures.feather`]: 'a future with a delivery date',
    [`${FUTURES}/BTC_USDT_USDT-trades.feather`]: 'trades; only candles',
    [`${FUTURES}/leverage_tiers_USDT.json`]: 'leverage tiers; import the file by itself',
    [`${SPOT}/BTC_USDT-5m.h5`]: 'HDF5; convert it to Feather',
    [`${SPOT}/BTC_USDT-trades.json.gz`]: 'trades; only candles',
    'user_data/backtest_results/backtest-result-2026-09-01_10-00-00.meta.json': 'is not a JSON array of rows',
    'user_data/backtest_results/backtest-result-2026-09-01_10-00-00.zip': 'a zip that does not hold one CSV',
    'user_data/config.json': 'is not a JSON array of rows',
    'user_data/hyperopt_results/strategy_EmaCross_2026-09-01.fthypt':
      'not a CSV, Feather, JSON or Parquet file',
    'user_data/strategies/EmaCross.py': 'not a CSV, Feather, JSON or Parquet file',
    'user_data/tradesv3.sqlite': 'not a CSV, Feather, JSON or Parquet file',
  };
  for (const path of Object.keys(skipped)) put(path, 'x');

  const { store, reader } = fixture;
  const results = await importFiles(await findFiles(fixture.folder), {
    store,
    reader,
    exchange: 'binanceusdm',
    spotExchange: 'binance',
    clock: { now: () => NOW },
  });
  const named = (wanted: ImportResult['outcome']) =>
    results.filter(({ outcome }) => outcome === wanted).map(({ file }) => relative(fixture.folder, file));
  expect(named('failed')).toEqual([]);
  expect(named('skipped').sort()).toEqual(Object.keys(skipped).sort());
  for (const result of results)
    if (result.outcome === 'skipped')
      expect(result.reason).toContain(skipped[relative(fixture.folder, result.file)]);
  // The mark prices have no result of their own.
  expect(named('imported')).toHaveLength(timeframes.length + 1 + 2 + 3);

  const series = async (exchange: string) =>
    (await fixture.series.list(exchange)).map(({ symbol, timeframe }) => `${symbol} ${timeframe}`).sort();
  expect(await series('binance')).toEqual(['BTC/USDT 1w', 'BTC/USDT 5m', 'ETH/BTC 2h']);
  expect(await series('binanceusdm')).toEqual(
    [
      ...timeframes.map((timeframe) => `BTC/USDT:USDT ${timeframe}`),
      'ETH/USDC:USDC 1h',
      'SOL/USDT:USDT 30m',
    ].sort(),
  );
  for (const timeframe of timeframes) {
    const key = { exchange: 'binanceusdm', symbol: 'BTC/USDT:USDT', timeframe } as const;
    const { timestamp, close } = await store.read(key, 0, FOREVER);
    expect([[...timestamp], [...close]], timeframe).toEqual([column(rows(timeframe), 0), [101, 102, 103]]);
  }
  const funding = await store.readFunding('binanceusdm', 'BTC/USDT:USDT', 0, FOREVER - 1);
  expect([...funding.rate]).toEqual([0, 0.0001, 0.0002]);
  expect([...funding.markPrice]).toEqual([100, 101, 102]);
});
