import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { Float64, Table, TimestampMillisecond, tableToIPC, vectorFromArray } from 'apache-arrow';
import { describe, expect, test } from 'vitest';
import { chooseExchange } from '#adapters/import/choose-exchange.ts';
import { findFiles } from '#adapters/import/find.ts';
import { importFiles } from '#adapters/import/import-files.ts';
import type { ImportResult } from '#adapters/import/store-series.ts';
import { summarizeImport } from '#adapters/import/summary.ts';
import { encodeParquet, numberColumn, timestampColumn } from '../support/snappy-parquet.ts';
import { csvRows, FIXTURES, FOREVER, importFixture, MINUTES_5, T0 } from './import-fixture.ts';

const fixture = importFixture();
const { put, load, stored } = fixture;
const HOUR = 3_600_000;
const at = (event: number, late = 0) => T0 + event * 8 * HOUR + late;
const one = csvRows([0, 1, 1, 1, 1, 1]);
const outcomes = (results: readonly ImportResult[]) =>
  results.map((result) => [
    relative(fixture.folder, result.file),
    result.outcome === 'imported' ? result.kind : result.reason,
  ]);

describe('funding import', () => {
  const events = async (symbol = 'BTC/USDT:USDT') => {
    const { timestamp, rate, markPrice } = await fixture.store.readFunding(
      'binanceusdm',
      symbol,
      0,
      FOREVER - 1,
    );
    return [...timestamp].map((time, i) => [time, rate[i], markPrice[i]]);
  };

  test('funding rates and mark prices of the same minute become events', async () => {
    put(
      'BTC_USDT_USDT-8h-funding_rate.csv.gz',
      [`${at(0, 17)},0.0001,0,0,0,0`, `${at(1)},-0.0002,0,0,0,0`, `${at(3)},0.0003,0,0,0,0`].join('\n'),
    );
    put('BTC_USDT_USDT-8h-mark.csv', [0, 1, 2].map((i) => `${at(i)},${100 + i},200,50,150,0`).join('\n'));
    expect(await load()).toMatchObject([
      {
        outcome: 'imported',
        kind: 'funding',
        symbol: 'BTC/USDT:USDT',
        rows: 2,
        first: '2025-03-01T00:00:00.000Z',
        notes: ['events without a mark price: 1, left out'],
      },
    ]);
    expect(await events()).toEqual([
      [at(0), 0.0001, 100],
      [at(1), -0.0002, 101],
    ]);
  });

  test('hourly and 8-hour mark prices in any format complement each other', async () => {
    put(
      'BTC_USDT_USDT-1h-funding_rate.json',
      JSON.stringify([4, 0, 8].map((h) => [T0 + h * HOUR, h / 1e4, 0, 0, 0, 0])),
    );
    put('BTC_USDT_USDT-8h-mark.json', JSON.stringify([[at(1), 200, 201, 199, 200, null]]));
    put('BTC_USDT_USDT-1h-mark.csv', [0, 4].map((h) => `${T0 + h * HOUR},${100 + h},200,50,150,`).join('\n'));
    expect(await load()).toMatchObject([
      { outcome: 'imported', rows: 3, notes: ['rows were not in time order: sorted'] },
    ]);
    expect(await events()).toEqual([
      [T0, 0, 100],
      [T0 + 4 * HOUR, 0.0004, 104],
      [at(1), 0.0008, 200],
    ]);
  });

  test('rates without mark prices take the open of the stored candle of their hour', async () => {
    put('BTC_USDT_USDT-5m.csv', csvRows([0, 50, 51, 49, 50, 1], [96, 60, 61, 59, 60, 1]));
    put(
      'BTC_USDT_USDT-8h-funding_rate.csv',
      [0, 1, 2].map((i) => `${at(i, 17)},0.000${i},0,0,0,0`).join('\n'),
    );
    const note = 'events without a mark price: ';
    expect((await load()).find((result) => 'kind' in result && result.kind === 'funding')).toMatchObject({
      rows: 2,
      notes: [`${note}2, at the open of the stored candle of the hour`, `${note}1, left out`],
    });
    expect(await events()).toEqual([
      [at(0), 0, 50],
      [at(1), 0.0001, 60],
    ]);
  });

  test('a rate between two mark prices takes that of its hour', async () => {
    put('BTC_USDT_USDT-1h-funding_rate.csv', `${T0 + HOUR + 30 * 60_000},0.0001,0,0,0,0`);
    put(
      'BTC_USDT_USDT-1h-mark.csv',
      [0, 1, 2].map((i) => `${T0 + i * HOUR},${100 + i},200,50,150,0`).join('\n'),
    );
    expect(await load()).toMatchObject([{ outcome: 'imported', rows: 1, notes: [] }]);
    expect(await events()).toEqual([[T0 + HOUR + 30 * 60_000, 0.0001, 101]]);
  });

  test('import of one rates file uses the mark prices in its folder', async () => {
    const rates = put('BTC_USDT_USDT-8h-funding_rate.csv', `${at(0)},0.0001,0,0,0,0`);
    put('BTC_USDT_USDT-8h-mark.csv', `${at(0)},7,7,7,7,0`);
    expect(await load(rates)).toMatchObject([{ outcome: 'imported', rows: 1 }]);
    expect(await events()).toEqual([[at(0), 0.0001, 7]]);
  });

  describe('funding_rate column (freqtrade since 2026.9)', () => {
    const times = [at(0, 17), at(1)];
    const rates = [0.0001, -0.0002];
    const rows = times.map((time, i) => [time, rates[i]]);
    const numbers = (values: number[]) => vectorFromArray(values, new Float64());
    const date = vectorFromArray(times, new TimestampMillisecond('UTC'));
    const feather = (columns: Record<string, ReturnType<typeof numbers>>) =>
      tableToIPC(new Table({ date, ...columns }), 'file');
    const others = {
      high: numbers([0, 0]),
      low: numbers([0, 0]),
      close: numbers([0, 0]),
      volume: numbers([0, 0]),
    };
    const files: [string, string, string | Uint8Array][] = [
      ['Feather', 'feather', feather({ funding_rate: numbers(rates) })],
      [
        'Feather, where it counts before open',
        'feather',
        feather({ open: numbers([0.5, 0.5]), ...others, funding_rate: numbers(rates) }),
      ],
      ['Feather of before', 'feather', feather({ open: numbers(rates), ...others })],
      [
        'Parquet',
        'parquet',
        encodeParquet([
          timestampColumn('date', Float64Array.from(times)),
          numberColumn('funding_rate', Float64Array.from(rates)),
        ]),
      ],
      ['JSON', 'json', JSON.stringify(rows)],
      ['JSON, gzipped', 'json.gz', JSON.stringify(rows)],
      ['CSV', 'csv', rows.join('\n')],
      ['CSV with a header', 'csv.gz', `date,funding_rate\n${rows.join('\n')}`],
    ];

    test.each(files)('import reads rates from %s', async (_, ending, content) => {
      put(`BTC_USDT_USDT-1h-funding_rate.${ending}`, content);
      put('BTC_USDT_USDT-1h-mark.csv', [0, 1].map((i) => `${at(i)},${100 + i},200,50,150,0`).join('\n'));
      expect(await load()).toMatchObject([{ outcome: 'imported', kind: 'funding', rows: 2, notes: [] }]);
      expect(await events()).toEqual([
        [at(0), 0.0001, 100],
        [at(1), -0.0002, 101],
      ]);
    });

    test.each([
      ['Feather without either', 'feather', feather(others), 'has no column funding_rate or open'],
      [
        'JSON of another width',
        'json',
        `[[${at(0)},0.1,0]]`,
        'row 1: expected 2 numbers: timestamp,funding_rate, or 6 numbers: timestamp,open,high,low,close,volume',
      ],
      [
        'JSON of two widths',
        'json',
        `[[${at(0)},0.1],[${at(1)},0.1,0,0,0,0]]`,
        'row 2: expected 2 numbers: timestamp,funding_rate',
      ],
      [
        'CSV of two widths',
        'csv',
        `date,funding_rate\n${at(0)},0.1\n${at(1)},0.1,0,0,0,0`,
        'line 3 has 6 values: expected decimal numbers: timestamp,funding_rate',
      ],
    ])('import rejects rates from %s', async (_, ending, content, reason) => {
      put(`BTC_USDT_USDT-1h-funding_rate.${ending}`, content);
      put('BTC_USDT_USDT-1h-mark.csv', `${at(0)},1,1,1,1,0`);
      expect(await load()).toMatchObject([{ outcome: 'failed', reason }]);
      expect(await events()).toEqual([]);
    });
  });

  test('import reads funding Parquet stored by Touchstone', async () => {
    const column = (...values: number[]) => Float64Array.from(values);
    const rows = (times: Float64Array, marks: Float64Array) =>
      encodeParquet([
        timestampColumn('timestamp', times),
        numberColumn('rate', column(0.0001, 0.0002)),
        numberColumn('mark_price', marks),
      ]);
    const folder = 'funding/exchange=binanceusdm/symbol';
    put(`${folder}=BTC_USDT_USDT/2025-03.parquet`, rows(column(at(0), at(1)), column(100, 101)));
    put(`${folder}=ETH_USDT_USDT/2025-03.parquet`, rows(column(at(0), at(1)), column(100, 0)));
    expect(await load()).toMatchObject([
      { outcome: 'imported', kind: 'funding', rows: 2, notes: [] },
      { outcome: 'failed', reason: 'row 2: mark price 0 is not above 0' },
    ]);
    expect(await events()).toEqual([
      [at(0), 0.0001, 100],
      [at(1), 0.0002, 101],
    ]);
    expect(await events('ETH/USDT:USDT')).toEqual([]);
  });

  test('import skips rates without mark prices and mark prices without rates', async () => {
    put('BTC_USDT_USDT-8h-funding_rate.csv', `${at(0)},0.0001,0,0,0,0`);
    put('elsewhere/BTC_USDT_USDT-8h-mark.csv', `${at(0)},1,1,1,1,0`);
    expect(await load()).toMatchObject([
      { outcome: 'skipped', reason: expect.stringContaining('no mark prices (...-mark) in the same folder') },
      {
        outcome: 'skipped',
        reason: expect.stringContaining('no funding rates (...-funding_rate) in the same folder'),
      },
    ]);
  });

  test.each([
    ['a price in place of a rate', '60000', '1,1,1,1,0', 'line 1: funding rate 60000 is not a ratio'],
    ['a rate that is missing', '', '1,1,1,1,0', 'line 1: funding rate NaN is not a ratio'],
    [
      'wrong mark prices',
      '0.0001',
      '1,1,2,1,0',
      /^mark prices in BTC_USDT_USDT-8h-mark.csv: line 1: high 1 is below/,
    ],
    [
      'mark prices that cannot be read',
      '0.0001',
      'x',
      /^mark prices in BTC_USDT_USDT-8h-mark.csv: line 1 has 2 values/,
    ],
  ])('import rejects funding with %s', async (_, rate, mark, reason) => {
    put('BTC_USDT_USDT-8h-funding_rate.csv', `${at(0)},${rate},0,0,0,0`);
    put('BTC_USDT_USDT-8h-mark.csv', `${at(0)},${mark}`);
    const matcher = typeof reason === 'string' ? reason : expect.stringMatching(reason);
    expect(await load()).toMatchObject([{ outcome: 'failed', reason: matcher }]);
    expect(await events()).toEqual([]);
  });

  test('import rejects funding when rates and mark prices share no time', async () => {
    put('BTC_USDT_USDT-8h-funding_rate.csv', `${at(0)},0.0001,0,0,0,0`);
    put('BTC_USDT_USDT-8h-mark.csv', `${at(1)},1,1,1,1,0`);
    expect(await load()).toMatchObject([
      { outcome: 'failed', reason: expect.stringContaining('no event has a mark price of its hour') },
    ]);
  });
});

