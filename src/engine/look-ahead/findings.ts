import { type TradeOrder, type TradeTable, textAt } from '../simulator/trade-table.ts';
import { describeThrown, locationOf } from '../strategy-errors.ts';
import { type ColumnFinding, isSame } from './compare-columns.ts';
import type { Call, CallbackName, Comparable, GuardError, GuardedCall } from './guard.ts';

/** Orders of a run, and what its callbacks returned. */
export interface Acted {
  readonly callbacks: readonly string[];
  /** Chronological. */
  readonly calls: readonly Call[];
  readonly table: TradeTable;
}

/**
 * Reason for rejecting a strategy:
 * - `look_ahead`: it read unknown values, or its results changed when later candles became known;
 * - `not_repeatable`: two runs over the same candles differed, so look-ahead cannot be tested;
 * - `input_changed`: it wrote into its input;
 * - `not_runnable`: it fails on a part of the candles or under guard, but runs on all of them.
 */
type FindingKind = ColumnFinding['kind'] | 'not_runnable';

/** One defect of a strategy, with its first proof. */
export interface LookAheadFinding {
  readonly kind: FindingKind;
  /** null when the finding does not concern one pair. */
  readonly pair: string | null;
  readonly callback: CallbackName | null;
  /** `enterLong`, `columns.rsi`, `informative.4h.trend`, `candles.close`; null when unknown. */
  readonly column: string | null;
  /** Row that was read or differs; null when unknown. */
  readonly row: number | null;
  /** Open time of the candle of the call or of the row, ms; null when unknown. */
  readonly time: number | null;
  /** `file:line` of the strategy's source; empty when unknown. */
  readonly location: string;
  /** One sentence with all fields. */
  readonly message: string;
}

const iso = (time: number) => new Date(time).toISOString();

/** Finding for a read or write that the guard rejected. */
export function guardFinding(cause: GuardError, call: GuardedCall): LookAheadFinding {
  const { callback, pair, opened } = call;
  const location = locationOf(cause);
  return {
    kind: cause.kind,
    pair,
    callback,
    location,
    column: cause.column,
    row: cause.row,
    time: opened,
    message: `${callback} of ${pair} in the candle of ${iso(opened)} ${cause.message}${location && ` (${location})`}`,
  };
}

/** Finding for a column. `when`: phrase for what the strategy knew when the row had the value `before`. */
export function columnFinding(
  found: ColumnFinding,
  when = `when ${found.known} candles were known`,
): LookAheadFinding {
  const { kind, pair, column, row, time, before, after } = found;
  return {
    kind,
    pair,
    column,
    row,
    time,
    callback: null,
    location: '',
    message: `${column} of ${pair} at ${iso(time)} was ${before} ${when}, and is ${after} with all`,
  };
}

/** Finding for a failed run. */
export function failureFinding(error: unknown, when: string): LookAheadFinding {
  return {
    kind: 'not_runnable',
    pair: null,
    callback: null,
    column: null,
    row: null,
    time: null,
    location: '',
    message: `The strategy failed ${when}: ${error instanceof Error ? error.message : describeThrown(error)}`,
  };
}

/** Finding for built-in functions that the strategy replaced: they could hand it arrays of the engine. */
export function replacedFindings(names: readonly string[]): LookAheadFinding[] {
  if (names.length === 0) return [];
  const message = `The strategy replaced ${names.join(', ')}, which the engine calls with candles that are not known yet`;
  return [{ ...failureFinding('', ''), kind: 'input_changed', message }];
}

/** Finding for a run that failed when arrays that the strategy kept showed known rows only, and ran with all rows. */
export function unknownRowsFinding(error: unknown): LookAheadFinding {
  const failure = failureFinding(
    error,
    'without the rows of kept arrays that are not known yet, and ran with them',
  );
  return { ...failure, kind: 'look_ahead' };
}

/** Kind of a difference between two runs, and a phrase for each run. */
export interface Sides {
  readonly kind: FindingKind;
  /** `with all candles`, `when ... was the last one known`. */
  readonly before: string;
  readonly after: string;
}

/** Candles of which two runs are compared, by their open times, ms; `to` is exclusive. */
interface Compared {
  readonly to: number;
  /** Of calls; orders are compared from the start. */
  readonly from?: number | undefined;
}

/**
 * First difference between two runs' calls, orders and trades. Later differences may follow from the first. Orders must be equal
 * exactly, unless a callback returned a number that differs by rounding.
 */
export function compareRuns(
  before: Acted,
  after: Acted,
  candles: Compared,
  sides: Sides,
): LookAheadFinding | undefined {
  const [a, b] = [callsIn(before, candles), callsIn(after, candles)];
  return compareCalls(a, b, sides) ?? compareTrades(before, after, candles.to, sides, areExact(a, b));
}

// Runs have thousands of calls, and these functions are not optimized yet when a short task calls them: they are loops.

function callsIn({ calls }: Acted, { from = Number.NEGATIVE_INFINITY, to }: Compared): Call[] {
  const found: Call[] = [];
  for (let index = 0, { length } = calls; index < length; index++) {
    const call = calls[index]!;
    if (call.opened >= to) break;
    if (call.opened >= from) found.push(call);
  }
  return found;
}

