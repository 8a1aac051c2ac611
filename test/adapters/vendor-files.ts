import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { encodeParquet, numberColumn, timestampColumn } from '../support/snappy-parquet.ts';

const PAGE = resolve(import.meta.dirname, '../../docs/importing.md');
const T0 = Date.UTC(2025, 2, 1);

/** Files that the commands of docs/importing.md import, in the folders of the page. */
export function writeVendorFiles(folder: string): void {
  const put = (name: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  };
  const [databento] = /^ts_event,rtype.*\n.*\n/m.exec(readFileSync(PAGE, 'utf8'))!;
  put('databento/glbx-mdp3-20250301.ohlcv-1m.csv.zst', zstdCompressSync(databento));
  put(
    'tardis/binance-futures_trades_2025-03-01_BTCUSDT.csv',
    `exchange,symbol,timestamp,local_timestamp,id,side,price,amount\nbinance-futures,BTCUSDT,${T0}000,${T0}009,1,buy,1,1\n`,
  );
  put(
    'charts/BINANCE_BTCUSDT.P, 60.csv',
    `time,open,high,low,close,Volume,RSI\n${T0 / 1_000},1,3,0.5,2,10,50\n`,
  );
  const column = (value: number) => Float64Array.of(value);
  put(
    'lake/symbol=BTCUSDT/timeframe=1m/year=2025/part-0.parquet',
    encodeParquet([
      timestampColumn('open_time', column(T0)),
      ...['open', 'high', 'low', 'close', 'volume'].map((name) => numberColumn(name, column(1))),
    ]),
  );
}
