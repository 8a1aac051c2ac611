import { describe, expect, test } from 'vitest';
import { hintsOf } from '#adapters/import/hints.ts';
import { importCommand } from '../import-command-fixture.ts';
import { FOREVER, importFixture, T0 } from '../import-fixture.ts';

const fixture = importFixture();
const { load } = importCommand(fixture);
const HOUR = 3_600_000;
const BTC = { symbols: 'BTC/USD', exchange: 'kraken' };

/** Imports a file and returns its stored candles of 1h as rows. */
async function rowsOf(name: string, text: string, options: Parameters<typeof hintsOf>[0] = BTC) {
  fixture.put(name, text);
  const { results } = await load(hintsOf(options));
  const rows: number[][] = [];
  for (const result of results) {
    if (result.outcome !== 'imported' || result.kind !== 'candles') continue;
    const { exchange, symbol, timeframe } = result;
    const { timestamp, ...values } = await fixture.store.read({ exchange, symbol, timeframe }, 0, FOREVER);
    for (const [row, time] of timestamp.entries()) {
      rows.push([(time - T0) / HOUR, ...Object.values(values).map((column) => column[row]!)]);
    }
  }
  return { rows, results };
}

/** Two candles: hours since 2025-03-01, open, high, low, close, volume. */
const TWO = [
  [0, 100, 103, 99, 101, 10],
  [1, 101, 104, 100, 102, 20],
];
const [FIRST, SECOND] = [T0 / 1_000, T0 / 1_000 + 3_600];

describe('layouts of tables', () => {
  test.each<[string, string]>([
    [
      'quoted values between bars',
      '"Date"|"Open"|"High"|"Low"|"Close"|"Volume"\n"2025-03-01 00:00"|"100"|"103"|"99"|"101"|"10"\n"2025-03-01 01:00"|"101"|"104"|"100"|"102"|"20"',
    ],
    [
      'decimal commas, and a column of the time of day',
      'Datum;Zeit;Eröffnung;Hoch;Tief;Schluss;Volumen\n01.03.2025;00:00;100,0;103,0;99,0;101,0;10\n01.03.2025;01:00;101,0;104,0;100,0;102,0;20',
    ],
    [
      'an index that R writes without a name',
      'Open,High,Low,Close,Volume\n2025-03-01 00:00:00,100,103,99,101,10\n2025-03-01 01:00:00,101,104,100,102,20',
    ],
    ['numbers for names', `,0,1,2,3,4,5\n0,${FIRST},100,103,99,101,10\n1,${SECOND},101,104,100,102,20`],
    [
      'a header in a comment',
      `#timestamp,open,high,low,close,volume\n${FIRST},100,103,99,101,10\n${SECOND},101,104,100,102,20`,
    ],
    [
      'AM and PM after the hour',
      'Date,Symbol,Open,High,Low,Close,Volume BTC,Volume USD\n2025-03-01 12-AM,BTCUSD,100,103,99,101,10,1010\n2025-03-01 01-AM,BTCUSD,101,104,100,102,20,2040',
    ],
    [
      'zones in the times',
      'Local time,Open,High,Low,Close,Volume\n01.03.2025 01:00:00.000 GMT+0100,100,103,99,101,10\n01.03.2025 02:00:00.000 GMT+0100,101,104,100,102,20',
    ],
    [
      'currency signs',
      'Date,Close/Last,Volume,Open,High,Low\n2025-03-01 00:00,$101,10,$100,$103,$99\n2025-03-01 01:00,$102,20,$101,$104,$100',
    ],
    [
      'names with a symbol before them',
      'Date,X.Open,X.High,X.Low,X.Close,X.Volume,up\n2025-03-01 00:00,100,103,99,101,10,9\n2025-03-01 01:00,101,104,100,102,20,9',
    ],
    [
      'bids and asks',
      'time,mid.h,bid.o,bid.h,bid.l,bid.c,ask.o,ask.h,ask.l,ask.c,volume\n2025-03-01 00:00,9,100,103,99,101,1,1,1,1,10\n2025-03-01 01:00,9,101,104,100,102,1,1,1,1,20',
    ],
    [
      'times of mail, and names with a date',
      'Start Date,Open Price,High Price,Low Price,Close Price,Volume,End Date\n"Sat, 01 Mar 2025 00:00:00 GMT",100,103,99,101,10,"Sat, 01 Mar 2025 00:59:59 GMT"\n"Sat, 01 Mar 2025 01:00:00 GMT",101,104,100,102,20,"Sat, 01 Mar 2025 01:59:59 GMT"',
    ],
    [
      'a line that states its delimiter',
      'sep=;\nTime;Open;High;Low;Close;Volume\n2025/03/01 00:00;100;103;99;101;10\n2025/03/01 01:00;101;104;100;102;20',
    ],
    [
      'volumes in contracts, the base asset and the quote currency',
      `timestamp,symbol,open,high,low,close,volume,homeNotional,foreignNotional\n${FIRST},XBTUSD,100,103,99,101,1010,10,1010\n${SECOND},XBTUSD,101,104,100,102,2040,20,2040`,
    ],
  ])('CSV with %s is imported', async (_, text) => {
    expect((await rowsOf('prices.csv', text)).rows).toEqual(TWO);
  });

  test.each<[string, unknown]>([
    [
      'the response of Bybit',
      {
        result: {
          list: [
            [`${SECOND}000`, '101', '104', '100', '102', '20', '2040'],
            [`${FIRST}000`, '100', '103', '99', '101', '10', '1010'],
          ],
        },
      },
    ],
    [
      'the response of OKX for a swap',
      {
        data: [
          [`${FIRST}000`, '100', '103', '99', '101', '1000', '10', '1010', '1'],
          [`${SECOND}000`, '101', '104', '100', '102', '2000', '20', '2040', '1'],
        ],
      },
    ],
    [
      'the response of Kraken',
      {
        result: {
          XXBTZUSD: [
            [FIRST, '100', '103', '99', '101', '100.5', '10', 3],
            [SECOND, '101', '104', '100', '102', '101.5', '20', 3],
          ],
          last: 1,
        },
      },
    ],
    [
      'columns',
      { s: 'ok', t: [FIRST, SECOND], o: [100, 101], h: [103, 104], l: [99, 100], c: [101, 102], v: [10, 20] },
    ],
    [
      'a data frame',
      {
        open: { [FIRST]: 100, [SECOND]: 101 },
        high: { [FIRST]: 103, [SECOND]: 104 },
        low: { [FIRST]: 99, [SECOND]: 100 },
        close: { [FIRST]: 101, [SECOND]: 102 },
        volume: { [FIRST]: 10, [SECOND]: 20 },
      },
    ],
    [
      'a split data frame',
      {
        columns: ['open', 'high', 'low', 'close', 'volume'],
        index: [FIRST, SECOND],
        data: TWO.map((row) => row.slice(1)),
      },
    ],
  ])('JSON with %s is imported', async (_, value) => {
    expect((await rowsOf('prices.json', JSON.stringify(value))).rows).toEqual(TWO);
  });

  test('a record in each line is imported', async () => {
    const record = (time: number, [, open, high, low, close, volume]: readonly number[]) =>
      JSON.stringify({ time, open, high, low, close, volume });
    const text = [record(FIRST, TWO[0]!), record(SECOND, TWO[1]!)].join('\n');
    expect((await rowsOf('prices.json', text)).rows).toEqual(TWO);
  });
});

