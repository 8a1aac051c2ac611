import type { FillModelComparison } from '#contract/backtests/report.ts';
import type { FillModel } from '#contract/values/backtest-limits.ts';
import type { Outcome, Outcomes } from '../simulator/trade-table.ts';
import type { Simulation } from '../simulator/types.ts';

/** The fill model that was not used. */
export function alternativeModel(used: FillModel): FillModel {
  return used === 'freqtrade' ? 'conservative' : 'freqtrade';
}

/**
 * Compares the run with its repetition under the other fill model.
 *
 * @param wallet starting balance, quote currency
 */
export function compareFillModels(
  used: FillModel,
  run: Pick<Simulation, 'outcomes' | 'freedLater'>,
  other: Pick<Simulation, 'outcomes' | 'freedLater'>,
  wallet: number,
): FillModelComparison {
  let profit = 0;
  for (let row = 0; row < other.outcomes.length; row++) profit += other.outcomes.at(row).profit;
  const { freedLater } = used === 'freqtrade' ? run : other;
  return {
    used,
    alternative: alternativeModel(used),
    ...compareTrades(run.outcomes, other.outcomes),
    alternative_trades: other.outcomes.length,
    alternative_total_profit: profit,
    alternative_total_profit_pct: (profit / wallet) * 100,
    freed_later_entries: freedLater.entries,
    freed_later_profit: freedLater.profit,
    freed_later_profit_pct: (freedLater.profit / wallet) * 100,
  };
}

type Differences = Pick<FillModelComparison, 'differing_trades' | 'shifted_trades' | 'unmatched_trades'>;

/**
 * Compares the trades of two runs pair by pair. Trades with the same entry time match. Between two matches, before the first and after the
 * last one, the k-th trade of one run and the k-th of the other are the same trade at another time.
 */
export function compareTrades(a: Outcomes, b: Outcomes): Differences {
  if (a === b) return { differing_trades: 0, shifted_trades: 0, unmatched_trades: 0 };
  const count = { differing_trades: 0, shifted_trades: 0, unmatched_trades: 0 };
  const [ofA, ofB] = [byPair(a), byPair(b)];
  for (const pair of new Set([...ofA.keys(), ...ofB.keys()]))
    comparePair(ofA.get(pair) ?? [], ofB.get(pair) ?? [], count);
  return count;
}

function comparePair(a: readonly Outcome[], b: readonly Outcome[], count: Required<Differences>): void {
  let [rowA, rowB, onlyA, onlyB] = [0, 0, 0, 0];
  const settle = () => {
    count.shifted_trades += Math.min(onlyA, onlyB);
    count.unmatched_trades += Math.abs(onlyA - onlyB);
    [onlyA, onlyB] = [0, 0];
  };
  while (rowA < a.length || rowB < b.length) {
    const [tradeA, tradeB] = [a[rowA], b[rowB]];
    const ahead =
      (tradeA?.openedAt ?? Number.POSITIVE_INFINITY) - (tradeB?.openedAt ?? Number.POSITIVE_INFINITY);
    if (ahead === 0) {
      settle();
      if (!isSameExit(tradeA!, tradeB!)) count.differing_trades++;
    } else if (ahead < 0) onlyA++;
    else onlyB++;
    if (ahead <= 0) rowA++;
    if (ahead >= 0) rowB++;
  }
  settle();
}

/** The trades of each pair in the order of their entries; a run has them in the order of closing. */
function byPair(outcomes: Outcomes): Map<string, Outcome[]> {
  const trades = new Map<string, Outcome[]>();
  for (let row = 0; row < outcomes.length; row++) {
    const trade = outcomes.at(row);
    const own = trades.get(trade.pair);
    if (own) own.push(trade);
    else trades.set(trade.pair, [trade]);
  }
  for (const own of trades.values()) own.sort((a, b) => a.openedAt - b.openedAt);
  return trades;
}

function isSameExit(a: Outcome, b: Outcome): boolean {
  return a.closedAt === b.closedAt && a.exitPrice === b.exitPrice && a.exitReason === b.exitReason;
}
