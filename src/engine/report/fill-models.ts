import type { FillModel, Simulation, Trade } from '#engine/simulator/types.ts';

/** How much the run owes to what its fill model assumes inside a candle. */
export interface FillModelComparison {
  readonly used: FillModel;
  readonly alternative: FillModel;
  /** Trades of this run that the alternative does not have, or ends at another time, price or for another reason. */
  readonly differing_trades: number;
  /** Trades that only the alternative has, because it was free earlier or later. */
  readonly only_in_alternative: number;
  readonly alternative_trades: number;
  readonly alternative_total_profit: number;
  readonly alternative_total_profit_pct: number;
}

/** The other fill model. */
export function alternativeModel(used: FillModel): FillModel {
  return used === 'freqtrade' ? 'conservative' : 'freqtrade';
}

/**
 * Compares the run with the same run under the other fill model. Trades are the same by pair, side and entry candle; sizes
 * are not compared, since one different exit changes every later stake that compounds.
 *
 * @param wallet starting balance, quote currency
 */
export function compareFillModels(
  used: FillModel,
  run: Simulation,
  other: Simulation,
  wallet: number,
): FillModelComparison {
  const others = new Map(other.trades.map((trade) => [entryOf(trade), trade]));
  let differing = 0;
  let shared = 0;
  for (const trade of run.trades) {
    const twin = others.get(entryOf(trade));
    if (twin) shared++;
    if (!twin || !sameFills(trade, twin)) differing++;
  }
  const profit = other.trades.reduce((total, trade) => total + trade.profit, 0);
  return {
    used,
    alternative: alternativeModel(used),
    differing_trades: differing,
    only_in_alternative: other.trades.length - shared,
    alternative_trades: other.trades.length,
    alternative_total_profit: profit,
    alternative_total_profit_pct: (profit / wallet) * 100,
  };
}

const entryOf = (trade: Trade) => `${trade.openedAt} ${trade.side} ${trade.pair}`;

function sameFills(a: Trade, b: Trade): boolean {
  return (
    a.entryPrice === b.entryPrice &&
    a.closedAt === b.closedAt &&
    a.exitPrice === b.exitPrice &&
    a.exitReason === b.exitReason
  );
}
