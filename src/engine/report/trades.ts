import type { Order, Trade } from '#contract/backtests/report.ts';
import { DAY_MS } from '#contract/values/durations.ts';
import { durationMinutes } from '../metrics/trade-metrics.ts';
import { type TradeOrder, type TradeTable, textAt } from '../simulator/trade-table.ts';
import { groupOf } from './positions.ts';

/**
 * Public record of the trade in `row`.
 *
 * @param id 1-based number in the order of closing
 * @param position number of its position, 0 without a group
 */
export function tradeRecord(table: TradeTable, row: number, id: number, position = 0): Trade {
  const openedAt = table.openedAt[row]!;
  const closedAt = table.closedAt[row]!;
  const liquidationPrice = table.liquidationPrice[row]!;
  const orders = table.orders.get(row);
  const enterTag = textAt(table.enterTag, row);
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
    enter_tag: enterTag,
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
    group: groupOf(enterTag),
    position: position > 0 ? position : null,
    ...(orders && { orders: orders.map(orderRecord) }),
  };
}

function orderRecord({ side, placedAt, filledAt, price, amount, fee, funding, tag }: TradeOrder): Order {
  const times = { placed_at: isoTime(placedAt), filled_at: isoTime(filledAt) };
  return { side, ...times, price, amount, fee, funding, tag };
}

/** Profit on the collateral in percent, at 10 decimals: without rounding errors of doubles. */
export function profitPct(profitRatio: number): number {
  return Math.round(profitRatio * 1e12) / 1e10;
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));

/** Cache of the last formatted day: consecutive times are mostly on one day. */
let day = Number.NaN;
let dayText = '';

/** A time in ms as `Date.toISOString` formats it; five times as fast for full minutes, the times of trades. */
export function isoTime(time: number): string {
  const timeDay = Math.floor(time / DAY_MS);
  const minutes = (time - timeDay * DAY_MS) / 60_000;
  if (!Number.isInteger(minutes)) return new Date(time).toISOString();
  if (timeDay !== day) {
    dayText = new Date(time).toISOString().slice(0, -13);
    day = timeDay;
  }
  const hour = Math.floor(minutes / 60);
  return `${dayText}${TWO_DIGITS[hour]}:${TWO_DIGITS[minutes - hour * 60]}:00.000Z`;
}