describe('folder import', () => {
  test('import includes subfolders and reports progress', async () => {
    put('BTC_USDT_USDT-5m.csv', one);
    put('deeper/still/ETH_USDT_USDT-5m.csv', one);
    put('notes.txt', 'xyz');
    put('.hidden/BTC_USDT_USDT-1h.csv', one);
    const reported: string[] = [];
    const results = await load(fixture.folder, {
      onProgress: ({ files, bytes }) => reported.push(`${files} ${bytes}`),
    });
    expect(results.map((result) => result.outcome)).toEqual(['imported', 'imported', 'skipped']);
    const size = one.length;
    expect(reported).toEqual([`1 ${size}`, `2 ${2 * size}`, `3 ${2 * size + 3}`]);
    await expect(load(join(fixture.folder, 'absent'))).rejects.toThrow('absent does not exist');
  });

  test('import skips links and special files', async () => {
    const outside = put('outside/BTC_USDT_USDT-5m.csv', one);
    const inside = join(fixture.folder, 'inside');
    mkdirSync(inside);
    symlinkSync(outside, join(inside, 'BTC_USDT_USDT-5m.csv'));
    symlinkSync('..', join(inside, 'circle'));
    symlinkSync('nowhere', join(inside, 'ETH_USDT_USDT-5m.csv'));
    execFileSync('mkfifo', [join(inside, 'XRP_USDT_USDT-5m.csv')]);
    expect(await load(inside)).toMatchObject([
      { outcome: 'skipped', reason: 'a link; links are not followed' },
      { outcome: 'skipped', reason: 'a link; links are not followed' },
      { outcome: 'skipped', reason: 'not an ordinary file' },
      { outcome: 'skipped', reason: 'a link; links are not followed' },
    ]);
    symlinkSync('outside', join(fixture.folder, 'named'));
    expect(await load(join(fixture.folder, 'named'))).toMatchObject([{ outcome: 'imported' }]);
    await expect(load(join(inside, 'XRP_USDT_USDT-5m.csv'))).rejects.toThrow('neither a file nor a folder');
  });

  test.skipIf(process.getuid?.() === 0)(
    'import fails unreadable files and folders and continues',
    async () => {
      chmodSync(put('BTC_USDT_USDT-5m.csv', one), 0);
      put('closed/ETH_USDT_USDT-5m.csv', one);
      chmodSync(join(fixture.folder, 'closed'), 0);
      put('XRP_USDT_USDT-5m.csv', one);
      expect((await load()).map((result) => result.outcome).sort()).toEqual(['failed', 'failed', 'imported']);
      chmodSync(join(fixture.folder, 'closed'), 0o700);
    },
  );

  test('import fails a file deleted after the scan and imports the next', async () => {
    put('BTC_USDT_USDT-5m.csv', one);
    put('ETH_USDT_USDT-5m.csv', one);
    const found = await findFiles(fixture.folder);
    execFileSync('rm', [join(fixture.folder, 'BTC_USDT_USDT-5m.csv')]);
    const { store, reader } = fixture;
    expect(await importFiles(found, { store, reader, exchange: 'binanceusdm', clock: Date })).toMatchObject([
      { outcome: 'failed', reason: expect.stringContaining('cannot be read: ENOENT') },
      { outcome: 'imported' },
    ]);
  });

  test('import accepts a freqtrade data folder unchanged', async () => {
    const folder = 'user_data/data/binance';
    for (const base of ['BTC', 'ETH']) put(`${folder}/futures/${base}_USDT_USDT-5m-futures.feather`, '');
    for (const base of ['BTC', 'ETH']) {
      copyFileSync(
        join(FIXTURES, 'lz4.feather'),
        join(fixture.folder, `${folder}/futures/${base}_USDT_USDT-5m-futures.feather`),
      );
    }
    copyFileSync(
      join(FIXTURES, 'zstd.feather'),
      join(fixture.folder, `${folder}/futures/XRP_USDT-5m-futures.feather`),
    );
    put(`${folder}/futures/BTC_USDT_USDT-1h-mark.json`, JSON.stringify([[at(0), 100, 101, 99, 100, null]]));
    put(
      `${folder}/futures/BTC_USDT_USDT-1h-funding_rate.json`,
      JSON.stringify([[at(0, 3), 0.0001, 0, 0, 0, 0]]),
    );
    put(`${folder}/futures/BTC_USDT_USDT-trades.feather`, 'x');
    put(`${folder}/futures/BTC_USDT_USDT-1h-index.feather`, 'x');
    put(`${folder}/ETH_BTC-5m.json`, JSON.stringify([[at(0), 0.07, 0.08, 0.06, 0.07, 5]]));
    put('user_data/config.json', '{}');
    const load = () => fixture.load(fixture.folder, { exchange: 'binanceusdm', spotExchange: 'binance' });
    const results = await load();
    expect(outcomes(results)).toEqual([
      ['user_data/config.json', expect.stringContaining('holds no candles')],
      [`${folder}/ETH_BTC-5m.json`, 'candles'],
      [`${folder}/futures/BTC_USDT_USDT-1h-funding_rate.json`, 'funding'],
      [`${folder}/futures/BTC_USDT_USDT-1h-index.feather`, expect.stringContaining('type index')],
      [`${folder}/futures/BTC_USDT_USDT-5m-futures.feather`, 'candles'],
      [`${folder}/futures/BTC_USDT_USDT-trades.feather`, expect.stringContaining('trades')],
      [`${folder}/futures/ETH_USDT_USDT-5m-futures.feather`, 'candles'],
      [`${folder}/futures/XRP_USDT-5m-futures.feather`, 'candles'],
    ]);
    expect((await stored('5m', 'XRP/USDT:USDT')).timestamp).toHaveLength(200);
    // Spot pairs have an exchange of their own: ccxt has another class for Binance's perpetuals.
    expect(await fixture.series.list('binance')).toMatchObject([
      { symbol: 'ETH/BTC', timeframe: '5m', count: 1 },
    ]);
    expect((await fixture.series.list('binanceusdm')).map(({ symbol }) => symbol)).not.toContain('ETH/BTC');
    const found = await findFiles(fixture.folder);
    expect(chooseExchange(found, undefined, 'okx')).toBe('binanceusdm');
    expect(chooseExchange(found, undefined, 'okx', 'spot')).toBe('binance');
    expect(await load()).toEqual(results);
  });
});

