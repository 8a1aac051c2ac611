import type { Universe } from '#contract/config/universe.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import type { Rebalance } from '#contract/values/universe-limits.ts';
import { floorToGrid } from '../timeframe.ts';
import type { DailyVolumes } from './daily-volumes.ts';

/** Time in which a pair is in a universe, ms; `to` is exclusive. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** End of a pair that was delisted within the run. */
export interface Delisting {
  /** Close of its last candle, ms. */
  readonly at: number;
  /** Ratio by which its positions are closed below the last close, or above it for shorts. */
  readonly haircut: number;
}

/** Times in which a pair may be entered, and its end; absent: it is traded to the end of the run. */
export interface PairMembership {
  readonly intervals: readonly Interval[];
  readonly delisting?: Delisting;
}

/** Intervals of each pair that was ever in, ascending. */
export type Membership = ReadonlyMap<string, readonly Interval[]>;

/** Latest rebalance at or before `time`, ms. The grid is the calendar's: runs of different ranges choose at the same times. */
function lastRebalance(rebalance: Rebalance, time: number): number {
  if (rebalance === 'monthly') return Date.UTC(new Date(time).getUTCFullYear(), new Date(time).getUTCMonth());
  return floorToGrid(time, rebalance === 'weekly' ? 7 * DAY_MS : DAY_MS);
}

function nextRebalance(rebalance: Rebalance, at: number): number {
  if (rebalance === 'monthly') return Date.UTC(new Date(at).getUTCFullYear(), new Date(at).getUTCMonth() + 1);
  return at + (rebalance === 'weekly' ? 7 * DAY_MS : DAY_MS);
}

/** First day whose volume a run reads, ms: the first choice may be before its start. */
export function firstVolumeDay({ rebalance, lookback_days }: Universe, start: number): number {
  return lastRebalance(rebalance, start) - lookback_days * DAY_MS;
}

/** `from` (ms), or the earlier time from which the universe of a run needs candles. */
export function withUniverseDays(
  {
    universe,
    date_range,
  }: { readonly universe?: Universe | undefined; readonly date_range: { readonly start: string } },
  from: number,
): number {
  return universe ? Math.min(from, firstVolumeDay(universe, Date.parse(date_range.start))) : from;
}

/**
 * The pairs that are in from `time`, ms at 00:00 UTC, by descending volume, those of equal volume by symbol. Only days before
 * `time` are read. A pair without a candle on the day before has stopped trading, or has not begun.
 */
export function membersAt(
  { n, lookback_days, min_age_days }: Universe,
  candidates: readonly DailyVolumes[],
  time: number,
): string[] {
  const ranked = candidates.flatMap(({ pair, first, start, value, candles }) => {
    const end = Math.round((time - start) / DAY_MS);
    if (!candles[end - 1] || time - first < min_age_days * DAY_MS) return [];
    let volume = 0;
    for (let day = Math.max(0, end - lookback_days); day < end; day++) volume += value[day]!;
    return volume > 0 ? [{ pair, volume }] : [];
  });
  ranked.sort((a, b) => b.volume - a.volume || (a.pair < b.pair ? -1 : 1));
  return ranked.slice(0, n).map(({ pair }) => pair);
}

/** Choices of a run over [start, end), ms, and the membership that follows from them. */
export function chooseOver(
  universe: Universe,
  candidates: readonly DailyVolumes[],
  { start, end }: { readonly start: number; readonly end: number },
): { membership: Membership; rebalances: number; short: number } {
  const membership = new Map<string, { from: number; to: number }[]>();
  let rebalances = 0;
  let short = 0;
  for (let at = lastRebalance(universe.rebalance, start); at < end; ) {
    const next = nextRebalance(universe.rebalance, at);
    const members = membersAt(universe, candidates, at);
    rebalances++;
    if (members.length < universe.n) short++;
    for (const pair of members) {
      const own = membership.get(pair) ?? [];
      const last = own.at(-1);
      if (last?.to === at) last.to = Math.min(next, end);
      else own.push({ from: Math.max(at, start), to: Math.min(next, end) });
      membership.set(pair, own);
    }
    at = next;
  }
  return { membership, rebalances, short };
}
