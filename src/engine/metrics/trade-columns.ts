import type { TradeTable } from '#engine/simulator/trade-table.ts';

/** What a trade came to: all that the metrics of a group of trades read. Columns of equal length. */
export interface OutcomeColumns {
  /** After fees and funding, quote currency. */
  readonly profit: Float64Array;
  /** On the collateral. */
  readonly profitRatio: Float64Array;
  /** From the entry candle's open to the exit candle's open. */
  readonly minutes: Float64Array;
}

/** Closed trades with what the metrics derive from each, in the order of closing. */
export interface TradeColumns extends TradeTable, OutcomeColumns {
  readonly profit: Float64Array;
  readonly profitRatio: Float64Array;
  /** Quote currency moved by entry and exit, before fees. */
  readonly volume: Float64Array;
}

export function tradeColumns(trades: TradeTable): TradeColumns {
  const { length, openedAt, closedAt, amount, entryPrice, exitPrice } = trades;
  const minutes = new Float64Array(length);
  const volume = new Float64Array(length);
  for (let row = 0; row < length; row++) {
    minutes[row] = durationMinutes(openedAt[row]!, closedAt[row]!);
    volume[row] = amount[row]! * (entryPrice[row]! + exitPrice[row]!);
  }
  return { ...trades, minutes, volume };
}

/** The outcomes of the trades in `rows`, in their order. */
export function pickOutcomes(columns: OutcomeColumns, rows: readonly number[]): OutcomeColumns {
  const profit = new Float64Array(rows.length);
  const profitRatio = new Float64Array(rows.length);
  const minutes = new Float64Array(rows.length);
  for (let i = 0, { length } = rows; i < length; i++) {
    const row = rows[i]!;
    profit[i] = columns.profit[row]!;
    profitRatio[i] = columns.profitRatio[row]!;
    minutes[i] = columns.minutes[row]!;
  }
  return { profit, profitRatio, minutes };
}

/** Minutes from the entry candle's open to the exit candle's open; times in ms. */
export function durationMinutes(openedAt: number, closedAt: number): number {
  return (closedAt - openedAt) / 60_000;
}
