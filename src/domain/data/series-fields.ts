import type { SeriesInfo } from '../ports.ts';
import { missingIn } from './gaps/explain-gaps.ts';

/** What every answer says of a stored series. */
export function seriesFields(info: SeriesInfo) {
  const { symbol, timeframe, first, last, count, gap_count, updated_at } = info;
  const missing = missingIn(info);
  return {
    symbol,
    timeframe,
    first,
    last,
    count,
    gap_count,
    missing_candles: missing.no_trades + missing.damage,
    missing: { ...missing },
    imported: info.imported === true,
    calendar: info.calendar ?? null,
    updated_at,
  };
}
