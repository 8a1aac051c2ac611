import type {
  BacktestPosition,
  BacktestPositions,
  BacktestPositionsQuery,
} from '#contract/backtests/backtest-trades.ts';
import { groupOf } from '#engine/report/positions.ts';
import { isoTime, profitPct } from '#engine/report/trades.ts';
import { textAt } from '#engine/simulator/trade-table.ts';
import type { JobStore, ResultStore } from '../ports.ts';
import { checkPage, getCompletedBacktest } from './get-backtest.ts';
import { allPages, type PositionedPage, readTradePages } from './stored-trades.ts';

/**
 * One page of the positions of a run: trades of a group that overlap in time. Trades without a group are in none.
 * Throws RES001, RES005 (not completed), RES006, VAL005 for a page beyond the last, DATA005.
 */
export async function listBacktestPositions(
  deps: { readonly jobs: JobStore; readonly results: ResultStore },
  jobId: string,
  { page, limit, group }: BacktestPositionsQuery,
): Promise<BacktestPositions> {
  const { results: location } = await getCompletedBacktest(deps, jobId);
  const sums = new Map<number, PositionSum>();
  for await (const stored of readTradePages(deps.results, location, allPages(location)))
    addPage(sums, stored);
  const numbers = [...sums.keys()].sort((a, b) => a - b);
  const wanted = numbers.filter((number) => group === undefined || sums.get(number)!.group === group);
  const pages = Math.ceil(wanted.length / limit);
  checkPage(page, pages);
  const items = wanted.slice((page - 1) * limit, page * limit);
  return {
    items: items.map((number) => positionRecord(number, sums.get(number)!)),
    page,
    pages,
    total: wanted.length,
  };
}

interface PositionSum {
  readonly group: string;
  openedAt: number;
  closedAt: number;
  stake: number;
  profit: number;
  readonly legs: { readonly id: number; readonly openedAt: number; readonly pair: string }[];
}

function addPage(sums: Map<number, PositionSum>, { first, table, positions }: PositionedPage): void {
  if (positions === null) return;
  for (let row = 0; row < table.length; row++) {
    const number = positions[first + row]!;
    if (number === 0) continue;
    const [openedAt, closedAt] = [table.openedAt[row]!, table.closedAt[row]!];
    let sum = sums.get(number);
    if (!sum) {
      const group = groupOf(textAt(table.enterTag, row))!;
      sum = { group, openedAt, closedAt, stake: 0, profit: 0, legs: [] };
      sums.set(number, sum);
    }
    sum.openedAt = Math.min(sum.openedAt, openedAt);
    sum.closedAt = Math.max(sum.closedAt, closedAt);
    sum.stake += table.stake[row]!;
    sum.profit += table.profit[row]!;
    sum.legs.push({ id: first + row + 1, openedAt, pair: textAt(table.pair, row) });
  }
}

function positionRecord(
  position: number,
  { group, openedAt, closedAt, stake, profit, legs }: PositionSum,
): BacktestPosition {
  const pairs = legs.toSorted((a, b) => a.openedAt - b.openedAt || a.id - b.id).map(({ pair }) => pair);
  return {
    position,
    group,
    pairs: [...new Set(pairs)],
    opened_at: isoTime(openedAt),
    closed_at: isoTime(closedAt),
    legs: legs.length,
    trades: legs.map(({ id }) => id),
    stake,
    profit: Math.round(profit * 1e8) / 1e8,
    profit_pct: stake > 0 ? profitPct(profit / stake) : 0,
  };
}
