import type { ComputedMetrics } from '#engine/metrics/metrics.ts';
import { pickOutcomes } from '#engine/metrics/trade-columns.ts';
import { type TradeMetrics, tradeMetrics } from '#engine/metrics/trade-metrics.ts';
import type { Trade } from '#engine/simulator/types.ts';

/** One group of trades with the metrics of the group alone. */
type TableRow = { readonly key: string } & TradeMetrics;

/** Key of the last row of every table. */
export const TOTAL = 'TOTAL';

/** Rows of a table, TOTAL left out: strategies may give every trade a tag or a reason of its own. */
const MAX_ROWS = 200;

/** Key of the row that holds the groups beyond {@link MAX_ROWS}. */
const OTHERS = 'OTHERS';

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

/**
 * @param pairs every pair of the run
 * @param wallet starting balance, quote currency
 */
export function buildTables(
  trades: readonly Trade[],
  pairs: readonly string[],
  wallet: number,
  computed: Pick<ComputedMetrics, 'trades' | 'total' | 'days'>,
): ReportTables {
  const { days, total } = computed;
  const metricsOf = (rows: readonly number[]) =>
    rows.length === trades.length ? total : tradeMetrics(pickOutcomes(computed.trades, rows), wallet, days);
  const table = (keyOf: (trade: Trade) => string, keys: readonly string[] = []) => [
    ...tableRows(groupRows(trades, keyOf, keys), metricsOf),
    { key: TOTAL, ...total },
  ];
  const tagOf = (trade: Trade) => trade.enterTag ?? NO_TAG;
  const leftOpen = [...trades.keys()].filter((row) => trades[row]!.leftOpen);
  return {
    per_pair: table((trade) => trade.pair, pairs),
    per_enter_tag: table(tagOf),
    per_exit_reason: table((trade) => trade.exitReason),
    per_enter_tag_and_exit_reason: table((trade) => `${tagOf(trade)} / ${trade.exitReason}`),
    per_side: table((trade) => trade.side, ['long', 'short']),
    left_open: [
      ...tableRows(
        groupRows(trades, (trade) => trade.pair, [], leftOpen),
        metricsOf,
      ),
      { key: TOTAL, ...metricsOf(leftOpen) },
    ],
  };
}

/** One row a group, the largest total profit first; equal ones by key. */
function tableRows(
  groups: ReadonlyMap<string, readonly number[]>,
  metricsOf: (rows: readonly number[]) => TradeMetrics,
): TableRow[] {
  const rows = [...groups].map(([key, group]) => ({ key, ...metricsOf(group) }));
  return rows.sort((a, b) => b.total_profit - a.total_profit || (a.key < b.key ? -1 : 1));
}

/**
 * Rows of the trades by key.
 *
 * @param keys groups that there are even without trades; they come first, in their order
 * @param rows the trades to group; default all
 */
function groupRows(
  trades: readonly Trade[],
  keyOf: (trade: Trade) => string,
  keys: readonly string[],
  rows: Iterable<number> = trades.keys(),
): Map<string, number[]> {
  const groups = new Map<string, number[]>(keys.map((key) => [key, []]));
  for (const row of rows) {
    const key = keyOf(trades[row]!);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return groups.size > MAX_ROWS ? mergeSmallest(groups) : groups;
}

/** The groups with the most trades, and all others as one. */
function mergeSmallest(groups: ReadonlyMap<string, number[]>): Map<string, number[]> {
  const largest = [...groups].sort(([, a], [, b]) => b.length - a.length);
  const others = largest.splice(MAX_ROWS - 1).flatMap(([, rows]) => rows);
  return new Map([...largest, [OTHERS, others.sort((a, b) => a - b)]]);
}
