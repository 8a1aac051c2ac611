import { utimesSync, writeFileSync } from 'node:fs';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { importCommand } from './import-command-fixture.ts';
import { FOREVER, importFixture, T0 } from './import-fixture.ts';

const fixture = importFixture();
const { load, storedIn } = importCommand(fixture);
const MINUTE = 60_000;

describe('Databento', () => {
  const header = 'ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol';
  const row = (minute: number, symbol: string, high = '6000000000') =>
    `${T0 + minute * MINUTE}000000,33,1,7,5000000000,${high},4000000000,5500000000,${minute + 10},${symbol}`;

  test('symbols that the user names are imported, the others are skipped with the reason', async () => {
    const name = 'glbx-mdp3-20250301-20250302.ohlcv-1m.csv.zst';
    fixture.put(name, zstdCompressSync([header, row(0, 'ESH5'), row(0, 'NQH5'), row(1, 'ESH5')].join('\n')));
    fixture.put('metadata.json', '{}');
    fixture.put('symbology.csv', 'raw_symbol,instrument_id,date');
    fixture.put('glbx-mdp3-20250301.mbo.dbn.zst', 'x');
    fixture.put('glbx-mdp3-20250301.trades.csv', 'ts_recv,ts_event,rtype,publisher_id,instrument_id,price\n');
    const { results, recognizers } = await load({ symbols: ['ESH5=ES/USD:USD'] });
    expect(recognizers.map(([, recognizer]) => recognizer)).toEqual(Array(5).fill('Databento'));
    expect(results).toEqual([
      expect.objectContaining({
        outcome: 'imported',
        file: name,
        symbol: 'ES/USD:USD',
        timeframe: '1m',
        rows: 2,
        missing: 0,
        notes: ['times are in nanoseconds'],
      }),
      {
        outcome: 'skipped',
        file: name,
        reason:
          'the file does not say whether NQH5 is spot or futures. Name the symbol: --symbols NQH5=BASE/QUOTE or NQH5=BASE/QUOTE:SETTLE',
      },
      expect.objectContaining({
        outcome: 'skipped',
        reason: expect.stringContaining('DBN, the binary format'),
      }),
      expect.objectContaining({ outcome: 'skipped', reason: expect.stringContaining('request ohlcv-1m') }),
      {
        outcome: 'skipped',
        file: 'metadata.json',
        reason: 'describes a download of Databento; not needed',
      },
      expect.objectContaining({ file: 'symbology.csv', reason: expect.stringMatching(/^describes a/) }),
    ]);
    expect(await storedIn('glbxmdp3', 'ES/USD:USD')).toEqual({
      timestamp: [T0, T0 + MINUTE],
      open: [5, 5],
      high: [6, 6],
      low: [4, 4],
      close: [5.5, 5.5],
      volume: [10, 11],
    });
  });

  test('a download without named symbols does not keep other files from their exchange', async () => {
    const name = 'glbx-mdp3-20250301.ohlcv-1m.csv';
    fixture.put(name, [header, row(0, 'ESH5'), row(0, 'GBTC')].join('\n'));
    fixture.put('BYBIT_BTCUSDT.P, 60.csv', `time,open,high,low,close\n${T0 / 1_000},1,1,1,1`);
    expect((await load()).results).toMatchObject([
      { outcome: 'imported', symbol: 'BTC/USDT:USDT' },
      { outcome: 'skipped', file: name, reason: expect.stringContaining('--symbols ESH5=') },
      { outcome: 'skipped', file: name, reason: expect.stringContaining('--symbols GBTC=') },
    ]);
    expect((await storedIn('bybit', 'BTC/USDT:USDT', '1h')).timestamp).toEqual([T0]);
    expect((await load({ symbols: ['ESH5=ES/USD:USD'] })).results).toMatchObject([
      { outcome: 'imported', exchange: 'bybit', symbol: 'BTC/USDT:USDT' },
      { outcome: 'imported', exchange: 'glbxmdp3', symbol: 'ES/USD:USD' },
      { outcome: 'skipped', reason: expect.stringContaining('--symbols GBTC=') },
    ]);
    expect((await load({ symbols: ['ESH5=ES/USD'] })).results).toMatchObject([
      { outcome: 'imported', symbol: 'BTC/USDT:USDT' },
      { outcome: 'imported', symbol: 'ES/USD' },
      { outcome: 'skipped', reason: expect.stringContaining('--symbols GBTC=') },
    ]);
    expect((await storedIn('glbxmdp3', 'ES/USD')).timestamp).toEqual([T0]);
  });

  test('one invalid row of one symbol rejects the whole file', async () => {
    fixture.put('a.csv', [header, row(0, 'A'), row(0, 'B', '4100000000')].join('\n'));
    const { results } = await load({ symbols: ['A=A/USD', 'B=B/USD'] });
    expect(results).toEqual([
      {
        outcome: 'failed',
        file: 'a.csv',
        reason: expect.stringMatching(/^B: line 3: high 4.1 is below open, low or close/),
      },
    ]);
    expect((await storedIn('databento', 'A/USD')).timestamp).toEqual([]);
  });

  test('two series of one symbol are rejected', async () => {
    fixture.put('a.csv', [header, row(0, 'A'), row(0, 'B')].join('\n'));
    expect((await load({ symbols: ['A=A/USD', 'B=A/USD'] })).results).toMatchObject([
      { outcome: 'failed', reason: 'A and B are both A/USD 1m: import one' },
    ]);
  });

  test('times of one file in two units are converted and noted', async () => {
    fixture.put('a.csv', [header, row(0, 'A'), row(1, 'A').replace('000000,33', '000,33')].join('\n'));
    expect((await load({ symbols: ['A=A/USD'] })).results).toMatchObject([
      {
        outcome: 'imported',
        rows: 2,
        notes: ['times are in nanoseconds, from 2025-03-01T00:01:00.000Z in microseconds'],
      },
    ]);
  });
});