/** True if equal calls returned the same bits. */
function areExact(before: readonly Call[], after: readonly Call[]): boolean {
  for (let index = 0, { length } = before; index < length; index++) {
    if (!Object.is(before[index]!.returned ?? null, after[index]?.returned ?? null)) return false;
  }
  return true;
}

function compareCalls(callsBefore: readonly Call[], callsAfter: readonly Call[], sides: Sides) {
  const count = Math.max(callsBefore.length, callsAfter.length);
  for (let index = 0; index < count; index++) {
    const [a, b] = [callsBefore[index], callsAfter[index]];
    if (a && b && isSameCall(a, b)) {
      const changed = changedResult(a, b);
      if (changed === null) continue;
      const [did, one, other] = changed;
      return callFinding(a, `${did} ${one} ${sides.before} and ${other} ${sides.after}`, sides);
    }
    if (!b || (a && a.opened <= b.opened))
      return callFinding(a!, `was called ${sides.before} but not ${sides.after}`, sides);
    return callFinding(b, `was called ${sides.after} but not ${sides.before}`, sides);
  }
  return undefined;
}

/** What two equal calls did differently, with both values; null without a difference. */
function changedResult(a: Call, b: Call): readonly [did: string, one: string, other: string] | null {
  if (!isSameValue(a.returned, b.returned)) return ['returned', shown(a.returned), shown(b.returned)];
  if (isSameData(a.stored, b.stored)) return null;
  return ['stored', shownData(a.stored), shownData(b.stored)];
}

function isSameData(a: string | null, b: string | null): boolean {
  if (a === b) return true;
  return a !== null && b !== null && isSameJson(JSON.parse(a), JSON.parse(b));
}

function isSameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return isSameValue(a as Comparable, b as Comparable);
  const [ours, theirs] = [Object.entries(a), Object.entries(b)];
  return (
    ours.length === theirs.length &&
    ours.every(([key, value], index) => key === theirs[index]![0] && isSameJson(value, theirs[index]![1]))
  );
}

const MAX_SHOWN_DATA = 200;
const shownData = (stored: string | null) => stored?.slice(0, MAX_SHOWN_DATA) ?? 'nothing';

function callFinding(call: Call, difference: string, { kind }: Sides): LookAheadFinding {
  const { callback, pair, row, opened } = call;
  return {
    kind,
    pair,
    callback,
    row,
    column: null,
    time: opened,
    location: '',
    message: `${callback}${pair === null ? '' : ` of ${pair}`} in the candle of ${iso(opened)}${row === null ? '' : ` (row ${row})`} ${difference}`,
  };
}

function isSameCall(a: Call, b: Call): boolean {
  if (a.callback !== b.callback || a.pair !== b.pair || a.opened !== b.opened) return false;
  for (let index = 0, { length } = a.args; index < length; index++) {
    if (!isSameValue(a.args[index], b.args[index])) return false;
  }
  return true;
}

function isSameValue(a: Comparable, b: Comparable): boolean {
  if (a === b) return true;
  if (typeof a === 'number' && typeof b === 'number') return isSame(a, b);
  // null and undefined both mean "no change".
  return (a ?? null) === (b ?? null);
}

const shown = (value: Comparable) => (typeof value === 'string' ? JSON.stringify(value) : String(value));

/** Callbacks that set limit prices: such an entry may be filled after the cut, in a missing candle. */
const LIMIT_ENTRIES = ['customEntryPrice', 'adjustEntryPrice'];

/** Trades that closed before `end`, in the order of closing, then those that were open. */
function compareTrades(before: Acted, after: Acted, end: number, sides: Sides, exact: boolean) {
  const isEqual: IsEqual = exact ? Object.is : isSameValue;
  const [a, b] = [before.table, after.table];
  let [one, other] = [nextClosed(a, -1, end), nextClosed(b, -1, end)];
  while (one < a.length && other < b.length && isSameTrade(a, one, b, other, isEqual)) {
    one = nextClosed(a, one, end);
    other = nextClosed(b, other, end);
  }
  if (one < a.length || other < b.length) {
    return tradeFinding([a, one < a.length ? one : -1], [b, other < b.length ? other : -1], end, sides);
  }
  const [openA, openB] = [openRows(a, end), openRows(b, end)];
  const byLimit = before.callbacks.some((name) => LIMIT_ENTRIES.includes(name));
  for (let index = 0; index < Math.max(openA.length, openB.length); index++) {
    const [left, right] = [openA[index] ?? -1, openB[index] ?? -1];
    if (left >= 0 && right >= 0 && isSameOpenTrade([a, left], [b, right], end, isEqual)) continue;
    return byLimit ? undefined : tradeFinding([a, left], [b, right], end, sides);
  }
  return undefined;
}

type IsEqual = (a: Comparable, b: Comparable) => boolean;

/** The next trade that closed before `end`, ms, and not only because the data ended; the number of trades without one. */
function nextClosed({ length, leftOpen, closedAt }: TradeTable, row: number, end: number): number {
  let next = row + 1;
  while (next < length && (leftOpen[next] === 1 || closedAt[next]! >= end)) next++;
  return next;
}

