import { SIMULATED } from '#contract/values/names.ts';
import { other } from '../file-content.ts';
import { ccxtMarket } from '../market-symbols.ts';
import type { Recognizer } from '../recognizer.ts';
import type { SeriesNames } from '../series-table.ts';

/** Names of the folders `name=value`, as DuckDB's PARTITION_BY writes them. Others, such as `year=2025`, are not needed. */
const FOLDERS: Readonly<Record<keyof SeriesNames, readonly string[]>> = {
  symbol: ['symbol', 'pair', 'ticker', 'instrument'],
  timeframe: ['timeframe', 'interval', 'tf', 'resolution'],
  exchange: ['exchange'],
};
/** `BTCUSDT_1m.parquet`, `BTC-USDT-1h-2025.parquet`. */
const NAME = /^(?<symbol>.+?)[-_](?<timeframe>\d+[mhdw])(?:[-_].*)?\.parquet$/;

/** Parquet files of candles in any folders, which name their series in folders, columns or the name of the file. */
export const parquetLayout: Recognizer = {
  name: 'Parquet',
  recognize({ path, name }) {
    if (!name.endsWith('.parquet')) return undefined;
    const inName = NAME.exec(name)?.groups ?? {};
    const folders = foldersIn(path);
    const exchange = folders.exchange ?? null;
    if (exchange === SIMULATED) return other('candles of sim, the simulated market');
    return {
      kind: 'table',
      table: 'parquet',
      format: 'Parquet',
      names: {
        symbol: folders.symbol ?? inName.symbol ?? null,
        timeframe: folders.timeframe ?? inName.timeframe ?? null,
        exchange,
      },
      ...ccxtMarket(exchange ?? ''),
    };
  },
};

function foldersIn(path: string): Partial<Record<keyof SeriesNames, string>> {
  const values = new Map<string, string>();
  for (const folder of path.split('/').slice(0, -1)) {
    const [, key, value] = /^([A-Za-z_]+)=(.+)$/.exec(folder) ?? [];
    if (key !== undefined) values.set(key.toLowerCase(), decoded(value!));
  }
  const named = Object.entries(FOLDERS).map(([name, keys]) => {
    const key = keys.find((text) => values.has(text));
    return [name, key && values.get(key)];
  });
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}

/** DuckDB escapes `/` and `:` as in an address. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
