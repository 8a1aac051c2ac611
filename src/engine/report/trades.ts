import type { Trade } from '#contract/report.ts';
import { durationMinutes } from '#engine/metrics/trade-columns.ts';
import { type TradeTable, textAt } from '#engine/simulator/trade-table.ts';
import { isoTime } from './iso-time.ts';

/**
 * The trade in `row` as the outside sees it.
 *
 * @param id 1-based number in the order of closing
 */
export function tradeRecord(table: TradeTable, row: number, id: number): Trade {
  const openedAt = table.openedAt[row]!;
  const closedAt = table.closedAt[row]!;
  const liquidationPrice = table.liquidationPrice[row]!;
  return {
    id,
    pair: textAt(table.pair, row),
    side: textAt(table.side, row),
    opened_at: isoTime(openedAt),
    closed_at: isoTime(closedAt),
    duration_minutes: durationMinutes(openedAt, closedAt),
    entry_price: table.entryPrice[row]!,
    exit_price: table.exitPrice[row]!,
    amount: table.amount[row]!,
    stake: table.stake[row]!,
    leverage: table.leverage[row]!,
    enter_tag: textAt(table.enterTag, row),
    exit_reason: textAt(table.exitReason, row),
    fees: table.fees[row]!,
    slippage_cost: table.slippageCost[row]!,
    funding: table.funding[row]!,
    profit: table.profit[row]!,
    profit_pct: profitPct(table.profitRatio[row]!),
    initial_stop_price: table.initialStopPrice[row]!,
    stop_price: table.stopPrice[row]!,
    liquidation_price: Number.isNaN(liquidationPrice) ? null : liquidationPrice,
    lowest_price: table.lowestPrice[row]!,
    highest_price: table.highestPrice[row]!,
    left_open: table.leftOpen[row] === 1,
  };
}

/** Profit on the collateral in percent, without the noise of doubles: at 10 decimals. */
export function profitPct(profitRatio: number): number {
  return Math.round(profitRatio * 1e12) / 1e10;
}