test('spot candles are not imported as those of an exchange of perpetuals, which no run could read', async () => {
  put('BTC_USDT-5m.csv', one);
  put('bars.csv', `symbol,date,open,high,low,close,volume\nETH/BTC,2025-03-01 00:00:00,1,1,1,1,1\n`);
  put('BITSTAMP_BTCUSD, 60.csv', `time,open,high,low,close,Volume\n2025-03-01T00:00:00Z,1,1,1,1,1\n`);
  const results = await fixture.load(fixture.folder, { exchange: 'binanceusdm' });
  const problem = 'spot, and binanceusdm has perpetuals only: import it with --exchange binance';
  const reasons = results.map((each) => 'reason' in each && each.reason);
  expect(reasons).toContain(`is ${problem}`);
  expect(reasons).toContain('of bitstamp, not of binanceusdm: import it with --exchange bitstamp');
  expect(results.map(({ outcome }) => outcome)).not.toContain('imported');
  expect(await fixture.series.list('binanceusdm')).toEqual([]);
});

describe('exchange of an import', () => {
  const hive = (exchange: string) =>
    `candles/exchange=${exchange}/symbol=BTC_USDT_USDT/timeframe=5m/2025-03.parquet`;
  const found = () => findFiles(fixture.folder);
  test("chooseExchange uses the folder's exchange unless one is given", async () => {
    put('BTC_USDT_USDT-5m.csv', one);
    expect(chooseExchange(await found(), undefined, 'binanceusdm')).toBe('binanceusdm');
    put('bybit/futures/BTC_USDT_USDT-5m-futures.csv', one);
    expect(chooseExchange(await found(), undefined, 'binanceusdm')).toBe('bybit');
    expect(chooseExchange(await found(), 'okx', 'binanceusdm')).toBe('okx');
    put('BTC_USDT-5m.csv', one);
    expect(chooseExchange(await found(), undefined, 'binanceusdm', 'spot')).toBe('binance');
    expect(chooseExchange(await found(), undefined, 'bybit', 'spot')).toBe('bybit');
    expect(() => chooseExchange({ exchanges: [], spotExchanges: [] }, '../x', 'y')).toThrow(
      'is not an exchange key',
    );
  });

  test('one import of several exchanges stores each series under its own; a file that names none is skipped', async () => {
    for (const exchange of ['bybit', 'okx']) {
      put(hive(exchange), '');
      copyFileSync(join(FIXTURES, 'snappy.parquet'), join(fixture.folder, hive(exchange)));
    }
    put('plain/BTC_USDT_USDT-5m.csv', one);
    const two = await found();
    expect(chooseExchange(two, undefined, 'binanceusdm')).toBeNull();
    const own = { exchange: null, spotExchange: 'binance', keepNamed: true };
    const results = await load(fixture.folder, own);
    expect(results).toMatchObject([
      { outcome: 'imported', exchange: 'bybit' },
      { outcome: 'imported', exchange: 'okx' },
      {
        outcome: 'skipped',
        reason:
          'names no exchange, and other files name several: bybit, okx. Import it by itself with --exchange',
      },
    ]);
    for (const exchange of ['bybit', 'okx']) {
      expect(await fixture.series.list(exchange)).toHaveLength(1);
    }
    expect(await fixture.series.list('binanceusdm')).toEqual([]);
    expect(
      (await summarizeImport(results, fixture.store, fixture.series)).map(({ exchange }) => exchange),
    ).toEqual(['bybit', 'okx']);
    // Asked for one exchange, it imports that one only.
    const asked = await load(fixture.folder, { exchange: 'okx' });
    expect(asked.map(({ outcome }) => outcome)).toEqual(['skipped', 'imported', 'imported']);
    expect(asked[0]).toMatchObject({ reason: 'of bybit, not of okx: import it with --exchange bybit' });
  });

  test('import rejects the simulated market as target and as source', async () => {
    put('BTC_USDT_USDT-5m.csv', one);
    await expect(load(fixture.folder, { exchange: 'sim' })).rejects.toThrow('sim is the simulated market');
    put(hive('sim'), '');
    expect((await found()).exchanges).toEqual([]);
    expect(await load()).toMatchObject([
      { outcome: 'imported' },
      { outcome: 'skipped', reason: 'candles of sim, the simulated market' },
    ]);
  });
});

