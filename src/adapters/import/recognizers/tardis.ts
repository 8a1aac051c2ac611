import { DAY_MS } from '#contract/values/durations.ts';
import { other, type TableContent } from '../file-content.ts';
import { firstLineIn, headerIn } from '../formats/csv-table.ts';
import { tardisMarket } from '../market-symbols.ts';
import type { Candidate, Recognizer } from '../recognizer.ts';
import { type TardisKind, tardisKind } from '../vendors/tardis.ts';

/** `binance-futures_trades_2025-03-01_BTCUSDT.csv.gz`, as Tardis's clients name their downloads. */
const NAME =
  /^(?<exchange>[a-z0-9-]+)_(?<type>[A-Za-z0-9_]+)_(?<day>\d{4}-\d\d-\d\d)_(?<symbol>[^/]+)\.csv(?<gz>\.gz)?$/;
const KINDS: Readonly<Record<string, TardisKind>> = { trades: 'trades', derivative_ticker: 'funding' };
/** Exchanges of Tardis whose amounts count contracts or quote currency: a report would show them as base assets. */
const CONTRACTS: ReadonlySet<string> = new Set([
  'binance-delivery',
  'bitmex',
  'cryptofacilities',
  'deribit',
  'gate-io-futures',
  'huobi-dm-linear-swap',
  'huobi-dm-swap',
  'kucoin-futures',
  'okex-futures',
  'okex-swap',
]);

/** CSV datasets of Tardis.dev, and trade bars of its libraries saved as CSV. */
export const tardis: Recognizer = {
  name: 'Tardis',
  async recognize(file) {
    if (!/\.csv(\.gz)?$/.test(file.name)) return undefined;
    const name = NAME.exec(file.name)?.groups as Readonly<Record<string, string>> | undefined;
    const head = await file.head();
    const header = headerIn(head);
    if (name && head === '') return other('empty: Tardis has no data of that day');
    const kind = tardisKind(header) ?? (name && (KINDS[name.type!] ?? 'other'));
    if (kind === undefined) return undefined;
    if (kind === 'other')
      return other(
        `${name?.type ?? 'a dataset'} of Tardis; trades, derivative_ticker and trade bars are imported`,
      );
    const exchange = exchangeIn(header, head) ?? name?.exchange;
    if (kind !== 'funding' && exchange !== undefined && CONTRACTS.has(exchange))
      return other(
        `${kind} of ${exchange}, whose amounts are not in base assets; its derivative_ticker is imported`,
      );
    return contentOf(file, kind, exchange, name);
  },
};

function contentOf(
  file: Candidate,
  kind: Exclude<TardisKind, 'other'>,
  exchange: string | undefined,
  name: Readonly<Record<string, string>> | undefined,
): TableContent {
  const next = kind === 'trades' && name ? nextDay(file, name) : undefined;
  return {
    kind: 'table',
    table: `tardis-${kind}`,
    format: 'CSV',
    names: { symbol: name?.symbol ?? null, exchange: exchange ?? null, timeframe: null },
    ...tardisMarket(exchange ?? ''),
    ...(next && { next }),
  };
}

/** The exchange of the first row. */
function exchangeIn(header: readonly string[], head: string | undefined): string | undefined {
  const position = header.indexOf('exchange');
  return position < 0 ? undefined : firstLineIn(head)[position];
}

/** Path of the file of the next day, if it is in the same folder. */
function nextDay({ path, name, siblings }: Candidate, { day }: Readonly<Record<string, string>>) {
  const next = new Date(Date.parse(day!) + DAY_MS).toISOString().slice(0, 10);
  const nextName = name.replace(`_${day}_`, `_${next}_`);
  return siblings.has(nextName) ? `${path.slice(0, -name.length)}${nextName}` : undefined;
}
