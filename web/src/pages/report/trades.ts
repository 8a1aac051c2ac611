import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { ApiError, type ResponseOf } from '../../api/client.ts';
import { queryOf, retryFailed } from '../../api/queries.ts';
import type { ReportData } from './data.ts';
import type { ReportSearch } from './search.ts';

type Page = ResponseOf<'listBacktestTrades'>;
type Columns = Extract<Page, { readonly columns: unknown }>['columns'];
/** A trade; times in Unix seconds. */
export type TradeRow = {
  readonly [K in Exclude<keyof Columns, 'orders'>]: Columns[K][number];
} & { readonly orders?: NonNullable<Columns['orders']>[number] };

/** Trades on a page: the most that the API returns. */
const LIMIT = 5_000;
/** Requests for the trades of a report at most. */
const MAX_PAGES = 200;
/** Name of a trade's tag when it has none, as in the tables of the report. */
export const NO_TAG = '(none)';

interface Combined {
  readonly pages: readonly Page[] | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
}

/** Stable, so that the pages are combined once: when the last one has come. */
function combine(results: readonly UseQueryResult<Page, Error>[]): Combined {
  const isLoaded = results.every(({ data }) => data !== undefined);
  return {
    pages: isLoaded ? results.map(({ data }) => data!) : undefined,
    error: results.find(({ error, data }) => error && data === undefined)?.error ?? null,
    retry: () => retryFailed(results),
  };
}

/** All trades of a backtest in the order of closing; undefined until the last page has come. */
export function useTrades(
  id: string,
  total: number,
): Pick<Combined, 'error' | 'retry'> & { readonly rows: readonly TradeRow[] | undefined } {
  const [limit, setLimit] = useState(LIMIT);
  const pageCount = Math.ceil(total / limit);
  const { pages, error, retry } = useQueries({
    queries: Array.from({ length: pageCount }, (_, index) => ({
      ...queryOf('listBacktestTrades', {
        params: { job_id: id },
        query: { format: 'columns' as const, limit, page: index + 1 },
      }),
      staleTime: Number.POSITIVE_INFINITY,
      // Comparing 5,000 new rows with the old ones costs more than it saves: they never change.
      structuralSharing: false,
    })),
    combine,
  });
  const rows = useMemo(() => pages?.flatMap(rowsOf), [pages]);
  const smaller = smallerLimit(error, limit, total);
  if (smaller !== undefined) setLimit(smaller);
  return { rows, error: smaller === undefined ? error : null, retry };
}

/** Limit that the service asks for, because pages of trades with long tags are too large for a response. */
function smallerLimit(error: Error | null, limit: number, total: number): number | undefined {
  if (!(error instanceof ApiError) || error.code !== 'VAL005' || !('limit' in error.fields)) return undefined;
  const { max } = error.context;
  const isUsable = typeof max === 'number' && max >= 1 && max < limit && total / max <= MAX_PAGES;
  return isUsable ? max : undefined;
}

function rowsOf(page: Page): readonly TradeRow[] {
  if (!('columns' in page)) return [];
  const { columns } = page;
  const names = Object.keys(columns) as (keyof Columns)[];
  return columns.id.map(
    (_, row) => Object.fromEntries(names.map((name) => [name, columns[name]?.[row]])) as TradeRow,
  );
}

type Tables = ReportData['tables'];

/** Trades that match the filters of the URL. */
export function filterTrades(
  rows: readonly TradeRow[],
  { pair, side, reason, tag }: Pick<ReportSearch, 'pair' | 'side' | 'reason' | 'tag'>,
  tables: Tables,
): readonly TradeRow[] {
  if (!pair && !side && !reason && !tag) return rows;
  const hasReason = groupOf(reason, tables.per_exit_reason);
  const hasTag = groupOf(tag, tables.per_enter_tag);
  return rows.filter(
    (row) =>
      (!pair || row.pair === pair) &&
      (!side || row.side === side) &&
      hasReason(row.exit_reason) &&
      hasTag(row.enter_tag ?? NO_TAG),
  );
}

/** Groups of a table, without the sums in its last row. */
export function groupsOf<T>(table: readonly T[]): readonly T[] {
  return table.slice(0, -1);
}

/** Row of the groups that have no row of their own. */
const OTHERS = 'OTHERS';

/** True for a name in a group of a table; for every name without a group. */
function groupOf(group: string | undefined, table: Tables['per_pair']): (name: string) => boolean {
  if (!group) return () => true;
  if (group !== OTHERS) return (name) => name === group;
  const named = new Set(groupsOf(table).map(({ key }) => key));
  return (name) => name === OTHERS || !named.has(name);
}
