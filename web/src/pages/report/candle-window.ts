import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useRef } from 'react';
import { call, isFile, type ResponseOf } from '../../api/client.ts';
import type { Bars } from '../../charts/candles.tsx';

type Candles = ResponseOf<'getCandles'>;

/** Candles of the first request: enough for several screens, and about 100 KB. */
const PAGE = 2_000;
/** The most that the API returns. */
const MAX_PAGE = 10_000;

const UNITS: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400, w: 604_800, M: 2_592_000 };

/** Seconds of a candle; of a month 30 days. */
export function timeframeSeconds(timeframe: string): number {
  return Number.parseInt(timeframe, 10) * (UNITS[timeframe.slice(-1)] ?? 60);
}

interface Window {
  readonly exchange: string;
  readonly symbol: string;
  readonly timeframe: string;
  /** Range of the backtest, ISO 8601. */
  readonly from: string;
  readonly to: string;
  /** Trade that must be loaded; without one the end of the range. */
  readonly around: { readonly opened_at: number; readonly closed_at: number } | undefined;
}

interface Loaded {
  readonly bars: Bars | undefined;
  readonly error: Error | null;
  readonly retry: () => void;
  readonly load: (edge: 'before' | 'after') => void;
}

/** Part of a page's range: Unix seconds, `to` exclusive. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Candles around a trade, and more to either side on demand. */
export function useCandles(window: Window): Loaded {
  const { exchange, symbol, timeframe, around } = window;
  const step = timeframeSeconds(timeframe);
  const start = Math.floor(Date.parse(window.from) / 1_000);
  const end = Math.ceil(Date.parse(window.to) / 1_000);
  const first = useFirstSpan(`${symbol} ${timeframe}`, { start, end, step }, around);
  const query = useInfiniteQuery({
    queryKey: ['getCandles', { exchange, symbol, timeframe, start, end, first: first.from }],
    queryFn: ({ pageParam, signal }) =>
      call(
        'getCandles',
        {
          query: {
            exchange,
            symbol,
            timeframe,
            ...(symbol.includes(':') ? {} : { trading_mode: 'spot' as const }),
            from: iso(pageParam.from),
            to: iso(pageParam.to),
            limit: MAX_PAGE,
          },
        },
        { signal },
      ),
    initialPageParam: first,
    getPreviousPageParam: (_page, pages, { from }) =>
      from > start && !isFile()
        ? { from: Math.max(start, from - sizeAfter(pages) * step), to: from }
        : undefined,
    getNextPageParam: (_page, pages, { to }) =>
      to < end && !isFile() ? { from: to, to: Math.min(end, to + sizeAfter(pages) * step) } : undefined,
    staleTime: Number.POSITIVE_INFINITY,
    structuralSharing: false,
  });
  const latest = useRef(query);
  latest.current = query;
  const load = useCallback((edge: 'before' | 'after') => {
    const { isFetching, hasPreviousPage, hasNextPage, fetchPreviousPage, fetchNextPage } = latest.current;
    if (isFetching) return;
    if (edge === 'before' && hasPreviousPage) void fetchPreviousPage();
    if (edge === 'after' && hasNextPage) void fetchNextPage();
  }, []);
  const pages = query.data?.pages;
  const bars = useMemo(() => pages && barsOf(pages), [pages]);
  return { bars, error: bars ? null : query.error, retry: () => void query.refetch(), load };
}

/**
 * Range that is loaded first. It stays while the selected trade is near it, so that stepping to the next trade of a pair does not
 * load again what is there.
 */
function useFirstSpan(
  key: string,
  { start, end, step }: { readonly start: number; readonly end: number; readonly step: number },
  around: Window['around'],
): Span {
  const kept = useRef<{ readonly key: string; readonly span: Span }>(undefined);
  const span = kept.current?.key === key ? kept.current.span : undefined;
  const isInside = !around || (span && around.opened_at >= span.from && around.closed_at < span.to);
  if (!span || !isInside) {
    const wanted = around ?? { opened_at: end, closed_at: end };
    const held = wanted.closed_at - wanted.opened_at;
    // A file has the candles around a trade, or none.
    const space = isFile() ? 0 : Math.max(PAGE * step, held) / 2;
    const grid = (time: number) => Math.floor(time / step) * step;
    kept.current = {
      key,
      span: {
        from: Math.max(start, grid(wanted.opened_at - space)),
        to: Math.min(end, grid(wanted.closed_at + space) + step),
      },
    };
  }
  return kept.current!.span;
}

/** Candles of the next request: as many as are loaded, so that zooming out over a long range takes few of them. */
function sizeAfter(pages: readonly Candles[]): number {
  const loaded = pages.reduce((sum, { count }) => sum + count, 0);
  return Math.min(MAX_PAGE, Math.max(PAGE, loaded));
}

function iso(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

function barsOf(pages: readonly Candles[]): Bars {
  const column = (name: keyof Bars) => pages.flatMap((page) => page[name]);
  return {
    times: column('times'),
    open: column('open'),
    high: column('high'),
    low: column('low'),
    close: column('close'),
    volume: column('volume'),
  };
}
