import type { Trade } from '#engine/simulator/types.ts';

/** What a trade came to: all that the metrics of a group of trades read. Columns of equal length. */
export interface OutcomeColumns {
  /** After fees and funding, quote currency. */
  readonly profit: Float64Array;
  /** On the collateral. */
  readonly profitRatio: Float64Array;
  /** From the entry candle's open to the exit candle's open. */
  readonly minutes: Float64Array;
}

/**
 * Closed trades as columns, in the order of closing. Metrics add up one number of all trades at a time: walking the
 * objects, which are spread over memory, for each of them would take most of a report's time.
 */
export interface TradeColumns extends OutcomeColumns {
  /** Open time of the exit candle, ms. */
  readonly closedAt: Float64Array;
  readonly stake: Float64Array;
  readonly leverage: Float64Array;
  /** Quote currency moved by entry and exit, before fees. */
  readonly volume: Float64Array;
  readonly fees: Float64Array;
  readonly slippageCost: Float64Array;
  readonly funding: Float64Array;
  /** 1 for a trade that was closed only because the data ended. */
  readonly leftOpen: Uint8Array;
}

export function tradeColumns(trades: readonly Trade[]): TradeColumns {
  const column = () => new Float64Array(trades.length);
  const columns = {
    profit: column(),
    profitRatio: column(),
    minutes: column(),
    closedAt: column(),
    stake: column(),
    leverage: column(),
    volume: column(),
    fees: column(),
    slippageCost: column(),
    funding: column(),
    leftOpen: new Uint8Array(trades.length),
  };
  for (let row = 0; row < trades.length; row++) {
    const trade = trades[row]!;
    columns.profit[row] = trade.profit;
    columns.profitRatio[row] = trade.profitRatio;
    columns.minutes[row] = durationMinutes(trade);
    columns.closedAt[row] = trade.closedAt;
    columns.stake[row] = trade.stake;
    columns.leverage[row] = trade.leverage;
    columns.volume[row] = trade.amount * (trade.entryPrice + trade.exitPrice);
    columns.fees[row] = trade.fees;
    columns.slippageCost[row] = trade.slippageCost;
    columns.funding[row] = trade.funding;
    columns.leftOpen[row] = trade.leftOpen ? 1 : 0;
  }
  return columns;
}

/** The outcomes of the trades in `rows`, in their order. */
export function pickOutcomes(columns: OutcomeColumns, rows: readonly number[]): OutcomeColumns {
  const profit = new Float64Array(rows.length);
  const profitRatio = new Float64Array(rows.length);
  const minutes = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i]!;
    profit[i] = columns.profit[row]!;
    profitRatio[i] = columns.profitRatio[row]!;
    minutes[i] = columns.minutes[row]!;
  }
  return { profit, profitRatio, minutes };
}

/** Minutes from the entry candle's open to the exit candle's open. */
export function durationMinutes(trade: Trade): number {
  return (trade.closedAt - trade.openedAt) / 60_000;
}
