import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { call, type ResponseOf } from './client.ts';

/** A stored series with its months. */
export type StoredSeries = ResponseOf<'getCoverage'>['items'][number];

export interface StoredData {
  readonly exchange: string;
  /** Ascending by symbol. */
  readonly series: readonly StoredSeries[];
  /** More symbols are stored than were read. */
  readonly isCut: boolean;
}

/** Symbols of a page, and pages at most. A page is at most 2 MB. */
const PAGE = { limit: 200, most: 5 } as const;
/** The end of a collection refreshes it at once; this is for imports and for what backtests collect. */
const REFRESH_MS = 60_000;

/** Every stored series of an exchange with its coverage by month; of one timeframe if it is given. */
export function useStoredData(exchange: string, timeframe?: string): UseQueryResult<StoredData, Error> {
  return useQuery({
    queryKey: ['getCoverage', { exchange, timeframe }],
    queryFn: ({ signal }) => readAll({ exchange, ...(timeframe ? { timeframe } : {}) }, signal),
    staleTime: REFRESH_MS / 2,
    refetchInterval: REFRESH_MS,
  });
}

async function readAll(
  query: { readonly exchange: string; readonly timeframe?: string },
  signal: AbortSignal,
): Promise<StoredData> {
  const series: StoredSeries[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGE.most; page++) {
    const read: ResponseOf<'getCoverage'> = await call(
      'getCoverage',
      { query: { ...query, limit: PAGE.limit, ...(cursor ? { cursor } : {}) } },
      { signal },
    );
    series.push(...read.items);
    cursor = read.next_cursor;
    if (cursor === null) break;
  }
  return { exchange: query.exchange, series, isCut: cursor !== null };
}
