import type { PairHistory } from '../run/history.ts';
import { describeThrown, placeOf } from '../run/strategy-errors.ts';
import type { SimulatedTrade } from '../simulator/trade-table.ts';
import { type LookAheadFinding as ColumnFinding, columnsOf, Findings, isSame, labelOf } from './analysis.ts';
import type { Call, CallbackName, Comparable, GuardError, GuardedCall } from './guard.ts';
import { knownRows, type Observed, type PairAnalysis } from './runs.ts';

/**
 * Reason for which a strategy is not certified:
 * - `look_ahead`: it read what is not known yet, or something changed when later candles became known;
 * - `not_repeatable`: two runs over the same candles differed, so nothing can be said about the future;
 * - `input_changed`: it wrote into what it was given;
 * - `not_runnable`: it fails on a part of the candles, or under guard, and runs on the whole.
 */
type FindingKind = ColumnFinding['kind'] | 'not_runnable';

/** One fault of a strategy, with its first proof. */
export interface LookAheadFinding {
  readonly kind: FindingKind;
  /** Null where it is not of one pair. */
  readonly pair: string | null;
  readonly callback: CallbackName | null;
  /** `enterLong`, `columns.rsi`, `informative.4h.trend`, `candles.close`; null where no column is known. */
  readonly column: string | null;
  /** Row that was read or differs; null where none is known. */
  readonly row: number | null;
  /** Open time of the candle of the call or of the row, ms; null where none is known. */
  readonly time: number | null;
  /** `file:line` of the strategy's source, empty where it is not known. */
  readonly place: string;
  /** One sentence with all of it. */
  readonly message: string;
}

const iso = (time: number) => new Date(time).toISOString();

/** What the guard refused. */
export function guardFinding(cause: GuardError, call: GuardedCall): LookAheadFinding {
  const { callback, pair, opened } = call;
  const place = placeOf(cause);
  return {
    kind: cause.kind,
    pair,
    callback,
    place,
    column: cause.column,
    row: cause.row,
    time: opened,
    message: `${callback} of ${pair} in the candle of ${iso(opened)} ${cause.message}${place && ` (${place})`}`,
  };
}

/** A column test's finding as one of the certificate. */
export function columnFinding(found: ColumnFinding): LookAheadFinding {
  const { kind, pair, column, row, time, before, after, known } = found;
  return {
    kind,
    pair,
    column,
    row,
    time,
    callback: null,
    place: '',
    message: `${column} of ${pair} at ${iso(time)} was ${before} when ${known} candles were known, and is ${after} with all`,
  };
}

/** A run of a part that failed. */
export function failureFinding(error: unknown, when: string): LookAheadFinding {
  return {
    kind: 'not_runnable',
    pair: null,
    callback: null,
    column: null,
    row: null,
    time: null,
    place: '',
    message: `The strategy failed ${when}: ${error instanceof Error ? error.message : describeThrown(error)}`,
  };
}

/** Columns and signals of the rows that had closed by `time`, of every pair that has an analysis. */
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
    const horizon = 'learning' in after ? after.learning.horizon : 0;
    findings.compare('look_ahead', known - horizon, labelOf(before), labelOf(after));
    return findings.all().map(columnFinding);
  });
}

/** Names of what differs between two runs, and in words which of them gave what. */
export interface Sides {
  readonly kind: FindingKind;
  /** `with all candles`, `when ... was the last one known`. */
  readonly before: string;
  readonly after: string;
}

