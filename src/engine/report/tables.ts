import { type TradeMetrics, tradeMetrics } from '#engine/metrics/trade-metrics.ts';
import type { Trade } from '#engine/simulator/types.ts';

/** One group of trades with the metrics of the group alone. */
type TableRow = { readonly key: string } & TradeMetrics;

/** Key of the last row of every table. */
export const TOTAL = 'TOTAL';

/** Key of trades whose entry carried no tag. */
export const NO_TAG = '(none)';

export interface ReportTables {
  /** Every pair of the run, traded or not. */
  readonly per_pair: readonly TableRow[];
  readonly per_enter_tag: readonly TableRow[];
  readonly per_exit_reason: readonly TableRow[];
  /** Key: enter tag, ` / `, exit reason. */
  readonly per_enter_tag_and_exit_reason: readonly TableRow[];
  readonly per_side: readonly TableRow[];
  /** Trades closed only because the data ended, per pair. */
  readonly left_open: readonly TableRow[];
}

export interface TableContext {
  /** Starting balance, quote currency. */
  readonly wallet: number;
  /** Whole days of the run, at least 1. */
  readonly days: number;
  /** Metrics of all the trades. */
  readonly total: TradeMetrics;
}

export function buildTables(
  trades: readonly Trade[],
  pairs: readonly string[],
  context: TableContext,
): ReportTables {
  const tagOf = (trade: Trade) => trade.enterTag ?? NO_TAG;
  const table = (keyOf: (trade: Trade) => string, keys: readonly string[] = []) =>
    groupTable(trades, keyOf, keys, context);
  const leftOpen = trades.filter((trade) => trade.leftOpen);
  return {
    per_pair: table((trade) => trade.pair, pairs),
    per_enter_tag: table(tagOf),
    per_exit_reason: table((trade) => trade.exitReason),
    per_enter_tag_and_exit_reason: table((trade) => `${tagOf(trade)} / ${trade.exitReason}`),
    per_side: table((trade) => trade.side, ['long', 'short']),
    left_open: groupTable(leftOpen, (trade) => trade.pair, [], {
      ...context,
      total: tradeMetrics(leftOpen, context.wallet, context.days),
    }),
  };
}

/**
 * One row a group, the largest total profit first (equal ones by key), then the row of all.
 *
 * @param keys groups that have a row even without trades
 */
function groupTable(
  trades: readonly Trade[],
  keyOf: (trade: Trade) => string,
  keys: readonly string[],
  context: TableContext,
): TableRow[] {
  const rows = [...groupTrades(trades, keyOf, keys)].map(([key, group]) => ({
    key,
    ...tradeMetrics(group, context.wallet, context.days),
  }));
  rows.sort((a, b) => b.total_profit - a.total_profit || (a.key < b.key ? -1 : 1));
  return [...rows, { key: TOTAL, ...context.total }];
}

/** Trades by key; the given keys come first, in their order. */
export function groupTrades(
  trades: readonly Trade[],
  keyOf: (trade: Trade) => string,
  keys: readonly string[],
): Map<string, Trade[]> {
  const groups = new Map<string, Trade[]>(keys.map((key) => [key, []]));
  for (const trade of trades) {
    const key = keyOf(trade);
    const group = groups.get(key);
    if (group) group.push(trade);
    else groups.set(key, [trade]);
  }
  return groups;
}
