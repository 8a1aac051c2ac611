import type { Trade } from '#contract/backtests/report.ts';
import { TRADES_PER_PAGE } from '#contract/values/backtest-limits.ts';
import type { TradePage } from '#domain/ports.ts';
import { tradeRecord } from '#engine/report/trades.ts';
import {
  type TextColumn,
  TRADE_NUMBERS,
  type TradeNumber,
  type TradeOrder,
  type TradeTable,
} from '#engine/simulator/trade-table.ts';

/**
 * Stored format of trades, by page: a JSON head padded to a multiple of 8 bytes, then the columns as in memory. JSON for
 * the same numbers takes five times as long.
 */

/** Maximum number of strings that each page stores for a whole column. Above it, a page stores only its own strings. */
const FEW_TEXTS = 256;

/** String columns: each row is an index into `texts`. */
const TEXTS = ['pair', 'side', 'enterTag', 'exitReason'] as const;
type TextName = (typeof TEXTS)[number];

/** Head of a page. */
interface Head {
  /** Row of the first trade in the whole table. */
  readonly first: number;
  readonly length: number;
  readonly texts: { readonly [Name in TextName]: TradeTable[Name]['texts'] };
  /** Orders of the adjusted trades, by row of the page; absent without any. */
  readonly orders?: readonly (readonly [row: number, orders: readonly TradeOrder[]])[];
}

const WORD = 8;
const LENGTH_BYTES = 4;

export function pageCount({ length }: TradeTable): number {
  return Math.ceil(length / TRADES_PER_PAGE);
}

/** Bytes of a page for {@link readTradePage}. Pages start at 1. */
export function writeTradePage(table: TradeTable, page: number): Buffer {
  const first = (page - 1) * TRADES_PER_PAGE;
  const end = Math.min(first + TRADES_PER_PAGE, table.length);
  return encodeTradePage(first, {
    length: end - first,
    ...(Object.fromEntries(TRADE_NUMBERS.map((name) => [name, table[name].subarray(first, end)])) as Record<
      TradeNumber,
      Float64Array
    >),
    ...(Object.fromEntries(TEXTS.map((name) => [name, textsOfPage(table[name], first, end)])) as {
      [Name in TextName]: TradeTable[Name] & TextColumn;
    }),
    leftOpen: table.leftOpen.subarray(first, end),
    orders: ordersBetween(table.orders, first, end),
  });
}

/** Bytes of a page with the trades of `table`. Its strings are stored as they are. */
export function encodeTradePage(first: number, table: TradeTable): Buffer {
  const texts = Object.fromEntries(TEXTS.map((name) => [name, table[name].texts])) as Head['texts'];
  const parts = [
    ...TRADE_NUMBERS.map((name) => table[name]),
    ...TEXTS.map((name) => table[name].index),
    table.leftOpen,
  ];
  const { length, orders } = table;
  const head = { first, length, texts, ...(orders.size > 0 && { orders: [...orders] }) };
  return Buffer.concat([writeHead(head), ...parts.map(bytesOf)]);
}

/** Orders of the rows [first, end), by row from `first`. */
function ordersBetween(orders: TradeTable['orders'], first: number, end: number): TradeTable['orders'] {
  const rows = [...orders].filter(([row]) => row >= first && row < end);
  return new Map(rows.map(([row, each]) => [row - first, each]));
}

/** Rows [first, end) of a column. */
function textsOfPage(
  { texts, index }: TextColumn<string | null>,
  first: number,
  end: number,
): TextColumn<string | null> {
  const rows = index.subarray(first, end);
  if (texts.length <= FEW_TEXTS) return { texts, index: rows };
  const positions = new Map([...new Set(rows)].map((row, position) => [row, position]));
  return {
    texts: [...positions.keys()].map((row) => texts[row]!),
    index: rows.map((row) => positions.get(row)!),
  };
}

/**
 * Trade records of a page.
 *
 * @throws Error when the bytes are not a page
 */
export function readTradePage(bytes: Uint8Array): Trade[] {
  const { first, table } = decodeTradePage(bytes);
  return Array.from({ length: table.length }, (_, row) => tradeRecord(table, row, first + row + 1));
}