describe('Tardis', () => {
  const header = 'exchange,symbol,timestamp,local_timestamp,id,side,price,amount';
  const trade = (ms: number, price: number, late = 5) =>
    `binance-futures,BTCUSDT,${(T0 + ms) * 1_000},${(T0 + ms + late) * 1_000},${ms},sell,${price},2`;
  const DAY = 86_400_000;
  const nameOf = (type: string, day: string) => `binance-futures_${type}_${day}_BTCUSDT.csv.gz`;

  test('trades of two days and funding become series; other datasets are skipped', async () => {
    fixture.put(nameOf('trades', '2025-03-01'), [header, trade(1, 10), trade(DAY - 1, 12)].join('\n'));
    fixture.put(nameOf('trades', '2025-03-02'), [header, trade(DAY - 1, 13, 50), trade(DAY, 14)].join('\n'));
    fixture.put(
      nameOf('derivative_ticker', '2025-03-01'),
      [
        'exchange,symbol,timestamp,local_timestamp,funding_timestamp,funding_rate,predicted_funding_rate,open_interest,last_price,index_price,mark_price',
        `binance-futures,BTCUSDT,${(T0 + DAY - 5) * 1_000},${T0 * 1_000},${(T0 + DAY) * 1_000},0.0001,,1,10,10,10.5`,
      ].join('\n'),
    );
    fixture.put(nameOf('quotes', '2025-03-01'), 'exchange,symbol,timestamp,local_timestamp,ask_amount\n');
    fixture.put(nameOf('trades', '2025-03-03'), '');
    fixture.put('okex-swap_trades_2025-03-01_BTC-USDT-SWAP.csv', `${header}\nokex-swap,`);
    const { results, recognizers } = await load();
    expect(new Set(recognizers.map(([, recognizer]) => recognizer))).toEqual(new Set(['Tardis']));
    expect(results).toMatchObject([
      { kind: 'funding', symbol: 'BTC/USDT:USDT', rows: 1 },
      {
        outcome: 'skipped',
        reason: 'quotes of Tardis; trades, derivative_ticker and trade bars are imported',
      },
      { kind: 'candles', symbol: 'BTC/USDT:USDT', timeframe: '1m', rows: 2, missing: 1438 },
      { kind: 'candles', rows: 1 },
      { outcome: 'skipped', reason: 'empty: Tardis has no data of that day' },
      {
        outcome: 'skipped',
        reason:
          'trades of okex-swap, whose amounts are not in base assets; its derivative_ticker is imported',
      },
    ]);
    expect(await storedIn('binanceusdm', 'BTC/USDT:USDT')).toEqual({
      timestamp: [T0, T0 + DAY - MINUTE, T0 + DAY],
      open: [10, 12, 14],
      high: [10, 13, 14],
      low: [10, 12, 14],
      close: [10, 13, 14],
      volume: [2, 4, 2],
    });
    const funding = await fixture.store.readFunding('binanceusdm', 'BTC/USDT:USDT', 0, FOREVER);
    expect([...funding.timestamp, ...funding.rate, ...funding.markPrice]).toEqual([T0 + DAY, 0.0001, 10.5]);
  });

  test('a truncated download fails by its name', async () => {
    const whole = gzipSync([header, ...Array.from({ length: 99 }, (_, ms) => trade(ms, ms + 1))].join('\n'));
    fixture.put(nameOf('trades', '2025-03-01').replace('.gz', ''), 'x');
    const name = nameOf('trades', '2025-03-02');
    writeFileSync(`${fixture.folder}/${name}`, whole.subarray(0, 200));
    const next = nameOf('trades', '2025-03-03').replace('.gz', '');
    fixture.put(next, 'side,price\n');
    fixture.put(nameOf('trades', '2025-03-04').replace('.gz', ''), `${header}\n${trade(1, 1)},9`);
    expect((await load()).results).toMatchObject([
      { outcome: 'failed', reason: 'has no column exchange' },
      { outcome: 'failed', reason: 'is truncated', file: name },
      { outcome: 'failed', reason: 'has no column exchange', file: next },
      { outcome: 'failed', reason: 'line 2 has 9 values: the header has 8' },
    ]);
  });

  test('a file of the next day that cannot be read fails the day before with its name', async () => {
    fixture.put(nameOf('trades', '2025-03-01'), `${header}\n${trade(1, 1)}`);
    fixture.put(
      nameOf('trades', '2025-03-02'),
      `${header}\n${trade(DAY + 1, 1).replace('sell,1,', 'sell,0x1,')}`,
    );
    expect((await load()).results).toMatchObject([
      { outcome: 'imported', rows: 1 },
      { outcome: 'failed', reason: 'line 2: price is "0x1": expected a decimal number' },
    ]);
    fixture.put(nameOf('trades', '2025-03-02'), `${header}\n${trade(DAY - 1, 0, 9)}`);
    expect((await load()).results).toMatchObject([
      {
        outcome: 'failed',
        reason:
          'the file of the next day, which may have the last trades: line 2: price is "0": expected a number above 0',
      },
      { outcome: 'failed' },
    ]);
  });
});

