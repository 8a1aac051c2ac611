import { durationMinutes } from '#engine/metrics/trade-columns.ts';
import { profitPct, type TradeRecord } from '#engine/report/trades.ts';
import type { TradeNumber, TradeTable } from '#engine/simulator/trade-table.ts';
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

type Make = (name: string, trades: TradeTable) => ParquetColumn;

/** Columns of trades.parquet: the fields of a trade record, in its order. */
const COLUMNS: Readonly<Record<keyof TradeRecord, Make>> = {
  id: (name, { length }) =>
    integerColumn(
      name,
      new Int32Array(length).map((_, row) => row + 1),
    ),
  pair: (name, { pair }) => textColumn(name, pair),
  side: (name, { side }) => textColumn(name, side),
  opened_at: (name, { openedAt }) => timestampColumn(name, openedAt),
  closed_at: (name, { closedAt }) => timestampColumn(name, closedAt),
  duration_minutes: (name, { openedAt, closedAt }) =>
    numberColumn(
      name,
      openedAt.map((opened, row) => durationMinutes(opened, closedAt[row]!)),
    ),
  entry_price: numbers('entryPrice'),
  exit_price: numbers('exitPrice'),
  amount: numbers('amount'),
  stake: numbers('stake'),
  leverage: numbers('leverage'),
  enter_tag: (name, { enterTag }) => optionalTextColumn(name, enterTag),
  exit_reason: (name, { exitReason }) => textColumn(name, exitReason),
  fees: numbers('fees'),
  slippage_cost: numbers('slippageCost'),
  funding: numbers('funding'),
  profit: numbers('profit'),
  profit_pct: (name, { profitRatio }) => numberColumn(name, profitRatio.map(profitPct)),
  initial_stop_price: numbers('initialStopPrice'),
  stop_price: numbers('stopPrice'),
  liquidation_price: (name, { liquidationPrice }) => optionalNumberColumn(name, liquidationPrice),
  lowest_price: numbers('lowestPrice'),
  highest_price: numbers('highestPrice'),
  left_open: (name, { leftOpen }) => flagColumn(name, leftOpen),
};

/** Trades as a Parquet file for people and their tools: the fields of the API's trade records, times as timestamps. */
export function writeTradesParquet(trades: TradeTable): Uint8Array {
  return encodeParquet(Object.entries(COLUMNS).map(([name, make]) => make(name, trades)));
}

function numbers(field: TradeNumber): Make {
  return (name, trades) => numberColumn(name, trades[field]);
}
