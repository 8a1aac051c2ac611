import type { JobIn, ResultsLocation } from '#contract/backtests/backtest.ts';
import type {
  BacktestTrades,
  BacktestTradesQuery,
  TradeSortField,
} from '#contract/backtests/backtest-trades.ts';
import type { Trade } from '#contract/backtests/report.ts';
import { NO_TAG, TRADES_LIMITS, TRADES_PER_PAGE } from '#contract/values/backtest-limits.ts';
import { CodedError } from '#contract/values/errors.ts';
import { MAX_RESPONSE_BYTES } from '#contract/values/request-limits.ts';
import { groupOf } from '#engine/report/positions.ts';
import { tradeRecord } from '#engine/report/trades.ts';
import { type TextColumn, type TradeNumber, type TradeTable, textAt } from '#engine/simulator/trade-table.ts';
import { parseRange, type TimeRange } from '../data/time-range.ts';
import type { JobStore, ResultStore } from '../ports.ts';
import { checkPage, getCompletedBacktest } from './get-backtest.ts';
import { allPages, readTradePages, tradeColumns } from './stored-trades.ts';

/**
 * One page of the trades that match. Without filters and in stored order it reads the pages with these trades only. Else it
 * reads all pages twice at most: first to select trades, of which it keeps number and sort key, then those with the result.
 * Memory so depends on the number of trades and not on their size.
 *
 * Throws RES001, RES005 (not completed), RES006, VAL001 for invalid times, VAL005 for a page beyond the last and for a limit whose
 * page would be too large for a response, DATA005.
 */
export async function listBacktestTrades(
  deps: { readonly jobs: JobStore; readonly results: ResultStore },
  jobId: string,
  query: BacktestTradesQuery,
): Promise<BacktestTrades> {
  const range = parseRange({ start: query.from, end: query.to }, ['from', 'to']);
  const job = await getCompletedBacktest(deps, jobId);
  const filters = filtersOf(query, range);
  const inOrder = query.sort === 'id' && filters.length === 0;
  const selected = inOrder ? undefined : await selectTrades(deps.results, job.results, filters, query.sort);
  const { page, limit } = query;
  const total = selected?.length ?? job.result.total_trades;
  const pages = Math.ceil(total / limit);
  checkPage(page, pages);
  const from = (page - 1) * limit;
  const ids =
    selected?.slice(from, from + limit) ??
    Array.from({ length: Math.max(0, Math.min(limit, total - from)) }, (_, index) => from + index + 1);
  const trades = await readTrades(deps.results, job, ids);
  const content = query.format === 'columns' ? { columns: tradeColumns(trades) } : { items: trades };
  checkBytes(content, trades.length, limit);
  return { ...content, page, pages, total };
}

/** Trades may have many orders, and long tags. */
function checkBytes(content: object, count: number, limit: number): void {
  // The host puts the text into a string of JSON.
  const bytes = Buffer.byteLength(JSON.stringify(JSON.stringify(content)));
  if (bytes <= MAX_RESPONSE_BYTES) return;
  const { min } = TRADES_LIMITS;
  // Half of what would fit: other pages may have longer texts.
  const max = Math.max(min, Math.floor((count * MAX_RESPONSE_BYTES) / bytes / 2));
  throw new CodedError('VAL005', {
    message: `limit must be at most ${max}: these trades have long tags or many orders, and the page would exceed 5 MB`,
    field: 'limit',
    context: { value: limit, min, max },
  });
}

/** True for a row of the table that passes. Made for each table: strings are compared once for each different one. */
type Filter = (table: TradeTable) => (row: number) => boolean;

