import type { ResultsLocation } from '#contract/backtests/backtest.ts';
import type { TradeColumns } from '#contract/backtests/backtest-trades.ts';
import type { Trade } from '#contract/backtests/report.ts';
import { type GroupedTrade, groupOf, positionNumbers } from '#engine/report/positions.ts';
import { tradeRecord } from '#engine/report/trades.ts';
import { textAt } from '#engine/simulator/trade-table.ts';
import type { ResultStore, TradePage } from '../ports.ts';

/** Stored pages that are read at the same time: 170 KB each, a few ms away. */
const CONCURRENT_READS = 8;

/** A stored page, with the positions of the run's trades if any of its own has a group. */
export interface PositionedPage extends TradePage {
  /** Number of the position of each trade of the run, 0 for none; null: no trade of the page has a group. */
  readonly positions: Int32Array | null;
}

/**
 * These stored pages, in their order. A position may begin on any page: where a trade has a group all pages are read once more, of which
 * three columns are kept. Throws DATA005.
 */
export async function* readTradePages(
  results: Pick<ResultStore, 'readTradeTable'>,
  location: ResultsLocation,
  pages: readonly number[],
): AsyncGenerator<PositionedPage> {
  let positions: Int32Array | undefined;
  for await (const page of readPages(results, location, pages)) {
    const { texts, index } = page.table.enterTag;
    const groups = texts.map(groupOf);
    const hasGroup = groups.some((group) => group !== null) && index.some((text) => groups[text] !== null);
    if (hasGroup) positions ??= positionNumbers(await groupedTrades(results, location));
    yield { ...page, positions: hasGroup ? positions! : null };
  }
}

async function groupedTrades(
  results: Pick<ResultStore, 'readTradeTable'>,
  location: ResultsLocation,
): Promise<GroupedTrade[]> {
  const trades: GroupedTrade[] = [];
  for await (const { table } of readPages(results, location, allPages(location)))
    for (let row = 0; row < table.length; row++)
      trades.push({
        group: groupOf(textAt(table.enterTag, row)),
        openedAt: table.openedAt[row]!,
        closedAt: table.closedAt[row]!,
      });
  return trades;
}

async function* readPages(
  results: Pick<ResultStore, 'readTradeTable'>,
  location: ResultsLocation,
  pages: readonly number[],
): AsyncGenerator<TradePage> {
  for (let at = 0; at < pages.length; at += CONCURRENT_READS) {
    const batch = pages.slice(at, at + CONCURRENT_READS);
    yield* await Promise.all(batch.map((page) => results.readTradeTable(location, page)));
  }
}

/** Numbers of all stored pages. */
export function allPages({ trade_pages }: ResultsLocation): number[] {
  return Array.from({ length: trade_pages }, (_, index) => index + 1);
}

/** Trades of a stored page. */
export function tradesOf({ first, table, positions }: PositionedPage): Trade[] {
  return Array.from({ length: table.length }, (_, row) =>
    tradeRecord(table, row, first + row + 1, positions?.[first + row]),
  );
}

/** Fields of a trade in the order of their columns. */
export const TRADE_FIELDS = [
  'id',
  'pair',
  'side',
  'opened_at',
  'closed_at',
  'duration_minutes',
  'entry_price',
  'exit_price',
  'amount',
  'stake',
  'leverage',
  'enter_tag',
  'exit_reason',
  'fees',
  'slippage_cost',
  'funding',
  'profit',
  'profit_pct',
  'initial_stop_price',
  'stop_price',
  'liquidation_price',
  'lowest_price',
  'highest_price',
  'left_open',
  'group',
  'position',
] satisfies (keyof Trade)[];
export type TradeField = (typeof TRADE_FIELDS)[number];

/** A field of all trades, with times in Unix seconds. */
export function tradeColumn(trades: readonly Trade[], name: TradeField): Trade[TradeField][] {
  if (name !== 'opened_at' && name !== 'closed_at') return trades.map((trade) => trade[name]);
  return trades.map((trade) => Date.parse(trade[name]) / 1_000);
}

/** Trades as arrays of their fields. */
export function tradeColumns(trades: readonly Trade[]): TradeColumns {
  const columns: [string, unknown][] = TRADE_FIELDS.map((name) => [name, tradeColumn(trades, name)]);
  if (trades.some(({ orders }) => orders))
    columns.push(['orders', trades.map(({ orders = null }) => orders)]);
  return Object.fromEntries(columns) as TradeColumns;
}