/**
 * Columns of a page, and the row of its first trade in the whole table.
 *
 * @throws Error when the bytes are not a page
 */
export function decodeTradePage(bytes: Uint8Array): TradePage {
  const { head, start } = readHead(bytes);
  const { first, length, texts, orders = [] } = head;
  if (!Number.isInteger(length) || length < 0) throw new Error('A page of trades has no length');
  let at = start;
  const take = (bytesOfEach: number): ArrayBuffer => {
    const from = at;
    at += length * bytesOfEach;
    if (at > bytes.length) throw new Error('A page of trades is truncated');
    // Copies, because typed arrays need an aligned offset and the page can start at any.
    return Uint8Array.prototype.slice.call(bytes, from, at).buffer;
  };
  const numbers = TRADE_NUMBERS.map((name) => [name, new Float64Array(take(8))]);
  const columns = TEXTS.map((name) => [name, { texts: texts[name], index: new Uint32Array(take(4)) }]);
  const table: TradeTable = {
    length,
    ...(Object.fromEntries(numbers) as Record<TradeNumber, Float64Array>),
    ...(Object.fromEntries(columns) as { [Name in TextName]: TradeTable[Name] & TextColumn }),
    leftOpen: new Uint8Array(take(1)),
    orders: new Map(orders),
  };
  // Another release may have had more columns.
  if (at !== bytes.length) throw new Error('A page of trades has another format');
  return { first, table };
}

/** One table of the trades of all pages. */
export function joinTradePages(pages: readonly TradeTable[]): TradeTable {
  const length = pages.reduce((sum, page) => sum + page.length, 0);
  const joined = <Column extends Float64Array | Uint32Array | Uint8Array>(
    column: Column,
    part: (page: TradeTable) => ArrayLike<number>,
  ): Column => {
    let at = 0;
    for (const page of pages) {
      column.set(part(page), at);
      at += page.length;
    }
    return column;
  };
  const strings = (name: TextName): TextColumn<string | null> => {
    const positions = new Map<string | null, number>();
    const positionOf = (text: string | null) => {
      if (!positions.has(text)) positions.set(text, positions.size);
      return positions.get(text)!;
    };
    const index = joined(new Uint32Array(length), (page) => {
      const own = page[name].texts.map(positionOf);
      return page[name].index.map((text) => own[text]!);
    });
    return { texts: [...positions.keys()], index };
  };
  return {
    length,
    ...(Object.fromEntries(
      TRADE_NUMBERS.map((name) => [name, joined(new Float64Array(length), (page) => page[name])]),
    ) as Record<TradeNumber, Float64Array>),
    ...(Object.fromEntries(TEXTS.map((name) => [name, strings(name)])) as {
      [Name in TextName]: TradeTable[Name] & TextColumn;
    }),
    leftOpen: joined(new Uint8Array(length), (page) => page.leftOpen),
    orders: joinOrders(pages),
  };
}

function joinOrders(pages: readonly TradeTable[]): TradeTable['orders'] {
  const joined = new Map<number, readonly TradeOrder[]>();
  let first = 0;
  for (const { length, orders } of pages) {
    for (const [row, each] of orders) joined.set(first + row, each);
    first += length;
  }
  return joined;
}

/** Length of the JSON, the JSON, and spaces up to a multiple of 8 bytes. */
function writeHead(head: Head): Buffer {
  const text = JSON.stringify(head);
  const bytes = Buffer.byteLength(text);
  const padded = Math.ceil((LENGTH_BYTES + bytes) / WORD) * WORD;
  const buffer = Buffer.alloc(padded, ' ');
  buffer.writeUInt32LE(padded - LENGTH_BYTES);
  buffer.write(text, LENGTH_BYTES);
  return buffer;
}

function readHead(page: Uint8Array): { readonly head: Head; readonly start: number } {
  const buffer = Buffer.from(page.buffer, page.byteOffset, page.byteLength);
  const start = LENGTH_BYTES + buffer.readUInt32LE();
  return { head: JSON.parse(buffer.toString('utf8', LENGTH_BYTES, start)) as Head, start };
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array | Uint32Array | Uint8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