describe('what the user states', () => {
  const text = `when,first,top,bottom,last,traded\n2025-02-28 19:00,100,103,99,101,10\n2025-02-28 20:00,101,104,100,102,20`;
  const columns = 'time=when,open=first,high=top,low=bottom,close=last,volume=traded';

  test('--columns and --time-zone name columns and zone of a file that says neither', async () => {
    expect((await rowsOf('a.csv', text, { ...BTC, columns, timeZone: 'America/New_York' })).rows).toEqual(
      TWO,
    );
    expect((await rowsOf('a.csv', text, { ...BTC, columns, timeZone: 'UTC-5' })).rows).toEqual(TWO);
  });

  test('--columns takes numbers of columns, and its message names a column that is absent', async () => {
    const numbers = 'time=1,open=2,high=3,low=4,close=5,volume=6';
    expect((await rowsOf('a.csv', text, { ...BTC, columns: numbers, timeZone: 'UTC-5' })).rows).toEqual(TWO);
    const { results } = await rowsOf('a.csv', text, { ...BTC, columns: 'time=ever' });
    expect(results).toMatchObject([
      { reason: expect.stringContaining('has no column ever (--columns time=ever)') },
    ]);
    expect(() => hintsOf({ columns: 'when=time' })).toThrow('roles are time, clock, open');
    expect(() => hintsOf({ timeZone: 'Mars/Olympus' })).toThrow('"Mars/Olympus" is not a time zone');
  });

  test('letters are a perpetual of binanceusdm, and spot with --spot', async () => {
    const kline = (time: number, [, open, high, low, close, volume]: readonly number[]) =>
      [time * 1_000, open, high, low, close, volume, 0, volume! * close!, 1, 1, 1, 0].join(',');
    const klines = [kline(FIRST, TWO[0]!), kline(SECOND, TWO[1]!)].join('\n');
    const perpetual = await rowsOf('BTCUSDT-1h.csv', klines, { exchange: 'binanceusdm' });
    expect(perpetual.results).toMatchObject([{ exchange: 'binanceusdm', symbol: 'BTC/USDT:USDT', rows: 2 }]);
    const spot = await rowsOf('BTCUSDT-1h.csv', klines, { spot: true });
    expect(spot.results).toMatchObject([{ exchange: 'binance', symbol: 'BTC/USDT', rows: 2 }]);
    expect(hintsOf({ symbols: 'BTCUSDT', exchange: 'binanceusdm' }).symbols).toEqual(['BTC/USDT:USDT']);
    expect(() => hintsOf({ symbols: 'BTCUSDT' })).toThrow('need --spot or --exchange binanceusdm');
  });
});

