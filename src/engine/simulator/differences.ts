import type { Outcome, Simulation } from './types.ts';

/**
 * Number of trades on which two runs over the same pairs and signals differ, for example under the two fill models. Trades
 * are matched by pair, side and entry time; one differs when the other run lacks it or closed it at another time or price.
 */
export function countFillModelDifferences(
  a: Pick<Simulation, 'outcomes'>,
  b: Pick<Simulation, 'outcomes'>,
): number {
  const unmatched = new Map<string, Map<number, Outcome>>();
  const entriesOf = (pair: string) => {
    const entries = unmatched.get(pair) ?? new Map<number, Outcome>();
    unmatched.set(pair, entries);
    return entries;
  };
  b.outcomes.visit((trade) => entriesOf(trade.pair).set(entryOf(trade), trade));
  let differences = 0;
  a.outcomes.visit((trade) => {
    const entries = entriesOf(trade.pair);
    const other = entries.get(entryOf(trade));
    entries.delete(entryOf(trade));
    if (other?.closedAt !== trade.closedAt || other.exitPrice !== trade.exitPrice) differences++;
  });
  for (const entries of unmatched.values()) differences += entries.size;
  return differences;
}

/** Side and time of an entry as one number: times are whole milliseconds. A text would take five times as long. */
function entryOf({ side, openedAt }: Outcome): number {
  return side === 'long' ? openedAt : openedAt + 0.5;
}
