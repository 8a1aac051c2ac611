import { csvRecords } from '#adapters/signals/parse-csv.ts';
import type { Trade } from '#contract/backtests/report.ts';
import { UsageError } from './options.ts';

/** TradingView's "List of trades": its trades, the signals that repeat them, and what differs. */

interface Fill {
  /** Open time of the candle in which the order was filled, Unix ms. */
  readonly time: number;
  readonly price: number;
}

export interface ListedTrade {
  readonly number: string;
  readonly side: 'long' | 'short';
  readonly entry: Fill;
  /** null: the trade was open when the list was exported. */
  readonly exit: Fill | null;
  /** Open time of the last candle of the list, Unix ms; only of an open trade whose row has a time. */
  readonly openUntil?: number;
  /** Net profit, percent of the position; null where the list has none. */
  readonly profitPct: number | null;
}

interface ListOptions {
  /** Length of a candle, ms. */
  readonly stepMs: number;
  /** Offset of the chart's time zone from UTC, ms. */
  readonly offsetMs: number;
}

/** Columns by what their names begin with: the names end with the currency and have changed over the years. */
const COLUMNS = {
  number: /^trade (#|number)/i,
  type: /^type/i,
  time: /^date/i,
  signal: /^signal/i,
  price: /^price/i,
  profit: /^(net p&l|net pnl|profit) %/i,
} as const;
type Column = keyof typeof COLUMNS;

const TYPE = /^(entry|exit) (long|short)$/;
/** Signal of the last row of a trade that is still open. */
const OPEN = 'open';

/** A row of a list: an order, or the end of a trade that is still open. */
interface Row {
  readonly kind: 'entry' | 'exit' | 'open';
  readonly number: string;
  readonly side: ListedTrade['side'];
  /** NaN in an `open` row, which may have neither time nor price. */
  readonly fill: Fill;
  readonly profit: number;
}

/** Trades of a list, by entry. Throws UsageError that names the first row that is no order. */
export function parseTradeList(text: string, options: ListOptions): ListedTrade[] {
  const [head = [], ...rows] = csvRecords(text);
  const positions = columnsOf(head);
  const trades = new Map<
    string,
    { side?: ListedTrade['side']; entry?: Fill; exit?: Fill; openUntil?: number; profit?: number }
  >();
  for (const [index, cells] of rows.entries()) {
    const row = rowOf(cells, positions, options);
    if (!row) {
      throw new UsageError(
        `Row ${index + 1} is no order of a list of trades: ${cells.slice(0, 5).join(',')}. An order has the type Entry or Exit, long or short, a time such as 2026-01-05 13:00, and a price such as 1,098.5`,
      );
    }
    const { kind, number, side, fill, profit } = row;
    const trade = trades.get(number) ?? {};
    if (kind !== 'open' && trade[kind]) {
      throw new UsageError(
        `Row ${index + 1} is another ${kind} of trade ${number}: export the list of one strategy`,
      );
    }
    trades.set(number, trade);
    trade.side = side;
    if (!Number.isNaN(profit)) trade.profit = profit;
    if (kind !== 'open') trade[kind] = fill;
    else if (!Number.isNaN(fill.time)) trade.openUntil = fill.time;
  }
  return [...trades]
    .map(([number, { side, entry, exit = null, openUntil, profit = null }]) => {
      if (!entry) throw new UsageError(`Trade ${number} has no entry: export the whole list`);
      if (exit && exit.time < entry.time) {
        throw new UsageError(`Trade ${number} ends before it begins: export the list again`);
      }
      const open = openUntil === undefined || exit ? {} : { openUntil };
      return { number, side: side!, entry, exit, ...open, profitPct: profit };
    })
    .sort((a, b) => a.entry.time - b.entry.time);
}

/** undefined for a row that is none of a list of trades. */
function rowOf(
  cells: readonly string[],
  positions: Record<Column, number>,
  options: ListOptions,
): Row | undefined {
  const cell = (name: Column) => cells[positions[name]]?.trim() ?? '';
  const [, order, side] = TYPE.exec(cell('type').toLowerCase()) ?? [];
  if (!order) return undefined;
  const isOpen = order === 'exit' && cell('signal').toLowerCase() === OPEN;
  const fill = { time: timeOf(cell('time'), options), price: numberOf(cell('price')) };
  if (!isOpen && (!(fill.price > 0) || Number.isNaN(fill.time))) return undefined;
  return {
    kind: isOpen ? 'open' : (order as 'entry' | 'exit'),
    number: cell('number'),
    side: side as ListedTrade['side'],
    fill,
    profit: numberOf(cell('profit')),
  };
}

function columnsOf(head: readonly string[]): Record<Column, number> {
  const names = head.map((name) => name.trim());
  const found = Object.entries(COLUMNS).map(([column, pattern]) => [
    column,
    names.findIndex((name) => pattern.test(name)),
  ]);
  const missing = found.filter(([column, at]) => at === -1 && column !== 'profit' && column !== 'signal');
  if (missing.length > 0) {
    throw new UsageError(
      `The file has no column ${missing.map(([column]) => column).join(', ')}: export "List of trades" of the strategy tester as CSV, in English`,
    );
  }
  return Object.fromEntries(found);
}

/** Commas are between thousands only: `98,5` and `1.098,5` of other languages would be other numbers. */
const NUMBER = /^[+-]?(\d+|\d{1,3}(,\d{3})+)?(\.\d*)?$/;

/** A number as TradingView writes it: `1,098.5`, and a minus sign that may be the typographic one. NaN for another text. */
function numberOf(text: string): number {
  const digits = text.replaceAll(/[\s%]/g, '').replace('\u2212', '-');
  return /\d/.test(digits) && NUMBER.test(digits) ? Number(digits.replaceAll(',', '')) : Number.NaN;
}

/** Open time of the candle that contains the time of an order. NaN for another form, such as `05:00 PM` or an offset. */
function timeOf(text: string, { stepMs, offsetMs }: ListOptions): number {
  const [, day, clock = '00:00'] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?))?$/.exec(text) ?? [];
  const time = Date.parse(`${day}T${clock}Z`) - offsetMs;
  return Math.floor(time / stepMs) * stepMs;
}