test('import summary reports the gaps over all files', async () => {
  const flat = (...rows: number[]) => csvRows(...rows.map((row) => [row, 1, 1, 1, 1, 1]));
  const a = put('a/BTC_USDT_USDT-5m.csv', flat(0, 1, 2, 10, 10));
  const b = put('b/BTC_USDT_USDT-5m.csv', flat(2, 4, 5, 20));
  const c = put('c/BTC_USDT_USDT-5m.csv', flat(3));
  const hour = put('BTC_USDT_USDT-1h.csv', one);
  const funding = put('BTC_USDT_USDT-8h-funding_rate.csv', `${at(0)},0.0001,0,0,0,0`);
  put('BTC_USDT_USDT-8h-mark.csv', `${at(0)},7,7,7,7,0`);
  put('BTC_USDT_USDT-4h.csv', 'x');
  const summary = await summarizeImport(await load(), fixture.store, fixture.series);
  const iso = (row: number) => new Date(T0 + row * MINUTES_5).toISOString();
  const btc = { exchange: 'binanceusdm', symbol: 'BTC/USDT:USDT', first: iso(0) };
  expect(summary).toEqual([
    {
      ...btc,
      series: '5m',
      files: [a, b, c],
      // Row 2 is in two files.
      rows: 9,
      stored: 8,
      duplicates: 1,
      last: iso(20),
      // Rows 6 to 9 and 11 to 19 are missing. Row 3 is in a different file than its neighbors.
      gaps: {
        count: 2,
        missing: 13,
        closed: 0,
        widest: [
          { start: iso(11), missing: 9 },
          { start: iso(6), missing: 4 },
        ],
      },
    },
    {
      ...btc,
      series: '1h',
      files: [hour],
      rows: 1,
      stored: 1,
      duplicates: 0,
      last: iso(0),
      gaps: { count: 0, missing: 0, closed: 0, widest: [] },
    },
    {
      ...btc,
      series: 'funding',
      files: [funding],
      rows: 1,
      stored: 1,
      duplicates: null,
      last: iso(0),
      gaps: null,
    },
  ]);
});

