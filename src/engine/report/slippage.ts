import type { BacktestReport } from '#contract/backtests/report.ts';
import type { TradeTable } from '../simulator/trade-table.ts';
import { textAt } from '../simulator/trade-table.ts';
import type { PairFills, PairInput } from '../simulator/types.ts';
import { estimatesOver } from '../slippage/daily-costs.ts';

/** Share of a candle's volume above which a fill is large. */
const LARGE = 0.01;

/** What the slippage model of a run estimated and limited. */
export function buildSlippage(
  table: TradeTable,
  fills: readonly PairFills[],
  pairs: readonly PairInput[],
): NonNullable<BacktestReport['slippage']> {
  const large = countLarge(table, pairs);
  return {
    large_trades: large,
    large_trades_pct: table.length > 0 ? (large / table.length) * 100 : null,
    pairs: fills.map(({ pair, cappedEntries, droppedValue, cappedExits }) => ({
      pair,
      ...estimatesOf(pairs.find((each) => each.pair === pair)!),
      capped_entries: cappedEntries,
      dropped_value: droppedValue,
      capped_exits: cappedExits,
    })),
  };
}

const estimatesOf = ({ candles, costs }: PairInput) => estimatesOver(candles.timestamp, costs);

/** Trades with a fill above {@link LARGE} of the volume of the candle before it. */
function countLarge(table: TradeTable, pairs: readonly PairInput[]): number {
  const byName = new Map(pairs.map((each) => [each.pair, each]));
  let count = 0;
  for (let row = 0; row < table.length; row++) {
    const { candles } = byName.get(textAt(table.pair, row))!;
    const { timestamp, volume } = candles;
    const start = timestamp[0]!;
    const stepMs = timestamp[1]! - start;
    const isLarge = (time: number, amount: number) =>
      amount > LARGE * volume[Math.max(0, Math.floor((time - start) / stepMs) - 1)]!;
    const orders = table.orders.get(row) ?? [
      { filledAt: table.openedAt[row]!, amount: table.amount[row]! },
      { filledAt: table.closedAt[row]!, amount: table.amount[row]! },
    ];
    if (orders.some(({ filledAt, amount }) => isLarge(filledAt, amount))) count++;
  }
  return count;
}
