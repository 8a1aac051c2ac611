import { TIMEFRAMES, type Timeframe } from '#contract/limits.ts';

/** Length of each supported timeframe in milliseconds. */
export const TIMEFRAME_MS = {
  '1m': 60_000,
  '5m': 300_000,
  '15m': 900_000,
  '1h': 3_600_000,
  '4h': 14_400_000,
  '1d': 86_400_000,
} as const satisfies Readonly<Record<Timeframe, number>>;

export { TIMEFRAMES, type Timeframe };

export const DAY_MS = 86_400_000;

/** True if `text` is a supported timeframe. */
export function isTimeframe(text: string): text is Timeframe {
  return Object.hasOwn(TIMEFRAME_MS, text);
}
