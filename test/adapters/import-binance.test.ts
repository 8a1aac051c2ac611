import { createHash } from 'node:crypto';
import { symlinkSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findFiles } from '#adapters/import/find.ts';
import { importFiles } from '#adapters/import/import-files.ts';
import { candidate, recognize } from '#adapters/import/recognize.ts';
import type { ImportResult } from '#adapters/import/store-series.ts';
import { FOREVER, importFixture, NOW, T0 } from './import-fixture.ts';
import { type ZipEntry, zipOf } from './zip-fixture.ts';

/**
 * Files of data.binance.vision as its documentation describes them: github.com/binance/binance-public-data, README.md; headers:
 * issues 246 and 283 there; microseconds: issue 386.
 */
const fixture = importFixture();
const { put } = fixture;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const HEADER =
  'open_time,open,high,low,close,volume,close_time,quote_volume,count,taker_buy_volume,taker_buy_quote_volume,ignore';
const SPOT = 'data/spot/monthly/klines/ETHBTC/1m';
const UM = 'data/futures/um/monthly';

/** A row of klines. @param unit times per millisecond: 1, or 1000 for microseconds */
const kline = (time: number, price: number, unit = 1) =>
  [
    time * unit,
    price,
    price + 1,
    price - 0.5,
    price + 0.5,
    10,
    (time + MINUTE) * unit - 1,
    10 * (price + 0.5),
    3,
    1,
    2,
    0,
  ].join(',');
const klines = (rows: number, { from = T0, step = MINUTE, unit = 1 } = {}) =>
  Array.from({ length: rows }, (_, row) => `${kline(from + row * step, 1 + row, unit)}\n`).join('');

const zipped = (path: string, text: string, entry: Partial<ZipEntry> = {}) =>
  put(path, zipOf([{ name: basename(path).replace(/zip$/, 'csv'), content: text, ...entry }]));

async function load(
  path = fixture.folder,
  symbols: string[] = [],
  store = fixture.store,
): Promise<ImportResult[]> {
  const { reader } = fixture;
  return importFiles(await findFiles(path, { symbols }), {
    store,
    reader,
    exchange: 'binanceusdm',
    spotExchange: 'binance',
    clock: { now: () => NOW },
  });
}
const reasons = (results: readonly ImportResult[]) =>
  results.map((result) => [
    relative(fixture.folder, result.file),
    result.outcome === 'imported' ? result.kind : result.reason,
  ]);
const times = async (exchange: string, symbol: string, timeframe: '1m' | '3m') =>
  (await fixture.store.read({ exchange, symbol, timeframe }, 0, FOREVER)).timestamp;

