import type { Trade } from '#contract/backtests/report.ts';
import { durationMinutes } from '#engine/metrics/trade-metrics.ts';
import { groupOf, positionNumbers } from '#engine/report/positions.ts';
import { profitPct } from '#engine/report/trades.ts';
import type { TradeNumber, TradeTable } from '#engine/simulator/trade-table.ts';
import {
  encodePlainFile,
  type PlainColumn,
  plainFlags,
  plainIntegers,
  plainNumbers,
  plainOptionalNumbers,
  plainOptionalTexts,
  plainTexts,
  plainTimes,
} from './plain-file.ts';

type Make = (name: string, trades: TradeTable) => PlainColumn;

/** Columns of trades.parquet: the fields of a trade record, in the same order. Orders are a table of their own. */
const COLUMNS: Readonly<Record<Exclude<keyof Trade, 'orders'>, Make>> = {
  id: (name, { length }) =>
    plainIntegers(
      name,
      new Int32Array(length).map((_, row) => row + 1),
    ),
  pair: (name, { pair }) => plainTexts(name, pair),
  side: (name, { side }) => plainTexts(name, side),
  opened_at: (name, { openedAt }) => plainTimes(name, openedAt),
  closed_at: (name, { closedAt }) => plainTimes(name, closedAt),
  duration_minutes: (name, { openedAt, closedAt }) =>
    plainNumbers(
      name,
      openedAt.map((opened, row) => durationMinutes(opened, closedAt[row]!)),
    ),
  entry_price: numbers('entryPrice'),
  exit_price: numbers('exitPrice'),
  amount: numbers('amount'),
  stake: numbers('stake'),
  leverage: numbers('leverage'),
  enter_tag: (name, { enterTag }) => plainOptionalTexts(name, enterTag),
  exit_reason: (name, { exitReason }) => plainTexts(name, exitReason),
  fees: numbers('fees'),
  slippage_cost: numbers('slippageCost'),
  funding: numbers('funding'),
  profit: numbers('profit'),
  profit_pct: (name, { profitRatio }) => plainNumbers(name, profitRatio.map(profitPct)),
  initial_stop_price: numbers('initialStopPrice'),
  stop_price: numbers('stopPrice'),
  liquidation_price: (name, { liquidationPrice }) => plainOptionalNumbers(name, liquidationPrice),
  lowest_price: numbers('lowestPrice'),
  highest_price: numbers('highestPrice'),
  left_open: (name, { leftOpen }) => plainFlags(name, leftOpen),
  group: (name, { enterTag }) =>
    plainOptionalTexts(name, { ...enterTag, texts: enterTag.texts.map(groupOf) }),
  position: (name, trades) => plainOptionalNumbers(name, positionColumn(trades)),
};

/** Trades as a Parquet file for analysis tools: the fields of the API's trade records, times as timestamps. */
export function writeTradesParquet(trades: TradeTable): Uint8Array {
  return encodePlainFile(
    Object.entries(COLUMNS).map(([name, make]) => make(name, trades)),
    trades.length,
  );
}

/** NaN without a group. */
function positionColumn({ length, enterTag, openedAt, closedAt }: TradeTable): Float64Array {
  const groups = enterTag.texts.map(groupOf);
  const trades = Array.from({ length }, (_, row) => ({
    group: groups[enterTag.index[row]!]!,
    openedAt: openedAt[row]!,
    closedAt: closedAt[row]!,
  }));
  return Float64Array.from(positionNumbers(trades), (number) => (number > 0 ? number : Number.NaN));
}

function numbers(field: TradeNumber): Make {
  return (name, trades) => plainNumbers(name, trades[field]);
}