/** Rows of the trades that were open at `end`, ms, in the order of opening. */
function openRows(table: TradeTable, end: number): number[] {
  const { length, openedAt, closedAt, leftOpen } = table;
  const rows: number[] = [];
  for (let row = 0; row < length; row++) {
    if (openedAt[row]! < end && (leftOpen[row] === 1 || closedAt[row]! >= end)) rows.push(row);
  }
  const pair = (row: number) => textAt(table.pair, row);
  // Trades of the same time are left open in another order in another run.
  return rows.sort(
    (x, y) => openedAt[x]! - openedAt[y]! || (pair(x) < pair(y) ? -1 : pair(x) > pair(y) ? 1 : 0),
  );
}

const CLOSED_NUMBERS = [
  'openedAt',
  'closedAt',
  'entryPrice',
  'exitPrice',
  'amount',
  'leverage',
  'profit',
  'stopPrice',
] as const;

function isSameTrade(a: TradeTable, one: number, b: TradeTable, other: number, isEqual: IsEqual): boolean {
  for (const name of CLOSED_NUMBERS) if (!isEqual(a[name][one]!, b[name][other]!)) return false;
  return (
    isSameOrigin(a, one, b, other) &&
    textAt(a.exitReason, one) === textAt(b.exitReason, other) &&
    areSameOrders(a.orders.get(one) ?? [], b.orders.get(other) ?? [], isEqual)
  );
}

function isSameOrigin(a: TradeTable, one: number, b: TradeTable, other: number): boolean {
  return (
    textAt(a.pair, one) === textAt(b.pair, other) &&
    textAt(a.side, one) === textAt(b.side, other) &&
    textAt(a.enterTag, one) === textAt(b.enterTag, other)
  );
}

/** An open trade is compared by its orders that were filled before `end`: later ones change its average price and its amount. */
function isSameOpenTrade([a, one]: TradeAt, [b, other]: TradeAt, end: number, isEqual: IsEqual): boolean {
  return (
    isSameOrigin(a, one, b, other) &&
    a.openedAt[one] === b.openedAt[other] &&
    isEqual(a.leverage[one]!, b.leverage[other]!) &&
    areSameOrders(ordersBefore(a, one, end), ordersBefore(b, other, end), isEqual)
  );
}

type ComparedOrder = Pick<TradeOrder, 'side' | 'price' | 'amount' | 'filledAt' | 'tag'>;

/** The filled orders of an open trade; the first entry of one without other orders. */
function ordersBefore(table: TradeTable, row: number, end: number): readonly ComparedOrder[] {
  const { entryPrice, amount, openedAt, leftOpen } = table;
  const [first, ...others] = table.orders.get(row) ?? [];
  // The time of the first fill is not known without other orders.
  const entry = { side: 'entry', filledAt: openedAt[row]!, tag: textAt(table.enterTag, row) } as const;
  const price = first?.price ?? entryPrice[row]!;
  const later = leftOpen[row] === 1 ? others.slice(0, -1) : others;
  return [
    { ...entry, price, amount: first?.amount ?? amount[row]! },
    ...later.filter(({ filledAt }) => filledAt < end),
  ];
}

function areSameOrders(
  before: readonly ComparedOrder[],
  after: readonly ComparedOrder[],
  isEqual: IsEqual,
): boolean {
  return (
    before.length === after.length &&
    before.every((order, index) => {
      const { side, price, amount, filledAt, tag } = after[index]!;
      return (
        order.side === side &&
        order.filledAt === filledAt &&
        order.tag === tag &&
        isEqual(order.price, price) &&
        isEqual(order.amount, amount)
      );
    })
  );
}

/** Row of a trade in a table; -1 for none. */
type TradeAt = readonly [table: TradeTable, row: number];

function tradeFinding(
  before: TradeAt,
  after: TradeAt,
  end: number,
  { kind, ...sides }: Sides,
): LookAheadFinding {
  const [table, row] = before[1] >= 0 ? before : after;
  const pair = textAt(table.pair, row);
  const time = table.openedAt[row]!;
  return {
    kind,
    pair,
    callback: null,
    column: null,
    row: null,
    time,
    location: '',
    message:
      `Trade of ${pair} of ${iso(time)}: ${tradeText(before, end)} ${sides.before}, ` +
      `${tradeText(after, end)} ${sides.after}`,
  };
}

function tradeText([table, row]: TradeAt, end: number): string {
  if (row < 0) return 'none';
  const tag = textAt(table.enterTag, row);
  const orders = table.orders.has(row) ? `, ${ordersBefore(table, row, end).length} orders` : '';
  const entry = `${textAt(table.side, row)} at ${table.entryPrice[row]}${tag === null ? '' : ` (${tag})`}${orders}`;
  if (table.leftOpen[row] === 1 || table.closedAt[row]! >= end) return entry;
  const exit = `exit at ${table.exitPrice[row]} (${textAt(table.exitReason, row)}, ${iso(table.closedAt[row]!)})`;
  return `${entry}, ${exit}`;
}