test('import summary counts corrupt stored files as missing', async () => {
  const [april, may] = [31 * 288, 61 * 288];
  const flat = (...rows: number[]) => csvRows(...rows.map((row) => [row, 1, 1, 1, 1, 1]));
  await load(put('BTC_USDT_USDT-5m.csv', flat(april, april + 1)));
  const month = '2025-04.parquet';
  const files = readdirSync(fixture.storage, { recursive: true, encoding: 'utf8' });
  writeFileSync(join(fixture.storage, files.find((path) => path.endsWith(month))!), 'no longer Parquet');
  const results = await load(put('BTC_USDT_USDT-5m.csv', flat(0, 1, may)));
  expect(await summarizeImport(results, fixture.store, fixture.series)).toMatchObject([
    { rows: 3, stored: 3, gaps: { count: 1, missing: may - 2 } },
  ]);
});

test('import summary lists the 10 widest gaps, older first among equal ones', async () => {
  // Gaps of 1, 2, 3 and again 1, 2, 3 candles.
  const rows = [0];
  for (let gap = 0; gap < 12; gap++) rows.push(rows.at(-1)! + 2 + (gap % 3));
  put('BTC_USDT_USDT-5m.csv', csvRows(...rows.map((row) => [row, 1, 1, 1, 1, 1])));
  const [summary] = await summarizeImport(await load(), fixture.store, fixture.series);
  const { count, missing, widest } = summary!.gaps!;
  expect([count, missing]).toEqual([12, 24]);
  expect(widest.map((gap) => gap.missing)).toEqual([3, 3, 3, 3, 2, 2, 2, 2, 1, 1]);
  expect(widest.map((gap) => gap.start).slice(-2)).toEqual([
    new Date(T0 + MINUTES_5).toISOString(),
    new Date(T0 + rows[3]! * MINUTES_5 + MINUTES_5).toISOString(),
  ]);
});

