import type { PairHistory } from '../run/history.ts';
import type { SimulatedTrade } from '../simulator/trade-table.ts';
import { describeThrown, locationOf } from '../strategy-errors.ts';
import { type ColumnFinding, columnsOf, Findings, isSame, labelOf } from './compare-columns.ts';
import type { Call, CallbackName, Comparable, GuardError, GuardedCall } from './guard.ts';
import { knownRows, type Observed, type PairAnalysis } from './runs.ts';

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

/** Certificate finding for a finding of the column test. */
export function columnFinding(found: ColumnFinding): LookAheadFinding {
  const { kind, pair, column, row, time, before, after, known } = found;
  return {
    kind,
    pair,
    column,
    row,
    time,
    callback: null,
    location: '',
    message: `${column} of ${pair} at ${iso(time)} was ${before} when ${known} candles were known, and is ${after} with all`,
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

/** Compares columns and signals in the rows that had closed by `time`, of every pair with an analysis. */
export function compareColumns(
  histories: readonly PairHistory[],
  time: number,
  cut: ReadonlyMap<string, PairAnalysis>,
  whole: ReadonlyMap<string, PairAnalysis>,
): LookAheadFinding[] {
  return histories.flatMap((history) => {
    const { pair } = history.data;
    const [before, after] = [cut.get(pair), whole.get(pair)];
    if (!before || !after) return [];
    const known = knownRows(history, time);
    const findings = new Findings(pair, history.candles);
    findings.compare('look_ahead', known, columnsOf(before), columnsOf(after));
    const horizon = 'trainingInputs' in after ? after.trainingInputs.horizon : 0;
    findings.compare('look_ahead', known - horizon, labelOf(before), labelOf(after));
    return findings.all().map(columnFinding);
  });
}

/** Kind of a difference between two runs, and a phrase for each run. */
export interface Sides {
  readonly kind: FindingKind;
  /** `with all candles`, `when ... was the last one known`. */
  readonly before: string;
  readonly after: string;
}

/**
 * First difference between two runs' calls, orders and trades in candles that open before `end`, ms. Later differences may
 * follow from the first.
 */
export function compareRuns(
  before: Observed,
  after: Observed,
  end: number,
  sides: Sides,
): LookAheadFinding | undefined {
  return compareCalls(before, after, end, sides) ?? compareTrades(before, after, end, sides);
}

function compareCalls(before: Observed, after: Observed, end: number, sides: Sides) {
  const callsBefore = before.calls.filter(({ opened }) => opened < end);
  const callsAfter = after.calls.filter(({ opened }) => opened < end);
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
  return (
    a.callback === b.callback &&
    a.pair === b.pair &&
    a.opened === b.opened &&
    a.args.every((value, index) => isSameValue(value, b.args[index]))
  );
}

function isSameValue(a: Comparable, b: Comparable): boolean {
  if (typeof a === 'number' && typeof b === 'number') return isSame(a, b);
  // null and undefined both mean "no change".
  return (a ?? null) === (b ?? null);
}

const shown = (value: Comparable) => (typeof value === 'string' ? JSON.stringify(value) : String(value));

/** Callbacks that set limit prices: such an entry may be filled after the cut, in a missing candle. */
const LIMIT_ENTRIES = ['customEntryPrice', 'adjustEntryPrice'];

function compareTrades(before: Observed, after: Observed, end: number, sides: Sides) {
  const closed = ({ trades }: Observed) =>
    trades.filter((each) => !each.leftOpen && each.closedAt < end).map(exitOf);
  const opened = ({ trades }: Observed) =>
    trades
      .filter((each) => each.openedAt < end)
      .map(entryOf)
      .sort((a, b) => a.opened - b.opened || comparePairs(a, b));
  const adjusted = ({ trades }: Observed) =>
    trades
      .flatMap(adjustmentsOf)
      .filter(({ filled }) => filled! < end)
      .sort((a, b) => a.filled! - b.filled! || comparePairs(a, b) || a.opened - b.opened);
  const byLimit = before.callbacks.some((name) => LIMIT_ENTRIES.includes(name));
  return (
    (byLimit ? undefined : firstDifference(opened(before), opened(after), sides)) ??
    firstDifference(adjusted(before), adjusted(after), sides) ??
    firstDifference(closed(before), closed(after), sides)
  );
}

/** Order of two events at the same time, which differs between runs where trades are left open. */
function comparePairs(a: TradeEvent, b: TradeEvent): number {
  if (a.pair === b.pair) return 0;
  return a.pair < b.pair ? -1 : 1;
}

/** Compared values of a trade's entry or exit. */
interface TradeEvent {
  readonly pair: string;
  readonly opened: number;
  /** Of an addition or partial exit. */
  readonly filled?: number;
  /** Description for a finding. */
  readonly text: string;
  readonly values: readonly Comparable[];
}

/** The first entry of a trade: later orders change its average price and its amount. */
function entryOf({ pair, openedAt, side, leverage, enterTag, orders, ...trade }: SimulatedTrade): TradeEvent {
  const { price, amount } = orders?.[0] ?? { price: trade.entryPrice, amount: trade.amount };
  const text = `${side} entry at ${price}${enterTag === null ? '' : ` (${enterTag})`}`;
  return { pair, opened: openedAt, text, values: [side, price, amount, leverage, enterTag] };
}

/** The additions and partial exits of a trade. Its last exit is its own event. */
function adjustmentsOf({ pair, openedAt, orders = [], leftOpen }: SimulatedTrade): TradeEvent[] {
  return orders.slice(1, leftOpen ? -1 : undefined).map(({ side, price, amount, filledAt, tag }) => ({
    pair,
    opened: openedAt,
    filled: filledAt,
    text: `${side} of ${amount} at ${price} (${iso(filledAt)})`,
    values: [openedAt, side, price, amount, filledAt, tag],
  }));
}

function exitOf(trade: SimulatedTrade): TradeEvent {
  const { pair, openedAt, closedAt, exitPrice, exitReason, profit, stopPrice } = trade;
  const text = `exit at ${exitPrice} (${exitReason}, ${iso(closedAt)})`;
  return { pair, opened: openedAt, text, values: [closedAt, exitPrice, exitReason, profit, stopPrice] };
}

function firstDifference(
  before: readonly TradeEvent[],
  after: readonly TradeEvent[],
  sides: Sides,
): LookAheadFinding | undefined {
  const count = Math.max(before.length, after.length);
  for (let index = 0; index < count; index++) {
    const [a, b] = [before[index], after[index]];
    if (a && b && a.pair === b.pair && a.opened === b.opened) {
      if (a.values.every((value, at) => isSameValue(value, b.values[at]))) continue;
    }
    const first = (a ?? b)!;
    return {
      kind: sides.kind,
      pair: first.pair,
      callback: null,
      column: null,
      row: null,
      time: first.opened,
      location: '',
      message:
        `Trade of ${first.pair} of ${iso(first.opened)}: ${a?.text ?? 'none'} ${sides.before}, ` +
        `${b?.text ?? 'none'} ${sides.after}`,
    };
  }
  return undefined;
}
