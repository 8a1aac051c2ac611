/**
 * Invented candles of 2025-03-01 and 2025-03-02 UTC, opens 100 and 101, in the layout of each file that docs/importing.md lists. Key:
 * name of the file.
 */
export const VENDOR_FILES: Readonly<Record<string, string>> = {
  'GOOG.csv': ',Open,High,Low,Close,Volume\n2025-03-01,100,103,99,101,10\n2025-03-02,101,104,100,102,20\n',
  'AAPL.csv':
    'Date,Open,High,Low,Close,Adj Close,Volume\n2025-03-01,100,103,99,101,95,10\n2025-03-02,101,104,100,102,96,20\n',
  'MSFT.csv':
    'Price,Close,High,Low,Open,Volume\nTicker,MSFT,MSFT,MSFT,MSFT,MSFT\nDate,,,,,\n2025-03-01,101,103,99,100,10\n2025-03-02,102,104,100,101,20\n',
  'XBTUSD_1440.csv': '1740787200,100,103,99,101,10,5\n1740873600,101,104,100,102,2E+1,7\n',
  'Bitstamp_BTCUSD_d.csv':
    'https://www.CryptoDataDownload.com\nunix,date,symbol,open,high,low,close,Volume BTC,Volume USD\n1740873600,2025-03-02 00:00:00,BTC/USD,101,104,100,102,20,2040\n1740787200,2025-03-01 00:00:00,BTC/USD,100,103,99,101,10,1010\n',
  'coinbase.csv':
    'time,low,high,open,close,volume\n1740787200,99,103,100,101,10\n1740873600,100,104,101,102,20\n',
  'bitstamp.csv':
    'high,timestamp,volume,low,close,open\n103,1740787200,10,99,101,100\n104,1740873600,20,100,102,101\n',
  'bitfinex.csv': '1740787200000,100,101,103,99,10\n1740873600000,101,102,104,100,20\n',
  'bybit.csv':
    'startTime,openPrice,highPrice,lowPrice,closePrice,volume,turnover\n1740787200000,100,103,99,101,10,1010\n1740873600000,101,104,100,102,20,2040\n',
  'BTCUSDT_1440_2025-03-01_2025-03-31.csv':
    '2025.03.01 03:00,100,103,99,101,10\n2025.03.02 03:00,101,104,100,102,20\n',
  'BTC_USDT-202503.csv': '1740787200,10,101,103,99,100\n1740873600,20,102,104,100,101\n',
  'BTC-USDT-SWAP-candlesticks-2025-03.csv':
    'instrument_name,open,high,low,close,vol,vol_ccy,vol_quote,open_time,confirm\nBTC-USDT-SWAP,100,103,99,101,1000,10,1010,1740787200000,1\nBTC-USDT-SWAP,101,104,100,102,2000,20,2040,1740873600000,1\n',
  'polygon.csv':
    'ticker,volume,open,close,high,low,window_start,transactions\nX:BTCUSD,10,100,101,103,99,1740787200000000000,1\nX:BTCUSD,20,101,102,104,100,1740873600000000000,1\n',
  'spy_us_d.csv':
    'Date,Open,High,Low,Close,Volume\n2025-03-01,100,103,99,101,10\n2025-03-02,101,104,100,102,20\n',
  'spy.us.txt':
    '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>\nSPY.US,D,20250301,000000,100,103,99,101,10,0\nSPY.US,D,20250302,000000,101,104,100,102,20,0\n',
  'alpaca.csv':
    'symbol,timestamp,open,high,low,close,volume,trade_count,vwap\nSPY,2025-03-01 00:00:00+00:00,100,103,99,101,10,5,100.5\nSPY,2025-03-02 00:00:00+00:00,101,104,100,102,20,5,101.5\n',
  'EURUSD_Candlestick_1_D_BID_01.03.2025-02.03.2025.csv':
    'Gmt time,Open,High,Low,Close,Volume\n01.03.2025 00:00:00.000,100,103,99,101,10\n02.03.2025 00:00:00.000,101,104,100,102,20\n',
  'BTCUSD_Daily_202503010000_202503020000.csv':
    '<DATE>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\n2025.03.01\t100\t103\t99\t101\t10\t0\t5\n2025.03.02\t101\t104\t100\t102\t20\t0\t5\n',
  'BTCUSD1440.csv': '2025.03.01,00:00,100,103,99,101,10\n2025.03.02,00:00,101,104,100,102,20\n',
  'DAT_ASCII_EURUSD_M1_202503.csv': '20250228 190000;100;103;99;101;10\n20250301 190000;101;104;100;102;20\n',
  'Bitcoin Historical Data.csv':
    '"Date","Price","Open","High","Low","Vol.","Change %"\n"03/02/2025","102.0","101.0","104.0","100.0","0.02K","1.00%"\n"03/01/2025","101.0","100.0","103.0","99.0","0.01K","1.00%"\n',
  'BTC_EUR Historische Kurse.csv':
    '"Datum","Zuletzt","Eröffn.","Hoch","Tief","Vol.","+/- %"\n"02.03.2025","102,0","101,0","104,0","100,0","0,02K","1,00%"\n"01.03.2025","101,0","100,0","103,0","99,0","0,01K","1,00%"\n',
  'klines.csv':
    ',Open time,Open,High,Low,Close,Volume,Close time,Quote asset volume,Number of trades,Taker buy base asset volume,Taker buy quote asset volume,Ignore\n0,1740787200000,100,103,99,101,10,1740873599999,1010,3,1,1,0\n1,1740873600000,101,104,100,102,20,1740959999999,2040,3,1,1,0\n',
  'ccxt.csv':
    ',timestamp,open,high,low,close,volume,datetime\n0,1740787200000,100,103,99,101,10,2025-03-01 00:00:00\n1,1740873600000,101,104,100,102,20,2025-03-02 00:00:00\n',
  'KRAKEN_BTCUSD, 1D.csv':
    'time,open,high,low,close,Volume,RSI\n1740787200,100,103,99,101,10,50\n1740873600,101,104,100,102,20,50\n',
  'alphavantage.json': JSON.stringify({
    'Meta Data': { '2. Symbol': 'IBM' },
    'Time Series (Daily)': {
      '2025-03-02': {
        '1. open': '101',
        '2. high': '104',
        '3. low': '100',
        '4. close': '102',
        '5. volume': '20',
      },
      '2025-03-01': {
        '1. open': '100',
        '2. high': '103',
        '3. low': '99',
        '4. close': '101',
        '5. volume': '10',
      },
    },
  }),
  'records.json':
    '[{"t":"2025-03-01T00:00:00Z","o":100,"h":103,"l":99,"c":101,"v":10},{"t":"2025-03-02T00:00:00Z","o":101,"h":104,"l":100,"c":102,"v":20}]',
};