test('import summary counts closed times beside the missing candles', async () => {
  // Four weeks of hours from Saturday on, without weekends and without one hour.
  const open = Array.from({ length: 28 * 24 }, (_, hour) => hour).filter(
    (hour) => hour % 168 >= 48 && hour !== 80,
  );
  put('EUR_USD-1h.csv', csvRows(...open.map((hour) => [hour * 12, 1, 1, 1, 1, 1])));
  const [summary] = await summarizeImport(
    await load(fixture.folder, { exchange: 'fx' }),
    fixture.store,
    fixture.series,
  );
  expect(summary!.gaps).toEqual({
    count: 1,
    missing: 1,
    closed: 3 * 48,
    widest: [{ start: new Date(T0 + 80 * 12 * MINUTES_5).toISOString(), missing: 1 }],
  });
  const info = (await fixture.series.getMany('fx', [{ symbol: 'EUR/USD', timeframe: '1h' }])).get(
    'EUR/USD#1h',
  );
  expect(info!.missing).toEqual({ closed: 3 * 48, no_trades: 0, damage: 1 });
});

test('last file wins for a repeated time, and a second import changes nothing', async () => {
  put('a/BTC_USDT_USDT-5m.csv', csvRows([0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]));
  put('b/BTC_USDT_USDT-5m.csv', csvRows([1, 2, 2, 2, 2, 2], [2, 2, 2, 2, 2, 2]));
  const first = await load();
  const candles = await stored('5m');
  expect(candles.close).toEqual([1, 2, 2]);
  expect(await load()).toEqual(first);
  expect(await stored('5m')).toEqual(candles);
});