describe('TradingView', () => {
  const hour = (index: number) => `${T0 / 1_000 + index * 3_600},1,3,0.5,2,10,99`;
  const chart = ['time,open,high,low,close,Volume,RSI', hour(0), hour(1), hour(2)].join('\n');

  test('exchange, mode, symbol and timeframe come from the name of the file', async () => {
    fixture.put('BINANCE_BTCUSDT.P, 60.csv', chart);
    fixture.put('BINANCE_BTCUSDT, 60 (1).csv', chart);
    fixture.put('BINANCE_ETHUSDT, 1M.csv', chart);
    fixture.put('export.csv', chart);
    fixture.put('trades.csv', 'Trade #,Type,Signal,Date/Time,Price USDT\n');
    const { results } = await load();
    expect(results).toMatchObject([
      { symbol: 'BTC/USDT', timeframe: '1h', rows: 3, notes: ['times are in seconds'] },
      { symbol: 'BTC/USDT:USDT', timeframe: '1h', rows: 3 },
      { outcome: 'skipped', reason: expect.stringMatching(/^timeframe 1M is not one of 1m, /) },
      { outcome: 'skipped', reason: expect.stringMatching(/^neither rows, folders nor the name/) },
      { outcome: 'skipped', reason: expect.stringMatching(/^a list of trades.*verify tradingview$/) },
    ]);
    expect((await storedIn('binance', 'BTC/USDT', '1h')).volume).toEqual([10, 10, 10]);
    expect((await storedIn('binanceusdm', 'BTC/USDT:USDT', '1h')).timestamp).toHaveLength(3);
  });

  test('a chart without a name is imported as what the user states', async () => {
    fixture.put('export.csv', chart);
    expect((await load({ symbols: ['BTC/EUR'], exchange: 'kraken' })).results).toMatchObject([
      { symbol: 'BTC/EUR', timeframe: '1h', rows: 3 },
    ]);
    const stated = { symbols: ['BTC/EUR'], timeframe: '1h', exchange: 'kraken' } as const;
    expect((await load(stated)).results).toMatchObject([{ symbol: 'BTC/EUR', timeframe: '1h', rows: 3 }]);
    expect((await storedIn('kraken', 'BTC/EUR', '1h')).timestamp).toHaveLength(3);
    expect((await load({ ...stated, timeframe: '4h' })).results).toMatchObject([
      { outcome: 'failed', reason: expect.stringContaining('is not on the 4h grid') },
    ]);
  });

  test('a chart that was exported again replaces the first export', async () => {
    for (const [name, close] of [
      ['', 1.5],
      [' (2)', 1.7],
      [' (10)', 1.9],
    ] as const) {
      fixture.put(
        `BINANCE_BTCUSDT, 60${name}.csv`,
        `time,open,high,low,close\n${T0 / 1_000},1,2,1,${close}\n`,
      );
    }
    expect((await load()).results).toHaveLength(3);
    expect((await storedIn('binance', 'BTC/USDT', '1h')).close).toEqual([1.9]);
  });

  test('a last candle that was open when the chart was exported is left out', async () => {
    const path = fixture.put('BINANCE_BTCUSDT.P, 60.csv', chart);
    const exported = (T0 + 2.5 * 3_600_000) / 1_000;
    utimesSync(path, exported, exported);
    expect((await load()).results).toMatchObject([
      {
        rows: 2,
        notes: ['times are in seconds', 'the last candle was open when the file was written: left out'],
      },
    ]);
  });
});
