import type { ResultsLocation } from '#contract/backtest.ts';
import type { TradeColumns } from '#contract/backtest-trades.ts';
import type { Trade } from '#contract/report.ts';
import { tradeRecord } from '#engine/report/trades.ts';
import type { ResultStore, TradePage } from './ports.ts';

/** Stored pages that are read at the same time: 170 KB each, a few ms away. */
const CONCURRENT_READS = 8;

/** These stored pages, in their order. Throws DATA005. */
export async function* readTradePages(
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
export function tradesOf({ first, table }: TradePage): Trade[] {
  return Array.from({ length: table.length }, (_, row) => tradeRecord(table, row, first + row + 1));
}

/** Trades as arrays of their fields, with times in Unix seconds. */
export function tradeColumns(trades: readonly Trade[]): TradeColumns {
  const column = <Name extends keyof Trade>(name: Name) => trades.map((trade) => trade[name]);
  const seconds = (name: 'opened_at' | 'closed_at') => column(name).map((time) => Date.parse(time) / 1_000);
  return {
    id: column('id'),
    pair: column('pair'),
    side: column('side'),
    opened_at: seconds('opened_at'),
    closed_at: seconds('closed_at'),
    duration_minutes: column('duration_minutes'),
    entry_price: column('entry_price'),
    exit_price: column('exit_price'),
    amount: column('amount'),
    stake: column('stake'),
    leverage: column('leverage'),
    enter_tag: column('enter_tag'),
    exit_reason: column('exit_reason'),
    fees: column('fees'),
    slippage_cost: column('slippage_cost'),
    funding: column('funding'),
    profit: column('profit'),
    profit_pct: column('profit_pct'),
    initial_stop_price: column('initial_stop_price'),
    stop_price: column('stop_price'),
    liquidation_price: column('liquidation_price'),
    lowest_price: column('lowest_price'),
    highest_price: column('highest_price'),
    left_open: column('left_open'),
  };
}
