import { durationMinutes } from '#engine/metrics/trade-columns.ts';
import {
  type TextColumn,
  TRADE_NUMBERS,
  type TradeNumber,
  type TradeTable,
  textAt,
} from '#engine/simulator/trade-table.ts';
import type { Trade } from '#engine/simulator/types.ts';
import { isoTime } from './iso-time.ts';

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

/** Trades on one page. */
const TRADES_PER_PAGE = 1000;

/** A page of trades as it is stored, by column: a third of the text of its records, in a fifth of the time. */
type TradePage = Readonly<Record<TradeNumber, readonly (number | null)[]>> & {
  /** Row of its first trade among all. */
  readonly first: number;
  readonly pair: readonly string[];
  readonly side: readonly Trade['side'][];
  readonly enterTag: readonly (string | null)[];
  readonly exitReason: readonly string[];
  readonly leftOpen: readonly number[];
};

/** The trades as JSON page by page, in the order of closing; {@link pageRecords} reads it. One exists at a time. */
export function* tradePages(table: TradeTable): Generator<string> {
  for (let first = 0; first < table.length; first += TRADES_PER_PAGE) {
    yield JSON.stringify(pageFrom(table, first));
  }
}

function pageFrom(table: TradeTable, first: number): TradePage {
  const end = Math.min(first + TRADES_PER_PAGE, table.length);
  const numbers = (name: TradeNumber | 'leftOpen') => plainNumbers(table[name], first, end);
  const texts = <T extends string | null>({ texts, index }: TextColumn<T>) =>
    plainNumbers(index, first, end).map((place) => texts[place]!);
  return {
    first,
    pair: texts(table.pair),
    side: texts(table.side),
    enterTag: texts(table.enterTag),
    exitReason: texts(table.exitReason),
    leftOpen: numbers('leftOpen'),
    ...(Object.fromEntries(TRADE_NUMBERS.map((name) => [name, numbers(name)])) as Record<
      TradeNumber,
      number[]
    >),
  };
}

/** Values of a column as a list that JSON knows. `Array.from` takes five times as long. */
function plainNumbers(column: Float64Array | Uint32Array | Uint8Array, from: number, to: number): number[] {
  const list: number[] = [];
  for (let row = from; row < to; row++) list.push(column[row]!);
  return list;
}

/** The records of a page, which has been through JSON. */
export function pageRecords(stored: unknown): TradeRecord[] {
  const page = stored as TradePage;
  const length = page.leftOpen.length;
  const texts = <T extends string | null>(texts: readonly T[]) => ({
    texts,
    index: Uint32Array.from(texts.keys()),
  });
  const numbers = TRADE_NUMBERS.map((name) => [
    name,
    Float64Array.from(page[name], (value) => value ?? Number.NaN),
  ]);
  const table: TradeTable = {
    ...(Object.fromEntries(numbers) as Record<TradeNumber, Float64Array>),
    length,
    pair: texts(page.pair),
    side: texts(page.side),
    enterTag: texts(page.enterTag),
    exitReason: texts(page.exitReason),
    leftOpen: Uint8Array.from(page.leftOpen),
  };
  return page.leftOpen.map((_, row) => tradeRecord(table, row, page.first + row + 1));
}

/**
 * The trade in `row` as the outside sees it.
 *
 * @param id 1-based number in the order of closing
 */
export function tradeRecord(table: TradeTable, row: number, id: number): TradeRecord {
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

/** Profit on the collateral in percent; the ratio has 8 decimals, so this has 6. */
export function profitPct(profitRatio: number): number {
  return Math.round(profitRatio * 1e8) / 1e6;
}
