import { describe, expect, test } from 'vitest';
import { candidate, recognize } from '#adapters/import/recognize.ts';

/** By name only: the files do not exist. */
const contentOf = async (path: string, symbols: string[] = []) =>
  (await recognize(candidate(path, new Set(), { symbols }))).content;

describe('names of files', () => {
  const candles = (symbol: string, timeframe: string, format: string, exchange?: string) => ({
    kind: 'candles',
    symbol,
    timeframe,
    format,
    ...(exchange && { exchange }),
  });
  test.each([
    ['BTC_USDT_USDT-5m.csv', candles('BTC/USDT:USDT', '5m', 'CSV')],
    ['1000SHIB_USDT_USDT-1d.csv.gz', candles('1000SHIB/USDT:USDT', '1d', 'CSV')],
    ['BTC_USD_BTC-4h-futures.json', candles('BTC/USD:BTC', '4h', 'JSON')],
    ['BTC_USDT_USDT-15m-futures.json.gz', candles('BTC/USDT:USDT', '15m', 'JSON')],
    ['BTC_USDT_USDT-1h.parquet', candles('BTC/USDT:USDT', '1h', 'Parquet')],
    // freqtrade's folder names state the exchange.
    [
      'binance/futures/BTC_USDT_USDT-5m-futures.feather',
      candles('BTC/USDT:USDT', '5m', 'Feather', 'binanceusdm'),
    ],
    [
      'hyperliquid/futures/BTC_USDC_USDC-1m-futures.feather',
      candles('BTC/USDC:USDC', '1m', 'Feather', 'hyperliquid'),
    ],
    ['mine/futures/BTC_USDT_USDT-5m-futures.feather', candles('BTC/USDT:USDT', '5m', 'Feather')],
    ['constructor/futures/BTC_USDT_USDT-5m-futures.feather', candles('BTC/USDT:USDT', '5m', 'Feather')],
    // freqtrade before 2023: without the settlement currency.
    ['binance/futures/BTC_USDT-5m-futures.feather', candles('BTC/USDT:USDT', '5m', 'Feather', 'binanceusdm')],
    // Spot: freqtrade's folder has the name of the exchange in ccxt; another folder names none.
    ['ETH_BTC-5m.csv.gz', candles('ETH/BTC', '5m', 'CSV')],
    ['user_data/data/binance/ETH_BTC-5m.feather', candles('ETH/BTC', '5m', 'Feather', 'binance')],
    ['candles/ETH_BTC-5m.csv.gz', candles('ETH/BTC', '5m', 'CSV')],
    ['user_data/data/kraken/BTC_USD-1h.json', candles('BTC/USD', '1h', 'JSON', 'kraken')],
    [
      'candles/exchange=binance/symbol=ETH_BTC/timeframe=5m/2025-03.parquet',
      candles('ETH/BTC', '5m', 'Parquet', 'binance'),
    ],
    ['BTC_USDT_USDT-8h-funding_rate.feather', { kind: 'rates', symbol: 'BTC/USDT:USDT', format: 'Feather' }],
    ['BTC_USDT_USDT-1h-funding_rate.csv.gz', { kind: 'rates', symbol: 'BTC/USDT:USDT', format: 'CSV' }],
    ['BTC_USDT_USDT-1h-mark.json', { kind: 'marks', symbol: 'BTC/USDT:USDT', format: 'JSON' }],
    ['BTC_USDT-8h-mark.feather', { kind: 'marks', symbol: 'BTC/USDT:USDT', format: 'Feather' }],
    // Touchstone's folders.
    [
      'objects/candles/exchange=binanceusdm/symbol=BTC_USDT_USDT/timeframe=5m/2025-03.parquet',
      candles('BTC/USDT:USDT', '5m', 'Parquet', 'binanceusdm'),
    ],
    [
      'funding/exchange=bybit/symbol=BTC_USDT_USDT/2025-03.parquet',
      { kind: 'events', symbol: 'BTC/USDT:USDT', format: 'Parquet', exchange: 'bybit' },
    ],
  ])('import recognizes the path %s', async (path, content) =>
    expect(await contentOf(`/data/${path}`)).toEqual(content),
  );

  test.each([
    ['prices.csv', [null, null]],
    ['eth_btc-5m.csv', ['eth_btc', '5m']],
    ['BTCUSDT-1h.json', ['BTCUSDT', '1h']],
  ])('%s may be candles whose series its content or the user names', async (path, [symbol, timeframe]) =>
    expect(await contentOf(`/data/${path}`)).toMatchObject({ kind: 'table', names: { symbol, timeframe } }),
  );

  test.each([
    ['README.md', 'not a CSV, Feather, JSON or Parquet file'],
    ['archive.zip', 'a zip that does not hold one CSV'],
    ['ETHBTC-1m-2025-03.zip.part', 'an unfinished download'],
    ['user_data/binance_leverage_tiers.json', 'leverage tiers; import the file by itself'],
    ['BTC_USDT_USDT-5m-futures.h5', 'freqtrade convert-data --format-from hdf5'],
    ['BTC_USDT_USDT-10m-futures.feather', 'timeframe 10m is not one of 1m, 3m, 5m, 15m, 30m, 1h'],
    ['BTC_USDT_USDT-1Mo-futures.feather', 'timeframe 1Mo is not one of'],
    ['BTC_USDT_USDT-1h-index.feather', 'candles of type index'],
    ['BTC_USDT_USDT-8h-premiumIndex.feather', 'candles of type premiumIndex'],
    ['BTC_USDT_USDT-trades.feather', 'trades'],
    ['BTC_USDT-trades.json.gz', 'trades'],
    ['funding/exchange=binance/symbol=ETH_BTC/2025-03.parquet', 'funding rates of a spot pair'],
    ['BTC_USDT_USDT-250328-5m-futures.feather', 'a future with a delivery date'],
    ['A_B_USD_BTC-4h-futures.csv', 'A_B/USD:BTC is not a valid symbol'],
    ['kPEPE_USDC_USDC-1h-futures.feather', 'kPEPE/USDC:USDC is not a valid symbol'],
    [
      'exchange=sim/symbol=BTC_USDT_USDT/timeframe=5m/2025-03.parquet',
      'candles of sim, the simulated market',
    ],
    ['exchange=okx/symbol=.zz/timeframe=5m/2025-03.parquet', 'is not a valid symbol'],
    ['exchange=okx/symbol=BTC_USDT_USDT/timeframe=7m/2025-03.parquet', 'timeframe 7m'],
  ])('import skips %s with the reason', async (path, reason) =>
    expect(await contentOf(`/data/${path}`)).toEqual({
      kind: 'other',
      reason: expect.stringContaining(reason),
    }),
  );
});