test('dates that may begin with the day or the month are noted', async () => {
  const text = 'time,open,high,low,close,volume\n01/03/2025 00:00,1,1,1,1,1\n01/03/2025 01:00,1,1,1,1,1';
  const { results } = await rowsOf('prices.csv', text);
  expect(results).toMatchObject([
    {
      first: '2025-03-01T00:00:00.000Z',
      notes: ['dates such as 01/03/2025 00:00 are read as day, month, year'],
    },
  ]);
});

describe('clocks that change', () => {
  const candle = (time: string) => `${time},1,1,1,1,1`;
  const hours = async (...times: string[]) => {
    const text = ['time,open,high,low,close,volume', ...times.map(candle)].join('\n');
    const { rows } = await rowsOf('prices.csv', text, { ...BTC, timeZone: 'Europe/Berlin', timeframe: '1h' });
    return rows.map(([hour]) => new Date(T0 + hour! * HOUR).toISOString().slice(0, 16));
  };

  test('an hour that the clocks repeat is two hours, in the order of the file', async () => {
    const expected = ['2024-10-26T23:00', '2024-10-27T00:00', '2024-10-27T01:00', '2024-10-27T02:00'];
    const local = ['2024-10-27 01:00', '2024-10-27 02:00', '2024-10-27 02:00', '2024-10-27 03:00'];
    expect(await hours(...local)).toEqual(expected);
    expect(await hours(...local.toReversed())).toEqual(expected);
  });

  test('an hour that the clocks skip leaves no gap', async () => {
    expect(await hours('2025-03-30 01:00', '2025-03-30 03:00')).toEqual([
      '2025-03-30T00:00',
      '2025-03-30T01:00',
    ]);
  });
});