const REAL = join(import.meta.dirname, '../../../shared/data');
if (!existsSync(REAL)) console.warn('Skipped: the import of real candles needs ../shared/data.');

test.skipIf(!existsSync(REAL))('import of real candles matches their README', async () => {
  const results = await load(join(REAL, 'candles'), { spotExchange: 'binance' });
  const name = (result: ImportResult) => result.file.split('/').at(-1)!.replace('.csv.gz', '');
  const imported = results.flatMap((result) =>
    result.outcome === 'imported' ? [`${name(result)} ${result.rows} ${result.first}`] : [],
  );
  expect(imported).toHaveLength(29);
  expect(imported).toEqual(
    expect.arrayContaining([
      'BTC_USDT_USDT-5m 10906 2025-03-06T10:30:00.000Z',
      'ETH_USDT_USDT-1m 60191 2025-05-04T15:33:00.000Z',
      'BNB_USDT_USDT-15m 3635 2025-03-06T10:30:00.000Z',
      'SOL_USDT_USDT-1h 719 2025-03-06T11:00:00.000Z',
      'BTC_USDT_USDT-1d 29 2025-03-17T00:00:00.000Z',
      'ADA_USDT_USDT-1m 1440 2022-12-13T00:00:00.000Z',
      'XRP_USDT_USDT-5m 1999 2021-11-15T00:00:00.000Z',
      'ETH_BTC-5m 5760 2018-01-10T04:55:00.000Z',
      'XRP_ETH-1m 2469 2019-10-11T00:00:00.000Z',
      'BTC_USD-1d 1318 2014-12-01T00:00:00.000Z',
    ]),
  );
  const skipped = results.filter((result) => result.outcome === 'skipped').map(name);
  expect(skipped).toEqual([]);
  expect(results.filter((result) => result.outcome === 'failed')).toEqual([]);
  expect(imported.length + skipped.length).toBe(results.length);

  const funding = await load(join(REAL, 'futures-funding'));
  expect(funding.map((result) => result.outcome === 'imported' && `${name(result)} ${result.rows}`)).toEqual([
    'BNB_USDT_USDT-8h-funding_rate 266',
    'BTC_USDT_USDT-8h-funding_rate 266',
    'ETH_USDT_USDT-8h-funding_rate 302',
    'SOL_USDT_USDT-8h-funding_rate 266',
    'XRP_USDT_USDT-8h-funding_rate 91',
  ]);
});
