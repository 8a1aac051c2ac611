import type { ResponseOf } from '../../api/client.ts';

export type Job = ResponseOf<'getBacktest'>;
export type ReportData = ResponseOf<'getBacktestReport'>;

/** Currency in which the pairs settle; empty when they differ. */
export function quoteOf(pairs: readonly string[]): string {
  const currencies = new Set(pairs.map((pair) => pair.split(':')[1] ?? pair.split('/')[1] ?? ''));
  return currencies.size === 1 ? [...currencies][0]! : '';
}