/**
 * The first difference between two runs' calls, orders and trades in candles that open before `end`, ms. After it the runs
 * go different ways: one is all that can be said.
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
  const ours = before.calls.filter(({ opened }) => opened < end);
  const theirs = after.calls.filter(({ opened }) => opened < end);
  const count = Math.max(ours.length, theirs.length);
  for (let at = 0; at < count; at++) {
    const [a, b] = [ours[at], theirs[at]];
    if (a && b && isSameCall(a, b)) {
      if (isSameValue(a.answer, b.answer)) continue;
      return callFinding(
        a,
        `returned ${shown(a.answer)} ${sides.before} and ${shown(b.answer)} ${sides.after}`,
        sides,
      );
    }
    if (!b || (a && a.opened <= b.opened))
      return callFinding(a!, `was asked ${sides.before} but not so ${sides.after}`, sides);
    return callFinding(b, `was asked ${sides.after} but not so ${sides.before}`, sides);
  }
  return undefined;
}

function callFinding(call: Call, difference: string, { kind }: Sides): LookAheadFinding {
  const { callback, pair, row, opened } = call;
  return {
    kind,
    pair,
    callback,
    row,
    column: null,
    time: opened,
    place: '',
    message: `${callback} of ${pair} in the candle of ${iso(opened)} (row ${row}) ${difference}`,
  };
}

function isSameCall(a: Call, b: Call): boolean {
  return (
    a.callback === b.callback &&
    a.pair === b.pair &&
    a.opened === b.opened &&
    a.asked.every((value, at) => isSameValue(value, b.asked[at]))
  );
}

function isSameValue(a: Comparable, b: Comparable): boolean {
  if (typeof a === 'number' && typeof b === 'number') return isSame(a, b);
  // No answer is no wish, however it is written.
  return (a ?? null) === (b ?? null);
}

const shown = (value: Comparable) => (typeof value === 'string' ? JSON.stringify(value) : String(value));

/** Entries by a limit price may be filled after the cut, in a candle that is not there. */
const LIMIT_ENTRIES = ['customEntryPrice', 'adjustEntryPrice'];

function compareTrades(before: Observed, after: Observed, end: number, sides: Sides) {
  const closed = ({ trades }: Observed) =>
    trades.filter((each) => !each.leftOpen && each.closedAt < end).map(asTold);
  const opened = ({ trades }: Observed) =>
    trades
      .filter((each) => each.openedAt < end)
      .map(asOpened)
      .sort((a, b) => a.opened - b.opened || (a.pair < b.pair ? -1 : 1));
  const byLimit = before.callbacks.some((name) => LIMIT_ENTRIES.includes(name));
  return (
    (byLimit ? undefined : firstDifference(opened(before), opened(after), sides)) ??
    firstDifference(closed(before), closed(after), sides)
  );
}

interface Told {
  readonly pair: string;
  readonly opened: number;
  readonly text: string;
  readonly values: readonly Comparable[];
}

function asOpened(trade: SimulatedTrade): Told {
  const { pair, openedAt, side, entryPrice, amount, stake, leverage, enterTag } = trade;
  const text = `${side} entry at ${entryPrice}${enterTag === null ? '' : ` (${enterTag})`}`;
  return { pair, opened: openedAt, text, values: [side, entryPrice, amount, stake, leverage, enterTag] };
}

function asTold(trade: SimulatedTrade): Told {
  const { pair, openedAt, closedAt, exitPrice, exitReason, profit, stopPrice } = trade;
  const text = `exit at ${exitPrice} (${exitReason}, ${iso(closedAt)})`;
  return { pair, opened: openedAt, text, values: [closedAt, exitPrice, exitReason, profit, stopPrice] };
}

function firstDifference(
  ours: readonly Told[],
  theirs: readonly Told[],
  sides: Sides,
): LookAheadFinding | undefined {
  const count = Math.max(ours.length, theirs.length);
  for (let at = 0; at < count; at++) {
    const [a, b] = [ours[at], theirs[at]];
    if (a && b && a.pair === b.pair && a.opened === b.opened) {
      if (a.values.every((value, place) => isSameValue(value, b.values[place]))) continue;
    }
    const first = (a ?? b)!;
    return {
      ...{
        kind: sides.kind,
        pair: first.pair,
        callback: null,
        column: null,
        row: null,
        time: first.opened,
        place: '',
      },
      message:
        `Trade of ${first.pair} of ${iso(first.opened)}: ${a?.text ?? 'none'} ${sides.before}, ` +
        `${b?.text ?? 'none'} ${sides.after}`,
    };
  }
  return undefined;
}
