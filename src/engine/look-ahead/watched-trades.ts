import type { Random } from '../random.ts';
import { textAt } from '../simulator/trade-table.ts';
import { inTurn, shuffled } from './cuts.ts';
import type { ObservedRun } from './observe.ts';
import type { WatchedTrade } from './runs.ts';
import { kindOfReason } from './search.ts';

/** Trades whose callbacks are guarded, and the maximum number of candles of each. */
const MAX_WATCHED = 8;
const MAX_WATCHED_ROWS = 200;
const NO_KIND = -1;

/**
 * Trades after the candles near the start, drawn over the whole run; each side, entry tag and exit reason in turn. Callbacks may act
 * there for the first time.
 */
export function watchedTrades(
  { callbacks, table, nearEnd, histories }: ObservedRun,
  random: Random,
): WatchedTrade[] {
  if (callbacks.length === 0) return [];
  const { length, openedAt, closedAt, pair, side, enterTag, exitReason } = table;
  const longest = MAX_WATCHED_ROWS * histories[0]!.stepMs;
  const reasons = exitReason.texts.map((text) => kindOfReason(text));
  const kinds = reasons.map((reason) => reasons.indexOf(reason));
  const { length: tags } = enterTag.texts;
  const kindOf = (row: number) => {
    const opened = openedAt[row]!;
    if (closedAt[row]! < nearEnd || closedAt[row]! - opened > longest) return NO_KIND;
    const entry = side.index[row]! * tags + enterTag.index[row]!;
    return entry * kinds.length + kinds[exitReason.index[row]!]!;
  };
  const byKind = new Map<number, number[]>();
  for (let row = 0; row < length; row++) {
    const kind = kindOf(row);
    if (kind === NO_KIND) continue;
    const rows = byKind.get(kind);
    if (rows) rows.push(row);
    else byKind.set(kind, [row]);
  }
  const queues = shuffled([...byKind.values()], random).map((rows) => drawnOf(rows, MAX_WATCHED, random));
  return inTurn(queues)
    .slice(0, MAX_WATCHED)
    .map((row) => ({ pair: textAt(pair, row), openedAt: openedAt[row]!, closedAt: closedAt[row]! }));
}

/** One element of each of `wanted` equal parts, in random order. */
function drawnOf<T>(values: readonly T[], wanted: number, random: Random): T[] {
  const count = Math.min(wanted, values.length);
  const parts = Array.from({ length: count }, (_, part) => (part + random()) / count);
  return shuffled(parts, random).map((share) => values[Math.floor(share * values.length)]!);
}
