import type { SeriesInfo, SeriesStore } from '../ports.ts';

export interface DataStatusReport {
  readonly exchange: string;
  /** Ascending by symbol. */
  readonly series: readonly Omit<SeriesInfo, 'exchange'>[];
  readonly count: number;
  /** Candles of all series together. */
  readonly candles: number;
  /** Open time of the newest candle of all; null when none is stored. */
  readonly newest: string | null;
}

/** What is stored of an exchange. Throws DATA005. */
export async function getStatus(
  deps: { readonly series: SeriesStore },
  exchange: string,
): Promise<DataStatusReport> {
  const stored = await deps.series.list(exchange);
  const series = stored.map(({ symbol, timeframe, first, last, count, gap_count, gaps, updated_at }) => ({
    symbol,
    timeframe,
    first,
    last,
    count,
    gap_count,
    gaps,
    updated_at,
  }));
  return {
    exchange,
    series,
    count: series.length,
    candles: series.reduce((sum, each) => sum + each.count, 0),
    // ISO 8601 in UTC sorts as text.
    newest:
      series
        .map((each) => each.last)
        .sort()
        .at(-1) ?? null,
  };
}