describe('Binance public data', () => {
  test('a download of spot is imported: microseconds, a day before its month, no header', async () => {
    zipped(`${SPOT}/ETHBTC-1m-2025-03.zip`, klines(4, { unit: 1000 }));
    zipped(
      'data/spot/daily/klines/ETHBTC/1m/ETHBTC-1m-2024-12-31.zip',
      klines(2, { from: Date.UTC(2024, 11, 31) }),
    );
    expect(await load()).toMatchObject([
      { outcome: 'imported', symbol: 'ETH/BTC', timeframe: '1m', rows: 2, notes: [] },
      { outcome: 'imported', symbol: 'ETH/BTC', rows: 4, notes: ['times are in microseconds'] },
    ]);
    const candles = await fixture.store.read(
      { exchange: 'binance', symbol: 'ETH/BTC', timeframe: '1m' },
      T0,
      FOREVER,
    );
    expect([...candles.timestamp]).toEqual([0, 1, 2, 3].map((row) => T0 + row * MINUTE));
    expect([candles.open[3], candles.high[3], candles.low[3], candles.close[3], candles.volume[3]]).toEqual([
      4, 5, 3.5, 4.5, 10,
    ]);
  });

  test('candles of other days than the name of the file states are noted', async () => {
    zipped(`${SPOT}/ETHBTC-1m-2025-02.zip`, klines(4, { unit: 1000, from: T0 - 2 * MINUTE }));
    expect(await load()).toMatchObject([
      { notes: ['times are in microseconds', 'candles outside the dates in the name: 2'] },
    ]);
  });

  test('futures are imported with funding rates and the mark prices of the same months', async () => {
    zipped(`${UM}/klines/BTCUSDT/3m/BTCUSDT-3m-2025-03.zip`, `${HEADER}\n${klines(3, { step: 3 * MINUTE })}`);
    const april = Date.UTC(2025, 3, 1);
    const marks = (month: string, from: number) =>
      zipped(
        `${UM}/markPriceKlines/BTCUSDT/1h/BTCUSDT-1h-${month}.zip`,
        `${HEADER}\n${klines(24, { from, step: HOUR })}`,
      );
    const rates = (month: string, from: number) =>
      zipped(
        `${UM}/fundingRate/BTCUSDT/BTCUSDT-fundingRate-${month}.zip`,
        `calc_time,funding_interval_hours,last_funding_rate\n${from + 3},8,0.00010000\n${from + 8 * HOUR},8,-0.0002\n`,
      );
    marks('2025-03', T0);
    marks('2025-04', april);
    marks('2025-05', Date.UTC(2025, 4, 1));
    rates('2025-03', T0);
    rates('2025-04', april);
    rates('2025-06', Date.UTC(2025, 5, 1));
    const results = await load();
    expect(reasons(results)).toEqual([
      [`${UM}/fundingRate/BTCUSDT/BTCUSDT-fundingRate-2025-03.zip`, 'funding'],
      [`${UM}/fundingRate/BTCUSDT/BTCUSDT-fundingRate-2025-04.zip`, 'funding'],
      [
        `${UM}/fundingRate/BTCUSDT/BTCUSDT-fundingRate-2025-06.zip`,
        expect.stringContaining('no mark prices (...-mark) in the same folder, or of the same time'),
      ],
      [`${UM}/klines/BTCUSDT/3m/BTCUSDT-3m-2025-03.zip`, 'candles'],
      [
        `${UM}/markPriceKlines/BTCUSDT/1h/BTCUSDT-1h-2025-05.zip`,
        expect.stringContaining(
          'no funding rates (...-funding_rate) in the same folder, or of the same time',
        ),
      ],
    ]);
    expect(await times('binanceusdm', 'BTC/USDT:USDT', '3m')).toHaveLength(3);
    const { timestamp, rate, markPrice } = await fixture.store.readFunding(
      'binanceusdm',
      'BTC/USDT:USDT',
      0,
      FOREVER - 1,
    );
    expect([...timestamp]).toEqual([T0, T0 + 8 * HOUR, april, april + 8 * HOUR]);
    expect([...rate]).toEqual([0.0001, -0.0002, 0.0001, -0.0002]);
    expect([...markPrice]).toEqual([1, 9, 1, 9]);
  });

  test('a month replaces its days, and a checksum that is a link is not read', async () => {
    const month = zipped(`${SPOT}/ETHBTC-1m-2025-03.zip`, klines(2, { unit: 1000 }));
    zipped(
      'data/spot/daily/klines/ETHBTC/1m/ETHBTC-1m-2025-03-01.zip',
      [0, 1, 2].map((row) => `${kline(T0 + row * MINUTE, 50, 1000)}\n`).join(''),
    );
    symlinkSync('/etc/hostname', `${month}.CHECKSUM`);
    expect(reasons(await load())).toEqual([
      ['data/spot/daily/klines/ETHBTC/1m/ETHBTC-1m-2025-03-01.zip', 'candles'],
      [`${SPOT}/ETHBTC-1m-2025-03.zip`, 'candles'],
      [`${SPOT}/ETHBTC-1m-2025-03.zip.CHECKSUM`, 'a link; links are not followed'],
    ]);
    const key = { exchange: 'binance', symbol: 'ETH/BTC', timeframe: '1m' } as const;
    expect([...(await fixture.store.read(key, 0, FOREVER)).open]).toEqual([1, 2, 50]);
  });

  test('days of one month are written together; a file that overlaps is written after them', async () => {
    const day = (date: number, price: number, rows = 1_440) => {
      const from = Date.UTC(2025, 2, date);
      const text = Array.from(
        { length: rows },
        (_, row) => `${kline(from + row * MINUTE, price, 1000)}\n`,
      ).join('');
      zipped(`${SPOT.replace('monthly', 'daily')}/ETHBTC-1m-2025-03-${`${date}`.padStart(2, '0')}.zip`, text);
    };
    for (let date = 1; date <= 5; date++) day(date, date);
    // Begins in the last hour of the day before, as no download does.
    const overlap = Array.from(
      { length: 61 },
      (_, row) => `${kline(Date.UTC(2025, 2, 5, 23) + row * MINUTE, 99, 1000)}\n`,
    ).join('');
    zipped(`${SPOT.replace('monthly', 'daily')}/ETHBTC-1m-2025-03-06.zip`, overlap);
    let writes = 0;
    const store = Object.create(fixture.store) as typeof fixture.store;
    store.write = (...given) => {
      writes++;
      return fixture.store.write(...given);
    };
    expect((await load(fixture.folder, [], store)).map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 6 }, () => 'imported'),
    );
    expect(writes).toBe(2);
    const { timestamp, open } = await fixture.store.read(
      { exchange: 'binance', symbol: 'ETH/BTC', timeframe: '1m' },
      0,
      FOREVER,
    );
    expect(timestamp).toHaveLength(5 * 1_440 + 1);
    expect([open[0], open[4 * 1_440], open[5 * 1_440 - 61], open[5 * 1_440 - 60], open.at(-1)]).toEqual([
      1, 5, 5, 99, 99,
    ]);
  });

  test('a checksum file is verified with its zip and is not a result', async () => {
    const path = zipped(`${SPOT}/ETHBTC-1m-2025-03.zip`, klines(2));
    const state = (hash: string) =>
      put(`${SPOT}/ETHBTC-1m-2025-03.zip.CHECKSUM`, `${hash}  ${basename(path)}\n`);
    const bytes = zipOf([{ name: 'ETHBTC-1m-2025-03.csv', content: klines(2) }]);
    state(createHash('sha256').update(bytes).digest('hex'));
    expect(await load()).toMatchObject([{ outcome: 'imported', rows: 2 }]);
    state('0'.repeat(64));
    expect(await load()).toMatchObject([
      { outcome: 'failed', reason: expect.stringContaining('does not match its checksum file: SHA-256 is') },
    ]);
    state('<html>');
    expect(await load(path)).toMatchObject([
      { outcome: 'failed', reason: expect.stringContaining('ETHBTC-1m-2025-03.zip.CHECKSUM has no SHA-256') },
    ]);
  });

  test('an unpacked CSV without folders is imported with --symbols', async () => {
    put('ETHBTC-1m-2025-03.csv', klines(2));
    expect(await load()).toMatchObject([
      { outcome: 'skipped', reason: expect.stringContaining('name the symbol: --symbols ETH/BTC') },
    ]);
    expect(await load(fixture.folder, ['BTC/USDT', 'ETH/BTC'])).toMatchObject([
      { outcome: 'imported', symbol: 'ETH/BTC', rows: 2 },
    ]);
  });

  test('a CSV that a user joined is recognized by its columns', async () => {
    put('BTCUSDT-1m.csv.gz', `${HEADER}\n${klines(3)}`);
    put('XRPUSDT-1m.csv', 'timestamp_ms,open,high,low,close,volume\n');
    expect(reasons(await load())).toEqual([
      ['BTCUSDT-1m.csv.gz', expect.stringContaining('does not say whether BTCUSDT is spot or futures')],
      ['XRPUSDT-1m.csv', 'holds no rows'],
    ]);
    expect(await load(fixture.folder, ['BTC/USDT:USDT'])).toMatchObject([
      { outcome: 'imported', symbol: 'BTC/USDT:USDT', timeframe: '1m', rows: 3 },
      { outcome: 'skipped' },
    ]);
  });

  const contentOf = async (path: string) => (await recognize(candidate(`/x/${path}`, new Set(), {}))).content;

  test.each([
    [`${SPOT.replace('ETHBTC', 'ADAEUR')}/ADAEUR-1m-2025-03.zip`, 'ADA/EUR'],
    [`data/spot/daily/klines/BTCAEUR/1d/BTCAEUR-1d-2025-03-09.zip`, 'BTC/AEUR'],
    [`data/spot/daily/klines/USDTTRY/1w/USDTTRY-1w-2025-03-09.zip`, 'USDT/TRY'],
    [`data/spot/daily/klines/BTTTUSD/1h/BTTTUSD-1h-2021-03-09.zip`, 'BTT/TUSD'],
    [`data/spot/daily/klines/BTCFDUSD/8h/BTCFDUSD-8h-2025-03-09.zip`, 'BTC/FDUSD'],
    [`${UM}/klines/1000SHIBUSDT/30m/1000SHIBUSDT-30m-2025-03.zip`, '1000SHIB/USDT:USDT'],
    [`${UM}/klines/ETHBTC/12h/ETHBTC-12h-2025-03.zip`, 'ETH/BTC:BTC'],
    [`${UM}/klines/BTCUSDC/3d/BTCUSDC-3d-2025-03.csv`, 'BTC/USDC:USDC'],
  ])('import recognizes %s as candles of %s', async (path, symbol) =>
    expect(await contentOf(path)).toMatchObject({ kind: 'candles', symbol }),
  );

  test.each([
    [`${UM}/klines/BTCUSDT_240628/1m/BTCUSDT_240628-1m-2024-03.zip`, 'a future with a delivery date'],
    ['data/futures/cm/monthly/klines/BTCUSD_PERP/1m/BTCUSD_PERP-1m-2024-03.zip', 'COIN-M futures'],
    ['data/option/daily/EOHSummary/BTCUSDT/BTCUSDT-EOHSummary-2023-10-23.zip', 'options'],
    [`${UM}/aggTrades/BTCUSDT/BTCUSDT-aggTrades-2024-03.zip`, 'aggTrades; only klines'],
    ['BTCUSDT-trades-2024-03.zip', 'trades; only klines'],
    ['data/futures/um/daily/metrics/BTCUSDT/BTCUSDT-metrics-2024-03-01.zip', 'metrics; only klines'],
    [`${UM}/premiumIndexKlines/BTCUSDT/1m/BTCUSDT-1m-2024-03.zip`, 'premiumIndexKlines; only klines'],
    [`${SPOT}/ETHBTC-1s-2024-03.zip`, 'timeframe 1s is not one of 1m, 3m'],
    [`${SPOT}/ETHBTC-1mo-2024-03.zip`, 'timeframe 1mo is not one of'],
    [`${SPOT}/ETHXYZ-1m-2024-03.zip`, 'ETHXYZ ends with no known quote asset'],
    [`${SPOT}/BTCPYUSD-1m-2024-03.zip`, 'BTCPYUSD ends with no quote asset of Binance that is known'],
    ['public_data/spot/daily/klines/BNBUSDT/12h/BNBUSDT-12h-2023-01-01.zip', 'Binance.US'],
    [`${UM}/klines/币安人生USDT/1m/币安人生USDT-1m-2025-10.zip`, 'is not a valid symbol'],
    [`${SPOT}/listing.csv`, 'not candles or funding rates of Binance public data'],
  ])('import skips %s with the reason', async (path, reason) =>
    expect(await contentOf(path)).toEqual({ kind: 'other', reason: expect.stringContaining(reason) }),
  );
});
