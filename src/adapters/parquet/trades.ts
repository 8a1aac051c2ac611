import { durationMinutes } from '#engine/metrics/trade-columns.ts';
import { profitPct, type TradeRecord } from '#engine/report/trades.ts';
import type { Trade } from '#engine/simulator/types.ts';
import {
  encodeParquet,
  flagColumn,
  integerColumn,
  numberColumn,
  optionalNumberColumn,
  optionalTextColumn,
  type ParquetColumn,
  textColumn,
  timestampColumn,
} from './write.ts';

/** A column that is filled trade by trade. */
interface Filling {
  put(trade: Trade, row: number): void;
  column(name: string): ParquetColumn;
}

type Start = (length: number) => Filling;

/** Columns of trades.parquet: the fields of a trade record, in its order. */
const COLUMNS: Readonly<Record<keyof TradeRecord, Start>> = {
  id: (length) => {
    const values = new Int32Array(length);
    return {
      put: (_, row) => {
        values[row] = row + 1;
      },
      column: (name) => integerColumn(name, values),
    };
  },
  pair: list((trade) => trade.pair, textColumn),
  side: list((trade) => trade.side, textColumn),
  opened_at: numbers((trade) => trade.openedAt, timestampColumn),
  closed_at: numbers((trade) => trade.closedAt, timestampColumn),
  duration_minutes: numbers(durationMinutes),
  entry_price: numbers((trade) => trade.entryPrice),
  exit_price: numbers((trade) => trade.exitPrice),
  amount: numbers((trade) => trade.amount),
  stake: numbers((trade) => trade.stake),
  leverage: numbers((trade) => trade.leverage),
  enter_tag: list((trade) => trade.enterTag, optionalTextColumn),
  exit_reason: list((trade) => trade.exitReason, textColumn),
  fees: numbers((trade) => trade.fees),
  slippage_cost: numbers((trade) => trade.slippageCost),
  funding: numbers((trade) => trade.funding),
  profit: numbers((trade) => trade.profit),
  profit_pct: numbers((trade) => profitPct(trade.profitRatio)),
  initial_stop_price: numbers((trade) => trade.initialStopPrice),
  stop_price: numbers((trade) => trade.stopPrice),
  liquidation_price: list((trade) => trade.liquidationPrice, optionalNumberColumn),
  lowest_price: numbers((trade) => trade.lowestPrice),
  highest_price: numbers((trade) => trade.highestPrice),
  left_open: list((trade) => trade.leftOpen, flagColumn),
};

/**
 * Trades as a Parquet file for people and their tools: the fields of the API's trade records, times as timestamps.
 * Made in one walk over the trades: one for each column would wait for memory, records of all would take more of it.
 */
export function writeTradesParquet(trades: readonly Trade[]): Uint8Array {
  const fillings = Object.values(COLUMNS).map((start) => start(trades.length));
  for (let row = 0; row < trades.length; row++) {
    const trade = trades[row]!;
    for (const filling of fillings) filling.put(trade, row);
  }
  return encodeParquet(Object.keys(COLUMNS).map((name, index) => fillings[index]!.column(name)));
}

function numbers(
  pick: (trade: Trade) => number,
  make: (name: string, values: Float64Array) => ParquetColumn = numberColumn,
): Start {
  return (length) => {
    const values = new Float64Array(length);
    return {
      put: (trade, row) => {
        values[row] = pick(trade);
      },
      column: (name) => make(name, values),
    };
  };
}

function list<T>(
  pick: (trade: Trade) => T,
  make: (name: string, values: readonly T[]) => ParquetColumn,
): Start {
  return () => {
    const values: T[] = [];
    return {
      put: (trade) => {
        values.push(pick(trade));
      },
      column: (name) => make(name, values),
    };
  };
}
