import { durationMinutes } from '#engine/metrics/trade-columns.ts';
import type { Trade } from '#engine/simulator/types.ts';
import { isoTime } from './iso-time.ts';

/** Trades on one page. */
const TRADES_PER_PAGE = 1000;

/** A closed trade as the outside sees it. Prices and amounts of money are in quote currency, times are ISO 8601. */
export interface TradeRecord {
  /** 1 for the first trade that was closed. */
  readonly id: number;
  readonly pair: string;
  readonly side: 'long' | 'short';
  readonly opened_at: string;
  readonly closed_at: string;
  readonly duration_minutes: number;
  readonly entry_price: number;
  readonly exit_price: number;
  /** Base currency. */
  readonly amount: number;
  readonly stake: number;
  readonly leverage: number;
  readonly enter_tag: string | null;
  readonly exit_reason: string;
  readonly fees: number;
  readonly slippage_cost: number;
  readonly funding: number;
  readonly profit: number;
  readonly profit_pct: number;
  readonly initial_stop_price: number;
  readonly stop_price: number;
  readonly liquidation_price: number | null;
  readonly lowest_price: number;
  readonly highest_price: number;
  readonly left_open: boolean;
}

/** The trades page by page in the order of closing, so that no more than one page of records exists at a time. */
export function* tradePages(trades: readonly Trade[]): Generator<TradeRecord[]> {
  for (let from = 0; from < trades.length; from += TRADES_PER_PAGE) {
    yield trades.slice(from, from + TRADES_PER_PAGE).map((trade, i) => tradeRecord(trade, from + i + 1));
  }
}

/** @param id 1-based number in the order of closing */
export function tradeRecord(trade: Trade, id: number): TradeRecord {
  return {
    id,
    pair: trade.pair,
    side: trade.side,
    opened_at: isoTime(trade.openedAt),
    closed_at: isoTime(trade.closedAt),
    duration_minutes: durationMinutes(trade),
    entry_price: trade.entryPrice,
    exit_price: trade.exitPrice,
    amount: trade.amount,
    stake: trade.stake,
    leverage: trade.leverage,
    enter_tag: trade.enterTag,
    exit_reason: trade.exitReason,
    fees: trade.fees,
    slippage_cost: trade.slippageCost,
    funding: trade.funding,
    profit: trade.profit,
    profit_pct: profitPct(trade.profitRatio),
    initial_stop_price: trade.initialStopPrice,
    stop_price: trade.stopPrice,
    liquidation_price: trade.liquidationPrice,
    lowest_price: trade.lowestPrice,
    highest_price: trade.highestPrice,
    left_open: trade.leftOpen,
  };
}

/** Profit on the collateral in percent; the ratio has 8 decimals, so this has 6. */
export function profitPct(profitRatio: number): number {
  return Math.round(profitRatio * 1e8) / 1e6;
}