function filtersOf(
  { pair, side, exit_reason, enter_tag, group, time }: BacktestTradesQuery,
  { start = Number.NEGATIVE_INFINITY, end = Number.POSITIVE_INFINITY }: TimeRange,
): Filter[] {
  const filters: Filter[] = [];
  const text = (name: 'pair' | 'side' | 'exitReason' | 'enterTag', passes: (text: string) => boolean) =>
    filters.push((table) => {
      const { texts, index }: TextColumn<string | null> = table[name];
      const wanted = texts.map((each) => passes(each ?? NO_TAG));
      return (row) => wanted[index[row]!]!;
    });
  if (pair) text('pair', (each) => pair.includes(each));
  if (side) text('side', (each) => each === side);
  if (exit_reason !== undefined) text('exitReason', (each) => each === exit_reason);
  if (enter_tag !== undefined) text('enterTag', (each) => each === enter_tag);
  if (group !== undefined) text('enterTag', (each) => groupOf(each) === group);
  if (start === Number.NEGATIVE_INFINITY && end === Number.POSITIVE_INFINITY) return filters;
  filters.push(({ openedAt, closedAt }) => {
    const earliest = time === 'opened_at' ? openedAt : closedAt;
    const latest = time === 'closed_at' ? closedAt : openedAt;
    return (row) => earliest[row]! >= start && latest[row]! < end;
  });
  return filters;
}

/** Column of a sort field, where it is a number of the table. */
const NUMBERS: Readonly<Partial<Record<TradeSortField, TradeNumber>>> = {
  opened_at: 'openedAt',
  closed_at: 'closedAt',
  entry_price: 'entryPrice',
  exit_price: 'exitPrice',
  amount: 'amount',
  stake: 'stake',
  leverage: 'leverage',
  fees: 'fees',
  slippage_cost: 'slippageCost',
  funding: 'funding',
  profit: 'profit',
  profit_pct: 'profitRatio',
};

const TEXTS = { pair: 'pair', side: 'side', enter_tag: 'enterTag', exit_reason: 'exitReason' } as const;

type Key = number | string | null;

/** Sort key of each row of a table. */
function keysOf(table: TradeTable, field: TradeSortField): (row: number) => Key {
  const number = NUMBERS[field];
  if (number) return (row) => table[number][row]!;
  if (field === 'duration_minutes') return (row) => table.closedAt[row]! - table.openedAt[row]!;
  if (field === 'id') return () => 0;
  const column: TextColumn<string | null> = table[TEXTS[field as keyof typeof TEXTS]];
  return (row) => textAt(column, row);
}

/** Ids of the trades that pass all filters, sorted. */
async function selectTrades(
  results: ResultStore,
  location: ResultsLocation,
  filters: readonly Filter[],
  sort: BacktestTradesQuery['sort'],
): Promise<number[]> {
  const isDescending = sort.startsWith('-');
  const field = sort.replace('-', '') as TradeSortField;
  const found: { readonly id: number; readonly key: Key }[] = [];
  for await (const { first, table } of readTradePages(results, location, allPages(location))) {
    const passes = filters.map((filter) => filter(table));
    const keyOf = keysOf(table, field);
    for (let row = 0; row < table.length; row++) {
      if (passes.every((each) => each(row))) found.push({ id: first + row + 1, key: keyOf(row) });
    }
  }
  if (field === 'id') return isDescending ? found.map(({ id }) => id).reverse() : found.map(({ id }) => id);
  const sign = isDescending ? -1 : 1;
  found.sort((a, b) => compareKeys(a.key, b.key, sign) || a.id - b.id);
  return found.map(({ id }) => id);
}

/** Null after all others, in both directions. Strings by code units, so that the order depends on no locale. */
function compareKeys(a: Key, b: Key, sign: number): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -sign : sign;
}

/** The trades with these ids, in their order. */
async function readTrades(
  results: ResultStore,
  { results: location }: JobIn<'completed'>,
  ids: readonly number[],
): Promise<Trade[]> {
  const wanted = Map.groupBy(ids, (id) => Math.ceil(id / TRADES_PER_PAGE));
  const trades = new Map<number, Trade>();
  for await (const { first, table, positions } of readTradePages(results, location, [...wanted.keys()])) {
    for (const id of wanted.get(first / TRADES_PER_PAGE + 1)!)
      trades.set(id, tradeRecord(table, id - first - 1, id, positions?.[id - 1]));
  }
  return ids.map((id) => trades.get(id)!);
}
