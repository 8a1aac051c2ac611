import type { SeriesInfo, SeriesStore } from '../ports.ts';
import { isoTime } from '../validate.ts';

interface SeriesStatus
  extends Omit<SeriesInfo, 'exchange' | 'gaps' | 'longest_unlisted' | 'complete_from' | 'damaged'> {
  /** Holes by open time of the first missing candle. */
  readonly gaps: readonly { readonly start: string; readonly missing: number }[];
  /** Nothing exists between this time and `first`; null while nobody knows. */
  readonly complete_from: string | null;
  /** Months whose file was found damaged. */
  readonly damaged: readonly string[];
}

export interface DataStatusReport {
  readonly exchange: string;
  /** Ascending by symbol. */
  readonly series: readonly SeriesStatus[];
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
  const series = stored.map(
    ({ exchange: _, longest_unlisted: _l, gaps, complete_from = null, damaged = [], ...info }) => ({
      ...info,
      gaps: gaps.map(([start, missing]) => ({ start: isoTime(start), missing })),
      complete_from,
      damaged,
    }),
  );
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
