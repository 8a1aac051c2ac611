import type { Trade } from '#contract/report.ts';
import { durationMinutes } from '../metrics/trade-metrics.ts';
import { type TradeTable, textAt } from '../simulator/trade-table.ts';
import { DAY_MS } from '../timeframe.ts';

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

const TWO_DIGITS = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));

/** The day written last and its text: times that follow each other are mostly of one day. */
let day = Number.NaN;
let dayText = '';

/** A time in ms as `Date.toISOString` writes it. Whole minutes, which trades open and close on, in a fifth of the time. */
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
