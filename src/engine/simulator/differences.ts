import type { Simulation, Trade } from './types.ts';

/**
 * Number of trades on which two runs over the same pairs and signals differ, for example under the two fill models. Trades
 * are matched by pair, side and entry time; one differs when the other run lacks it or closed it at another time or price.
 */
export function countFillModelDifferences(
  a: Pick<Simulation, 'trades'>,
  b: Pick<Simulation, 'trades'>,
): number {
  const unmatched = new Map(b.trades.map((trade) => [entryOf(trade), trade]));
  let differences = 0;
  for (const trade of a.trades) {
    const other = unmatched.get(entryOf(trade));
    unmatched.delete(entryOf(trade));
    if (other?.closedAt !== trade.closedAt || other.exitPrice !== trade.exitPrice) differences++;
  }
  return differences + unmatched.size;
}

function entryOf({ pair, side, openedAt }: Trade): string {
  return `${pair} ${side} ${openedAt}`;
}
