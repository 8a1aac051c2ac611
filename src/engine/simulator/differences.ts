import type { Outcome, Outcomes } from './trade-table.ts';
import type { Simulation } from './types.ts';

/**
 * Number of trades on which two runs over the same pairs and signals differ, for example under the two fill models. Trades
 * are matched by pair, side and entry time; one differs when the other run lacks it or closed it at another time or price.
 */
export function countFillModelDifferences(
  a: Pick<Simulation, 'outcomes'>,
  b: Pick<Simulation, 'outcomes'>,
): number {
  const { onlyA, onlyB } = walk(a.outcomes, b.outcomes);
  const unmatched = new Map(onlyB.map((trade) => [entryOf(trade), trade]));
  let differences = 0;
  for (const trade of onlyA) {
    const entry = entryOf(trade);
    const other = unmatched.get(entry);
    unmatched.delete(entry);
    if (!other || !isSameExit(trade, other)) differences++;
  }
  return differences + unmatched.size;
}

/**
 * Walks both in their order of closing past equal trades, which are most of them. Returns the others of each run.
 */
function walk(a: Outcomes, b: Outcomes): { onlyA: Outcome[]; onlyB: Outcome[] } {
  const onlyA: Outcome[] = [];
  const onlyB: Outcome[] = [];
  let rowA = 0;
  let rowB = 0;
  while (rowA < a.length && rowB < b.length) {
    const tradeA = a.at(rowA);
    const tradeB = b.at(rowB);
    const same = isSameEntry(tradeA, tradeB) && isSameExit(tradeA, tradeB);
    const behind = tradeA.closedAt - tradeB.closedAt;
    if (!same && behind <= 0) onlyA.push(tradeA);
    if (!same && behind >= 0) onlyB.push(tradeB);
    if (same || behind <= 0) rowA++;
    if (same || behind >= 0) rowB++;
  }
  for (; rowA < a.length; rowA++) onlyA.push(a.at(rowA));
  for (; rowB < b.length; rowB++) onlyB.push(b.at(rowB));
  return { onlyA, onlyB };
}

function isSameEntry(a: Outcome, b: Outcome): boolean {
  return a.openedAt === b.openedAt && a.side === b.side && a.pair === b.pair;
}

function isSameExit(a: Outcome, b: Outcome): boolean {
  return a.closedAt === b.closedAt && a.exitPrice === b.exitPrice;
}

/** Key of a trade in both runs: a pair has one trade at a time. */
function entryOf({ pair, side, openedAt }: Outcome): string {
  return `${openedAt} ${side} ${pair}`;
}
