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

type ColumnOfTrades = (name: string, trades: readonly Trade[]) => ParquetColumn;

const number =
  (pick: (trade: Trade) => number): ColumnOfTrades =>
  (name, trades) =>
    numberColumn(name, numbersOf(trades, pick));

const time =
  (pick: (trade: Trade) => number): ColumnOfTrades =>
  (name, trades) =>
    timestampColumn(name, numbersOf(trades, pick));

const text =
  (pick: (trade: Trade) => string): ColumnOfTrades =>
  (name, trades) =>
    textColumn(name, trades.map(pick));

/** Columns of trades.parquet: the fields of a trade record, in its order. Made from the trades themselves: records of
 * all of them would take longer than the file. */
const COLUMNS: Readonly<Record<keyof TradeRecord, ColumnOfTrades>> = {
  id: (name, trades) =>
    integerColumn(
      name,
      Int32Array.from(trades.keys(), (row) => row + 1),
    ),
  pair: text((trade) => trade.pair),
  side: text((trade) => trade.side),
  opened_at: time((trade) => trade.openedAt),
  closed_at: time((trade) => trade.closedAt),
  duration_minutes: number(durationMinutes),
  entry_price: number((trade) => trade.entryPrice),
  exit_price: number((trade) => trade.exitPrice),
  amount: number((trade) => trade.amount),
  stake: number((trade) => trade.stake),
  leverage: number((trade) => trade.leverage),
  enter_tag: (name, trades) =>
    optionalTextColumn(
      name,
      trades.map((trade) => trade.enterTag),
    ),
  exit_reason: text((trade) => trade.exitReason),
  fees: number((trade) => trade.fees),
  slippage_cost: number((trade) => trade.slippageCost),
  funding: number((trade) => trade.funding),
  profit: number((trade) => trade.profit),
  profit_pct: number((trade) => profitPct(trade.profitRatio)),
  initial_stop_price: number((trade) => trade.initialStopPrice),
  stop_price: number((trade) => trade.stopPrice),
  liquidation_price: (name, trades) =>
    optionalNumberColumn(
      name,
      trades.map((trade) => trade.liquidationPrice),
    ),
  lowest_price: number((trade) => trade.lowestPrice),
  highest_price: number((trade) => trade.highestPrice),
  left_open: (name, trades) =>
    flagColumn(
      name,
      trades.map((trade) => trade.leftOpen),
    ),
};

/** Trades as a Parquet file for people and their tools: the fields of the API's trade records, times as timestamps. */
export function writeTradesParquet(trades: readonly Trade[]): Uint8Array {
  return encodeParquet(Object.entries(COLUMNS).map(([name, columnOf]) => columnOf(name, trades)));
}

function numbersOf(trades: readonly Trade[], pick: (trade: Trade) => number): Float64Array {
  const numbers = new Float64Array(trades.length);
  for (let row = 0; row < trades.length; row++) numbers[row] = pick(trades[row]!);
  return numbers;
}
