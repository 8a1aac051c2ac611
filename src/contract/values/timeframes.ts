/** Timeframes of every strategy, which data collection fetches. */
export const TIMEFRAMES = ['1m', '5m', '15m', '1h', '4h', '1d'] as const;
/** All timeframes, ascending. The others are read by strategies that declare them; collections do not fetch them. */
export const ALL_TIMEFRAMES = [
  '1m',
  '3m',
  '5m',
  '15m',
  '30m',
  '1h',
  '2h',
  '4h',
  '6h',
  '8h',
  '12h',
  '1d',
  '3d',
  '1w',
] as const;
export type Timeframe = (typeof ALL_TIMEFRAMES)[number];
