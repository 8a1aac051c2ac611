import type { ReportTables } from '#contract/report.ts';
import type { TableRow } from '#contract/report-metrics.ts';
import type { ComputedMetrics } from '#engine/metrics/metrics.ts';
import { pickOutcomes } from '#engine/metrics/trade-columns.ts';
import { type TradeMetrics, tradeMetrics } from '#engine/metrics/trade-metrics.ts';
import { type TextColumn, textAt } from '#engine/simulator/trade-table.ts';

/** Key of the last row of every table. */
export const TOTAL = 'TOTAL';

/** Rows of a table, TOTAL left out: strategies may give every trade a tag or a reason of its own. */
const MAX_ROWS = 200;

/** Key of the row that holds the groups beyond {@link MAX_ROWS}. */
const OTHERS = 'OTHERS';

/** Key of trades whose entry carried no tag. */
export const NO_TAG = '(none)';

/**
 * @param pairs every pair of the run
 * @param wallet starting balance, quote currency
 */
export function buildTables(
  pairs: readonly string[],
  wallet: number,
  computed: Pick<ComputedMetrics, 'trades' | 'total' | 'days'>,
): ReportTables {
  const { trades, days, total } = computed;
  const known = new Map<readonly number[], TradeMetrics>();
  const metricsOf = (rows: readonly number[]) => {
    if (rows.length === trades.length) return total;
    const metrics = known.get(rows) ?? tradeMetrics(pickOutcomes(trades, rows), wallet, days);
    known.set(rows, metrics);
    return metrics;
  };
  const table = (groups: ReadonlyMap<string, readonly number[]>) => [
    ...tableRows(groups, metricsOf),
    { key: TOTAL, ...total },
  ];
  const { pair, side, exitReason } = trades;
  const enterTag = { ...trades.enterTag, texts: trades.enterTag.texts.map((tag) => tag ?? NO_TAG) };
  const all = [...trades.profit.keys()];
  const leftOpen = all.filter((row) => trades.leftOpen[row] === 1);
  const perTag = groupRows(all, enterTag);
  const perReason = groupRows(all, exitReason);
  return {
    per_pair: table(groupRows(all, pair, pairs)),
    per_enter_tag: table(perTag),
    per_exit_reason: table(perReason),
    per_enter_tag_and_exit_reason: table(
      perTag.size === 1
        ? prefixed([...perTag.keys()][0]!, perReason)
        : groupRows(all, combined(enterTag, exitReason)),
    ),
    per_side: table(groupRows(all, side, ['long', 'short'])),
    left_open: [...tableRows(groupRows(leftOpen, pair), metricsOf), { key: TOTAL, ...metricsOf(leftOpen) }],
  };
}

/** The groups of a run whose trades have one tag, by both: most strategies give none, and their metrics are known by then. */
function prefixed(tag: string, perReason: ReadonlyMap<string, number[]>): Map<string, number[]> {
  return new Map([...perReason].map(([reason, rows]) => [both(tag, reason), rows]));
}

const both = (tag: string, reason: string) => `${tag} / ${reason}`;

/** Both texts of each row. */
function combined(left: TextColumn, right: TextColumn): TextColumn {
  const places = new Map<number, number>();
  const texts: string[] = [];
  const index = new Uint32Array(left.index.length);
  for (let row = 0, { length } = index; row < length; row++) {
    const code = left.index[row]! * right.texts.length + right.index[row]!;
    let place = places.get(code);
    if (place === undefined) {
      place = texts.push(both(textAt(left, row), textAt(right, row))) - 1;
      places.set(code, place);
    }
    index[row] = place;
  }
  return { texts, index };
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
 * Rows by their text.
 *
 * @param keys groups that there are even without rows; they come first, in their order
 */
function groupRows(
  rows: readonly number[],
  { texts, index }: TextColumn,
  keys: readonly string[] = [],
): Map<string, number[]> {
  const groups = new Map<string, number[]>(keys.map((key) => [key, []]));
  // A text may stand in two places: a tag that reads as the absence of one.
  const byPlace: (number[] | undefined)[] = texts.map((text) => groups.get(text));
  for (const row of rows) {
    const place = index[row]!;
    const group = byPlace[place];
    if (group) {
      group.push(row);
      continue;
    }
    const known = groups.get(texts[place]!) ?? [];
    known.push(row);
    groups.set(texts[place]!, known);
    byPlace[place] = known;
  }
  return groups.size > MAX_ROWS ? mergeSmallest(groups) : groups;
}

/** The groups with the most trades, and all others as one; a group that is named as they are is one of them. */
function mergeSmallest(groups: ReadonlyMap<string, number[]>): Map<string, number[]> {
  const others = groups.get(OTHERS) ?? [];
  const largest = [...groups].filter(([key]) => key !== OTHERS).sort(([, a], [, b]) => b.length - a.length);
  const rest = largest.splice(MAX_ROWS - 1).flatMap(([, rows]) => rows);
  return new Map([...largest, [OTHERS, [...others, ...rest].sort((a, b) => a - b)]]);
}