/** File of signals that repeats the trades: each acts at the open of the candle after its row. */
export function signalsOf(trades: readonly ListedTrade[], pair: string, stepMs: number): string {
  const rows = new Map<number, Set<string>>();
  const add = (time: number, flag: string) => {
    const flags = rows.get(time - stepMs) ?? new Set();
    rows.set(time - stepMs, flags.add(flag));
  };
  for (const { side, entry, exit } of trades) {
    add(entry.time, `enter_${side}`);
    if (exit) add(exit.time, `exit_${side}`);
  }
  const flags = ['enter_long', 'exit_long', 'enter_short', 'exit_short'];
  const lines = [...rows]
    .sort(([a], [b]) => a - b)
    .map(([time, set]) => [time, pair, ...flags.map((flag) => (set.has(flag) ? 1 : ''))].join(','));
  return `${['timestamp', 'pair', ...flags].join(',')}\n${lines.join('\n')}\n`;
}

/** A trade of the list beside the one of our run; null where the run has none. */
export interface TradeDifference {
  readonly listed: ListedTrade;
  readonly run: Pick<Trade, 'entry_price' | 'exit_price' | 'closed_at' | 'exit_reason' | 'profit_pct'> | null;
  /** Our price less theirs, basis points of theirs; positive is worse for the trade. null: one of both has none. */
  readonly entryBp: number | null;
  readonly exitBp: number | null;
  readonly sameExit: boolean;
}

/** Pairs each trade of the list with that of the run that has its side and entry candle. */
export function compareTrades(listed: readonly ListedTrade[], run: readonly Trade[]): TradeDifference[] {
  const bySide = new Map(run.map((trade) => [`${trade.side} ${Date.parse(trade.opened_at)}`, trade]));
  return listed.map((each) => {
    const found = bySide.get(`${each.side} ${each.entry.time}`) ?? null;
    const worse = each.side === 'long' ? 1 : -1;
    const bp = (ours: number, theirs: number) => (ours / theirs - 1) * 10_000;
    const exited = found && each.exit && !found.left_open;
    return {
      listed: each,
      run: found,
      entryBp: found && worse * bp(found.entry_price, each.entry.price),
      exitBp: exited ? -worse * bp(found.exit_price, each.exit!.price) : null,
      sameExit: exited ? Date.parse(found.closed_at) === each.exit!.time : found?.left_open === !each.exit,
    };
  });
}
