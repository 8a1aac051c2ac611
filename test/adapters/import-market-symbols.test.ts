import { describe, expect, test } from 'vitest';
import {
  ccxtMarket,
  exchangeFor,
  symbolOfName,
  tardisMarket,
  tradingViewMarket,
} from '#adapters/import/market-symbols.ts';
import type { Market } from '#adapters/import/series-table.ts';

const FUTURES: Market = { mode: 'futures' };
const SPOT: Market = { mode: 'spot' };

describe('symbolOfName', () => {
  test.each<[string, Market, string]>([
    ['BTCUSDT', FUTURES, 'BTC/USDT:USDT'],
    ['BTCUSDT', SPOT, 'BTC/USDT'],
    ['BTCFDUSD', SPOT, 'BTC/FDUSD'],
    ['ADAEUR', SPOT, 'ADA/EUR'],
    ['EURAEUR', SPOT, 'EUR/AEUR'],
    ['1000PEPEUSDT', FUTURES, '1000PEPE/USDT:USDT'],
    ['BTCUSDT.P', FUTURES, 'BTC/USDT:USDT'],
    ['btcusdt', SPOT, 'BTC/USDT'],
    ['BTC-USDT-SWAP', {}, 'BTC/USDT:USDT'],
    ['BTC-USD', SPOT, 'BTC/USD'],
    ['BTC_USDT', FUTURES, 'BTC/USDT:USDT'],
    ['XBT-USD', SPOT, 'BTC/USD'],
    ['XDGEUR', SPOT, 'DOGE/EUR'],
    ['ETHXBT', SPOT, 'ETH/BTC'],
    ['XBTUSDT', FUTURES, 'BTC/USDT:USDT'],
    ['BTC_USDT_USDT', {}, 'BTC/USDT:USDT'],
    ['BTC%2FUSDT%3AUSDT', {}, 'BTC/USDT:USDT'],
    ['BTC/USDT:USDT', SPOT, 'BTC/USDT:USDT'],
    ['BTC/USDT', {}, 'BTC/USDT'],
    ['BTC/USDT', FUTURES, 'BTC/USDT:USDT'],
  ])('%s of a market %j is %s', (name, market, symbol) => {
    expect(symbolOfName(name, market, [])).toEqual({ symbol });
  });

  test.each<[string, Market, string]>([
    ['BTCUSDT', {}, 'the file does not say whether BTCUSDT is spot or futures'],
    ['BTC-USDT', {}, 'the file does not say whether BTC-USDT is spot or futures'],
    [
      'BTC-USD-SWAP',
      FUTURES,
      'BTC-USD-SWAP=BTC/USD:BTC if it is BTC (inverse), BTC-USD-SWAP=BTC/USD:USD if it is USD',
    ],
    ['BTCUSD', FUTURES, 'BTCUSD=BTC/USD:BTC if it is BTC (inverse), BTCUSD=BTC/USD:USD if it is USD'],
    ['ESH5', SPOT, 'ESH5 ends with no known quote asset. Name the symbol: --symbols ESH5=BASE/QUOTE'],
    ['BTC-USDT-250328', FUTURES, 'a future with a delivery date'],
    ['BTC-28MAR25', FUTURES, 'a future with a delivery date'],
    ['A-B-C-D', SPOT, 'is not a pair'],
    ['', SPOT, 'is not a pair'],
    ['%', SPOT, 'ends with no known quote'],
  ])('%s of a market %j is not guessed', (name, market, reason) => {
    expect(symbolOfName(name, market, [])).toEqual({ reason: expect.stringContaining(reason) });
  });

  test('the user names a series by its name in the file or by its letters', () => {
    const given = ['ESH5=ES/USD:USD', 'BTC/USDT', 'ETH/USDT:USDT'];
    const named = (name: string, market: Market = {}) => symbolOfName(name, market, given);
    expect(named('ESH5')).toEqual({ symbol: 'ES/USD:USD' });
    expect(named('BTCUSDT')).toEqual({ symbol: 'BTC/USDT' });
    expect(named('ETH-USDT')).toEqual({ symbol: 'ETH/USDT:USDT' });
    expect(named('BTCUSDT', FUTURES)).toEqual({ symbol: 'BTC/USDT:USDT' });
  });
});

test('vendors name exchanges in their own way', () => {
  expect(tardisMarket('binance-futures')).toEqual({ exchange: 'binanceusdm', mode: 'futures' });
  expect(tardisMarket('constructor')).toEqual({});
  expect(tradingViewMarket('BINANCE', 'BTCUSDT.P')).toEqual({ exchange: 'binanceusdm', mode: 'futures' });
  expect(tradingViewMarket('BINANCE', 'BTCUSDT')).toEqual({ exchange: 'binance', mode: 'spot' });
  expect(tradingViewMarket('COINBASE', 'BTCUSD')).toEqual({ exchange: 'coinbase', mode: 'spot' });
  expect(ccxtMarket('binanceusdm')).toEqual({ exchange: 'binanceusdm', mode: 'futures' });
  expect(ccxtMarket('binance')).toEqual({ exchange: 'binance' });
  expect(exchangeFor('binance', 'futures')).toBe('binanceusdm');
  expect(exchangeFor('binanceusdm', 'spot')).toBe('binance');
  expect(ccxtMarket('bybit')).toEqual({ exchange: 'bybit' });
  expect(ccxtMarket('not a key')).toEqual({});
});
