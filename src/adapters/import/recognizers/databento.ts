import { tradingModeOf } from '#domain/shared/validate.ts';
import { other } from '../file-content.ts';
import { headerIn } from '../formats/csv-table.ts';
import type { Hints, Recognizer } from '../recognizer.ts';
import type { Market } from '../series-table.ts';
import { isDatabentoCandles } from '../vendors/databento.ts';

/** `glbx-mdp3-20250301-20250331.ohlcv-1m.csv.zst`, `xnas-itch-20250303.ohlcv-1d.AAPL.csv`. */
const DATASET = /^(?<dataset>[a-z0-9]+(?:-[a-z0-9]+)*?)-\d{8}(?:-\d{8})?\./;
/** Exchange of a file whose name has no dataset. */
const NO_DATASET = 'databento';
const DESCRIPTIONS = /^(metadata|manifest|symbology|condition)\.(json|csv)$/;

/** CSV downloads of Databento: candles of the schemas `ohlcv-1m`, `ohlcv-1h` and `ohlcv-1d`. */
export const databento: Recognizer = {
  name: 'Databento',
  async recognize(file) {
    if (/\.dbn(\.zst)?$/.test(file.name))
      return other(
        'DBN, the binary format of Databento; request CSV, or convert it: dbn FILE --csv --output FILE.csv',
      );
    if (DESCRIPTIONS.test(file.name) && [...file.siblings].some((name) => DATASET.test(name)))
      return other('describes a download of Databento; not needed');
    if (!/\.csv(\.gz|\.zst)?$/.test(file.name)) return undefined;
    const header = headerIn(await file.head());
    const isCandles = isDatabentoCandles(header) || /\.ohlcv-[a-z0-9]+\./.test(file.name);
    if (!isCandles) {
      return header.includes('ts_event') && header.includes('rtype')
        ? other('another schema of Databento; request ohlcv-1m, ohlcv-1h or ohlcv-1d')
        : undefined;
    }
    const dataset = DATASET.exec(file.name)?.groups?.dataset;
    return {
      kind: 'table',
      table: 'databento',
      format: 'CSV',
      names: { symbol: null, exchange: null, timeframe: null },
      ...marketOf(dataset?.replaceAll('-', '') ?? NO_DATASET, file.hints),
    };
  },
};

/** Only series that the user names are imported: without them the exchange is not one of the import. */
function marketOf(exchange: string, { symbols = [] }: Hints): Market {
  const modes = new Set(symbols.map((symbol) => tradingModeOf(symbol.slice(symbol.lastIndexOf('=') + 1))));
  const [mode] = modes;
  if (mode === undefined) return {};
  return modes.size === 1 ? { exchange, mode } : { exchange };
}
