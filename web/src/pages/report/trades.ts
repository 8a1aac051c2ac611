import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { queryOf } from '../../api/queries.ts';
import type { ReportSearch } from './search.ts';

type Page = ResponseOf<'listBacktestTrades'>;
type Columns = Extract<Page, { readonly columns: unknown }>['columns'];
/** A trade; times in Unix seconds. */
export type TradeRow = { readonly [K in keyof Columns]: Columns[K][number] };

/** Trades on a page: the most that the API returns. */
const LIMIT = 5_000;
/** Name of a trade's tag when it has none, as in the tables of the report. */
export const NO_TAG = '(none)';

interface Combined {
  readonly pages: readonly Page[] | undefined;
  readonly loaded: number;
  readonly error: Error | null;
}

/** Stable, so that the pages are combined once: when the last one has come. */
function combine(results: readonly UseQueryResult<Page, Error>[]): Combined {
  const loaded = results.filter(({ data }) => data !== undefined).length;
  return {
    pages: loaded === results.length ? results.map(({ data }) => data!) : undefined,
    loaded,
    error: results.find(({ error, data }) => error && data === undefined)?.error ?? null,
  };
}

/** All trades of a backtest in the order of closing; undefined until the last page has come. */
export function useTrades(
  id: string,
  total: number,
): { readonly rows: readonly TradeRow[] | undefined; readonly error: Error | null } {
  const pageCount = Math.ceil(total / LIMIT);
  const { pages, error } = useQueries({
    queries: Array.from({ length: pageCount }, (_, index) => ({
      ...queryOf('listBacktestTrades', {
        params: { job_id: id },
        query: { format: 'columns' as const, limit: LIMIT, page: index + 1 },
      }),
      staleTime: Number.POSITIVE_INFINITY,
      // Comparing 5,000 new rows with the old ones costs more than it saves: they never change.
      structuralSharing: false,
    })),
    combine,
  });
  const rows = useMemo(() => pages?.flatMap(rowsOf), [pages]);
  return { rows, error };
}

function rowsOf(page: Page): readonly TradeRow[] {
  if (!('columns' in page)) return [];
  const { columns } = page;
  const names = Object.keys(columns) as (keyof Columns)[];
  return columns.id.map(
    (_, row) => Object.fromEntries(names.map((name) => [name, columns[name][row]])) as TradeRow,
  );
}

/** Trades that match the filters of the URL. */
export function filterTrades(
  rows: readonly TradeRow[],
  { pair, side, reason, tag }: ReportSearch,
): readonly TradeRow[] {
  if (!pair && !side && !reason && tag === undefined) return rows;
  return rows.filter(
    (row) =>
      (!pair || row.pair === pair) &&
      (!side || row.side === side) &&
      (!reason || row.exit_reason === reason) &&
      (tag === undefined || (row.enter_tag ?? NO_TAG) === tag),
  );
}
