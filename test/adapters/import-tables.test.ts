import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { BadFileError } from '#adapters/import/file-rows.ts';
import { readCsvCandles } from '#adapters/import/formats/csv-candles.ts';
import { csvHeader } from '#adapters/import/formats/csv-table.ts';
import type { FileSeries, SeriesNames } from '#adapters/import/series-table.ts';
import { isDatabentoCandles, readDatabento } from '#adapters/import/vendors/databento.ts';
import { tardisKind } from '#adapters/import/vendors/tardis.ts';
import { readTardisBars } from '#adapters/import/vendors/tardis-bars.ts';
import { readTardisFunding } from '#adapters/import/vendors/tardis-funding.ts';
import { readTardisTrades } from '#adapters/import/vendors/tardis-trades.ts';
import { isTradeList, isTradingViewChart, tradingViewNames } from '#adapters/import/vendors/trading-view.ts';

const root = mkdtempSync(join(tmpdir(), 'touchstone-tables-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const T0 = Date.UTC(2025, 2, 1);
const NO_NAMES: SeriesNames = { symbol: null, exchange: null, timeframe: null };

function put(name: string, content: string | Uint8Array): string {
  const path = join(root, name);
  writeFileSync(path, content);
  return path;
}

/** Rows of each series, with their positions in the file. */
const plain = (all: readonly FileSeries[]) =>
  all.map(({ rows, ...names }) => ({
    ...names,
    rows: [...rows.columns[0]!].map((_, row) => [
      rows.numbers?.[row] ?? rows.first.number + row,
      ...rows.columns.map((column) => column[row]),
    ]),
  }));

const failure = async (reading: Promise<unknown>) => {
  const error = await reading.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(BadFileError);
  return (error as Error).message;
};

describe('Databento CSV', () => {
  const header = 'ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol';
  const ns = (minutes: number) => `${T0 + minutes * 60_000}000000`;
  const row = (minutes: number, symbol: string, { publisher = 1, instrument = 7, rtype = 33 } = {}) =>
    `${ns(minutes)},${rtype},${publisher},${instrument},5851250000000,5852500000000,5850000000000,5851750000000,${minutes + 1},${symbol}`;
  const read = (...lines: string[]) =>
    readDatabento(put('d.csv', [header, ...lines, ''].join('\n')), NO_NAMES);

  test('symbols of one file become series with fixed-point prices and their line numbers', async () => {
    const path = put(
      'glbx-mdp3-20250301.ohlcv-1m.csv.zst',
      // Two frames, as parallel compressors write them.
      Buffer.concat(
        [`${header}\n${row(0, 'ESH5')}\n`, `${row(0, 'NQH5', { instrument: 8 })}\n${row(1, 'ESH5')}\n`].map(
          (text) => zstdCompressSync(text),
        ),
      ),
    );
    expect(isDatabentoCandles(await csvHeader(path))).toBe(true);
    const prices = [5851.25, 5852.5, 5850, 5851.75];
    expect(plain(await readDatabento(path, NO_NAMES))).toEqual([
      {
        kind: 'candles',
        symbol: 'ESH5',
        exchange: null,
        timeframe: '1m',
        notes: [],
        rows: [
          [2, T0 * 1e6, ...prices, 1],
          [4, (T0 + 60_000) * 1e6, ...prices, 2],
        ],
      },
      {
        kind: 'candles',
        symbol: 'NQH5',
        exchange: null,
        timeframe: '1m',
        notes: [],
        rows: [[3, T0 * 1e6, ...prices, 1]],
      },
    ]);
  });

  test('decimal prices, ISO times and other lengths are read as they are written', async () => {
    const [hour] = plain(
      await read(
        '2025-03-01T00:00:00.000000000Z,34,1,7,5851.250000000,5852.5,5850,5851.75,3,ESH5'.replace(
          '5850,',
          '5850.0,',
        ),
      ),
    );
    expect(hour).toMatchObject({ timeframe: '1h', rows: [[2, T0, 5851.25, 5852.5, 5850, 5851.75, 3]] });
    expect(await read(row(0, 'ES', { rtype: 32 }))).toMatchObject([{ timeframe: '1s' }]);
  });

  test('integer prices above 2^53 are rounded once', async () => {
    const [series] = await read(row(0, 'X').replaceAll(/58\d{11}/g, '9007199254740993000'));
    expect(series!.rows.columns[1]![0]).toBe(9007199254.740993);
  });

  test('contracts of one symbol are noted; publishers of one symbol are rejected', async () => {
    expect(await read(row(0, 'ES.c.0'), row(1, 'ES.c.0', { instrument: 8 }))).toMatchObject([
      { notes: ['2 contracts follow each other: prices are not adjusted where they change'] },
    ]);
    expect(await read(row(0, 'ES.v.0'), row(0, 'ESH5'))).toMatchObject([
      { notes: ['contracts follow each other: prices are not adjusted where they change'] },
      { notes: [] },
    ]);
    expect(await failure(read(row(0, 'AAPL'), row(0, 'AAPL', { publisher: 2 })))).toBe(
      'line 3: AAPL 1m has candles of the publishers 1 and 2: keep the rows of one',
    );
  });

  test.each([
    [
      'a number beyond the range',
      ['5851250000000', '1e400'],
      'line 2: open is "1e400": expected a decimal number',
    ],
    ['a hexadecimal number', ['5851250000000', '0x10'], 'line 2: open is "0x10": expected a decimal number'],
    ['NaN', ['5851250000000', 'NaN'], 'line 2: open is "NaN": expected a decimal number'],
    [
      'prices of two forms',
      ['5850000000000', '5850.5'],
      'line 2: low is "5850.5": expected integers, as in the lines before',
    ],
    ['a trade', [',33,', ',0,'], 'line 2: rtype is "0": expected a candle, 32 to 36'],
    ['a line that ends early', [',1,ESH5', ''], 'line 2 has 8 values: the header has 10'],
  ])('file with %s is rejected with its line', async (_, [from, to], reason) => {
    expect(await failure(read(row(0, 'ESH5').replace(from!, to!)))).toBe(reason);
  });

  test('truncated and corrupt compressed files are rejected', async () => {
    const lines = Array.from({ length: 3_000 }, (_, minute) => row(minute, `S${minute % 7}`)).join('\n');
    const whole = zstdCompressSync(`${header}\n${lines}`);
    const cut = put('cut.csv.zst', whole.subarray(0, whole.length - 20));
    expect(await failure(readDatabento(cut, NO_NAMES))).toBe('is truncated');
    const junk = put('junk.csv.zst', Buffer.concat([zstdCompressSync(`${header}\n`), Buffer.from('junk')]));
    expect(await failure(readDatabento(junk, NO_NAMES))).toBe(
      'is not Zstandard, or its compressed data is corrupt',
    );
    const gz = gzipSync(`${header}\n${lines}`);
    const gzCut = put('cut.csv.gz', gz.subarray(0, gz.length - 20));
    expect(await failure(readDatabento(gzCut, NO_NAMES))).toBe('is truncated');
  });
});

describe('Tardis CSV', () => {
  const trades = 'exchange,symbol,timestamp,local_timestamp,id,side,price,amount';
  const us = (seconds: number) => (T0 + seconds * 1_000) * 1_000;
  const trade = (seconds: number, price: number, { id = `${seconds}`, late = 0.01, amount = 1 } = {}) =>
    `binance-futures,BTCUSDT,${us(seconds)},${us(seconds + late)},${id},buy,${price},${amount}`;
  const file = (name: string, ...lines: string[]) =>
    put(name, gzipSync(`${[trades, ...lines].join('\n')}\n`));
  const read = (...lines: string[]) => readTardisTrades(file('t.csv.gz', ...lines), NO_NAMES);
  const DAY = 86_400;

  test('trades become candles of 1m by the time of the exchange', async () => {
    const path = file(
      'today.csv.gz',
      trade(-0.5, 9, { late: 1 }),
      trade(2, 101),
      // Arrived after a later trade of the same minute.
      trade(1, 100, { late: 2 }),
      trade(3, 99, { id: 'a' }),
      trade(3, 99, { id: 'a' }),
      trade(125, 102, { amount: 0.5 }),
      trade(DAY - 1, 105),
    );
    const next = file(
      'tomorrow.csv.gz',
      trade(DAY - 0.5, 106, { late: 1 }),
      trade(DAY + 1, 90),
      trade(DAY - 2, 1, { late: 100 }),
    );
    expect(plain(await readTardisTrades(path, NO_NAMES, next))).toEqual([
      {
        kind: 'candles',
        symbol: 'BTCUSDT',
        exchange: 'binance-futures',
        timeframe: '1m',
        rows: [
          [1, T0, 100, 101, 99, 99, 3],
          [2, T0 + 120_000, 102, 102, 102, 102, 0.5],
          [3, T0 + (DAY - 60) * 1_000, 105, 106, 105, 106, 2],
        ],
        notes: [
          'candles of 1m from trades; minutes without trades are gaps',
          'trades of the day before: 1, left out; the file of that day takes them from here',
          'trades that arrived after midnight: 1, from the next file',
          'repeated rows: 1, left out',
        ],
      },
    ]);
    const [tomorrow] = await readTardisTrades(next, NO_NAMES);
    expect(tomorrow!.notes).toContain('trades more than a minute late, of the day before: 1, left out');
    expect(tomorrow!.notes.at(-1)).toMatch(/^the last minute may lack trades/);
  });

  test.each([
    ['milliseconds', trade(1, 1).replaceAll('000,', ','), 'expected microseconds since 1970'],
    ['a price of 0', trade(1, 0), 'line 2: price is "0": expected a number above 0'],
    ['no price', trade(1, 1).replace(',buy,1,', ',buy,,'), 'line 2: price is "": expected a number above 0'],
    ['a negative amount', trade(1, 1, { amount: -1 }), 'amount is "-1": expected a number of at least 0'],
  ])('trades with %s are rejected', async (_, line, reason) => {
    expect(await failure(read(line))).toContain(reason);
  });

  test('trades of two symbols in one file are rejected', async () => {
    expect(await failure(read(trade(1, 1), trade(2, 1).replace('BTC', 'ETH')))).toBe(
      'line 3 is of binance-futures ETHUSDT, not of binance-futures BTCUSDT: split the file by symbol',
    );
  });

  test('trade bars open at the end of their interval minus its length', async () => {
    const header =
      'type,symbol,exchange,name,interval,open,high,low,close,volume,buyVolume,sellVolume,trades,vwap,openTimestamp,closeTimestamp,localTimestamp,timestamp,kind';
    const bar = (end: string, interval = 60_000, kind = 'time') =>
      `trade_bar,XBTUSD,bitmex,trade_bar_1m,${interval},1,3,0.5,2,10,5,5,4,1.5,2025-03-01T00:00:01.000Z,2025-03-01T00:00:50.000Z,2025-03-01T00:01:02.000Z,${end},${kind}`;
    const path = put(
      'bars.csv',
      [
        header,
        bar('2025-03-01T00:01:00.000Z'),
        bar(`${us(120)}`),
        bar('2025-03-01T00:03:07.123Z', 50_000, 'volume'),
      ].join('\n'),
    );
    expect(tardisKind(await csvHeader(path))).toBe('bars');
    expect(plain(await readTardisBars(path))).toMatchObject([
      {
        symbol: 'XBTUSD',
        exchange: 'bitmex',
        timeframe: '1m',
        rows: [
          [2, T0, 1, 3, 0.5, 2, 10],
          [3, T0 + 60_000, 1, 3, 0.5, 2, 10],
        ],
      },
      { timeframe: '50000 volume' },
    ]);
  });

  const ticker =
    'exchange,symbol,timestamp,local_timestamp,funding_timestamp,funding_rate,predicted_funding_rate,open_interest,last_price,index_price,mark_price';
  const tick = (seconds: number, due: number | '', rate: number | '', mark: number | '') =>
    `binance-futures,BTCUSDT,${us(seconds)},${us(seconds)},${due === '' ? '' : us(due)},${rate},,100,,,${mark}`;

  test('funding events take the last rate and mark price before them', async () => {
    const path = put(
      'f.csv',
      [
        ticker,
        tick(0, 28_800, 0.0001, 100),
        tick(28_790, 28_800, 0.0002, 101),
        tick(28_799, '', '', 102),
        tick(28_799.5, 28_800, 0.0003, ''),
        // Published after the event: the mark price is no longer that of the event.
        tick(28_800.5, 28_800, 0.0009, 104),
        tick(28_801, 57_600, 0.0004, 103),
      ].join('\n'),
    );
    expect(tardisKind(await csvHeader(path))).toBe('funding');
    expect(plain(await readTardisFunding(path))).toEqual([
      {
        kind: 'funding',
        symbol: 'BTCUSDT',
        exchange: 'binance-futures',
        timeframe: null,
        rows: [[5, T0 + 28_800_000, 0.0003, 102]],
        notes: [
          'rates are the last ones published before each event',
          'events without a rate in the minute before them: 1, left out',
        ],
      },
    ]);
  });

  test('rates without funding times are rejected', async () => {
    const path = put('f.csv', [ticker, tick(0, '', 0.0001, 100)].join('\n'));
    expect(await failure(readTardisFunding(path))).toBe(
      'has no funding_timestamp: the events cannot be told from estimates',
    );
  });

  test('datasets are told by their columns', () => {
    const common = 'exchange,symbol,timestamp,local_timestamp';
    const kinds = [trades, ticker, `${common},is_snapshot,side,price,amount`, 'time,open,high,low,close'].map(
      (header) => tardisKind(header.split(',')),
    );
    expect(kinds).toEqual(['trades', 'funding', 'other', undefined]);
  });
});

describe('TradingView CSV', () => {
  test.each([
    ['BINANCE_BTCUSDT.P, 60.csv', ['BINANCE', 'BTCUSDT.P', '1h']],
    ['BINANCE_BTCUSDT, 1D.csv', ['BINANCE', 'BTCUSDT', '1d']],
    ['BYBIT_ETHUSDT.P, 15 (2).csv', ['BYBIT', 'ETHUSDT.P', '15m']],
    ['COINBASE_BTCUSD, 240_0b96a.csv', ['COINBASE', 'BTCUSD', '4h']],
    ['BINANCE_BTCUSDT, 1W.csv', ['BINANCE', 'BTCUSDT', '1w']],
    ['BINANCE_BTCUSDT, 1M.csv', ['BINANCE', 'BTCUSDT', '1M']],
    ['BINANCE_BTCUSDT, 45.csv', ['BINANCE', 'BTCUSDT', '45m']],
    ['chart.csv', [null, null, null]],
  ])('%s names exchange, symbol and timeframe', (name, [exchange, symbol, timeframe]) => {
    expect(tradingViewNames(name)).toEqual({ exchange, symbol, timeframe });
  });

  test('chart is read without its indicators', async () => {
    const path = put(
      'chart.csv',
      [
        '\ufefftime,open,high,low,close,"MA (5, close)",Volume,Volume MA',
        `${T0 / 1_000},1,3,0.5,2,NaN,10,0x`,
        '2025-03-01T01:00:00Z,2,2,2,2,,,',
        '2025-03-01T03:00:00+01:00,NaN,NaN,NaN,NaN,4,,',
      ].join('\r\n'),
    );
    expect(isTradingViewChart(await csvHeader(path))).toBe(true);
    const names = { exchange: 'BINANCE', symbol: 'BTCUSDT', timeframe: '1h' };
    expect(plain(await readCsvCandles(path, names, {}))).toEqual([
      {
        kind: 'candles',
        ...names,
        rows: [
          [2, T0 / 1_000, 1, 3, 0.5, 2, 10],
          [3, T0 + 3_600_000, 2, 2, 2, 2, Number.NaN],
          [4, T0 + 7_200_000, Number.NaN, Number.NaN, Number.NaN, Number.NaN, Number.NaN],
        ],
        notes: [],
      },
    ]);
  });

  test('list of trades is told from a chart', () => {
    const list = 'Trade #,Type,Signal,Date/Time,Price USDT,Contracts,Profit %'.split(',');
    expect([isTradeList(list), isTradingViewChart(list)]).toEqual([true, false]);
    expect(isTradeList('time,open,high,low,close'.split(','))).toBe(false);
  });
});