describe('names and series', () => {
  const two = `time,open,high,low,close,volume\n${FIRST},100,103,99,101,10\n${SECOND},101,104,100,102,20`;

  test.each([
    ['BTC-USD.csv', 'imported', 'BTC/USD'],
    ['EURUSD.csv', 'imported', 'EUR/USD'],
    ['gbpjpy-m1-2024.csv', 'imported', 'GBP/JPY'],
    ['usdchf.csv', 'imported', 'USD/CHF'],
    ['ETHUSD_Daily.csv', 'imported', 'ETH/USD'],
    ['FOREX_EURUSD_1H_ASK.csv', 'imported', 'EUR/USD'],
    ['some-1h-btc-usd.csv', 'imported', 'BTC/USD'],
  ])('%s is stored as %s %s', async (name, exchange, symbol) => {
    fixture.put(name, two);
    const { results } = await load();
    expect(results).toMatchObject([{ exchange, symbol }]);
    expect(JSON.stringify(results)).toContain('nothing names an exchange');
    expect((await load({ exchange: 'fx' })).results).toMatchObject([{ exchange: 'fx', symbol }]);
  });

  test.each(['prices.csv', 'GOOG.csv', 'country.csv', 'robust.csv', 'candles_2024.csv'])(
    '%s names no pair',
    async (name) => {
      fixture.put(name, two);
      const { results } = await load();
      expect(results[0]).toMatchObject({
        reason: expect.stringContaining('--symbols AAPL/USD --exchange nasdaq'),
      });
    },
  );

  test('a name of spot or of a perpetual is refused with both', async () => {
    fixture.put('BTCUSDT.csv', two);
    const reason = expect.stringContaining('--symbols BTC/USDT if it is spot, --symbols BTC/USDT:USDT');
    expect((await load()).results).toMatchObject([{ reason }]);
    expect((await load({ exchange: 'binanceusdm' })).results).toMatchObject([{ symbol: 'BTC/USDT:USDT' }]);
  });

  test('a pair that Binance has is stored as its own where nothing names an exchange', async () => {
    fixture.put('prices.csv', two);
    expect((await load(hintsOf({ symbols: 'BTC/USDT' }))).results).toMatchObject([{ exchange: 'binance' }]);
    expect((await load(hintsOf({ symbols: 'AAPL/USD' }))).results).toMatchObject([{ exchange: 'imported' }]);
  });

  /** Twelve hours of two shares. */
  const shares = (column: string) =>
    [
      `date,open,high,low,close,volume,${column}`,
      ...['A', 'B'].flatMap((name, share) =>
        Array.from({ length: 12 }, (_, row) => {
          const price = 100 + row + 50 * share;
          return `${FIRST + row * 3_600},${price},${price + 2},${price - 2},${price + 1},1,${name}`;
        }),
      ),
    ].join('\n');

  test.each(['Name', 'stock', 'ts_code'])('shares in a column %s are series of their own', async (column) => {
    fixture.put('shares.csv', shares(column));
    const { results } = await load(hintsOf({ symbols: 'A=A/USD,B=B/USD', exchange: 'nyse' }));
    expect(results).toMatchObject([
      { symbol: 'A/USD', rows: 12, duplicates: 0 },
      { symbol: 'B/USD', rows: 12, duplicates: 0 },
    ]);
  });

  test('a symbol in rows that is in dollars is spot where nothing names an exchange', async () => {
    const rows = `date,symbol,open,high,low,close\n${FIRST},BTCUSD,100,103,99,101\n${SECOND},BTCUSD,101,104,100,102`;
    fixture.put('prices.csv', rows);
    expect((await load()).results).toMatchObject([{ symbol: 'BTC/USD', exchange: 'imported' }]);
    // There it may be an inverse perpetual.
    expect((await load({ exchange: 'bitmex' })).results).toMatchObject([{ outcome: 'skipped' }]);
  });

  test.each([
    ['A:open,A:high,A:low,A:close,A:volume,B:open,B:high,B:low,B:close,B:volume'],
    ['Open_A,High_A,Low_A,Close_A,Volume_A,Open_B,High_B,Low_B,Close_B,Volume_B'],
  ])('columns of several symbols are series of their own: %s', async (header) => {
    const text = `time,${header}\n${FIRST},100,103,99,101,10,,,,,\n${SECOND},101,104,100,102,20,1,2,1,2,5`;
    fixture.put('prices.csv', text);
    const options = hintsOf({ symbols: 'A=A/USD,B=B/USD', exchange: 'nyse', timeframe: '1h' });
    expect((await load(options)).results).toMatchObject([
      { symbol: 'A/USD', rows: 2 },
      { symbol: 'B/USD', rows: 1 },
    ]);
  });

  test('series that no known column tells apart are refused, and not made one', async () => {
    fixture.put('shares.csv', shares('what'));
    const { results } = await load(hintsOf({ symbols: 'A/USD', exchange: 'nyse' }));
    expect(results).toMatchObject([
      {
        outcome: 'failed',
        reason: expect.stringMatching(/^12 of 24 rows have the time of another row.*--columns symbol=NAME$/),
      },
    ]);
    // The same rows twice are no other series.
    const [header, ...rows] = shares('what').split('\n').slice(0, 13);
    fixture.put('shares.csv', [header, ...rows, ...rows].join('\n'));
    expect((await load(hintsOf({ symbols: 'A/USD', exchange: 'nyse' }))).results).toMatchObject([
      { rows: 12, duplicates: 12 },
    ]);
  });

  test('vol of OKX without vol_ccy counts contracts, and the import says so', async () => {
    const okx = `instrument_name,open,high,low,close,vol,open_time,confirm\nBTC-USDT-SWAP,100,103,99,101,10,${FIRST}000,1\nBTC-USDT-SWAP,101,104,100,102,20,${SECOND}000,1`;
    fixture.put('okx.csv', okx);
    expect(JSON.stringify((await load(hintsOf({ exchange: 'okx' }))).results)).toContain(
      'volume is vol: of derivatives of OKX it counts contracts, not units of the base asset',
    );
    fixture.put('okx.csv', okx.replaceAll('-SWAP', ''));
    const spot = (await load(hintsOf({ exchange: 'okx', spot: true }))).results;
    expect(spot).toMatchObject([{ symbol: 'BTC/USDT' }]);
    expect(JSON.stringify(spot)).not.toContain('contracts');
  });

  test('candles of months are refused with what to import instead', async () => {
    const months = Array.from({ length: 24 }, (_, month) => new Date(Date.UTC(2022, month)).toISOString());
    fixture.put(
      'months.csv',
      ['time,open,high,low,close', ...months.map((time) => `${time},100,103,99,101`)].join('\n'),
    );
    expect((await load(hintsOf({ symbols: 'A/USD', exchange: 'nyse' }))).results).toMatchObject([
      {
        outcome: 'failed',
        reason: 'candles are 31 days apart: the longest timeframe is 1w. Import daily candles instead',
      },
    ]);
  });

  test('a table without times says which columns it has', async () => {
    fixture.put('prices.csv', 'close,high,low,open\n1,2,1,1\n1,2,1,1');
    expect((await load()).results).toMatchObject([
      {
        reason:
          'has no column for time: the columns are close, high, low, open. Name the missing ones: --columns time=NAME',
      },
    ]);
  });
});
