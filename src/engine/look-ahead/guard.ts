import { DataStore } from '../callback-values.ts';
import { CANDLE_COLUMNS, type Candles, indexAtOrAfter } from '../candles.ts';
import type {
  CallbackContext,
  Columns,
  InformativeColumns,
  LoopContext,
  ReturnedSignals,
  SeriesInfo,
  StrategyCallbacks,
  StrategyDefinition,
  TradeView,
} from '../strategy.ts';
import { TIMEFRAME_MS } from '../timeframe.ts';

/** Forbidden read or write of a callback, thrown where it happens. */
export class GuardError extends Error {
  override readonly name = 'GuardError';
  readonly kind: 'look_ahead' | 'input_changed';
  /** `candles.close`, `columns.rsi`. */
  readonly column: string;
  /** Row that was read, in the rows that the callback sees; null for a write. */
  readonly row: number | null;

  constructor(kind: GuardError['kind'], column: string, row: number | null, message: string) {
    super(message);
    this.kind = kind;
    this.column = column;
    this.row = row;
  }
}

/** Column member that a callback used, such as `length` or `at`, with the stack. */
export interface MemberUse {
  readonly column: string;
  readonly member: string;
  readonly stack: Error;
}

/** State shared by the views of all pairs of a run. */
export interface GuardLog {
  /** First forbidden read or write and its call, also when the strategy caught the error. */
  error: { readonly cause: GuardError; readonly call: GuardedCall } | null;
  /** The present call; null during the analysis, in which all rows are known. */
  call: GuardedCall | null;
  /** Called for each use of a column member. */
  readonly onUse?: (use: MemberUse, call: GuardedCall) => void;
}

/** The present call. */
export interface GuardedCall {
  readonly callback: CallbackName;
  readonly pair: string;
  readonly row: number;
  /** Open time of the candle that is forming, ms. */
  readonly opened: number;
}

/** Rows of an array that a call may read. */
interface Known {
  /** Row of the candle that is forming; infinite during the analysis. */
  readonly index: number;
  /** Phrase for that row in messages. */
  readonly called: string;
}

/** The row as a callback knows it. */
const INDEX = 'index';

/** Columns whose value is known at the open of the forming candle; all others are known at its close. */
const KNOWN_AT_OPEN: readonly string[] = ['timestamp', 'open'];

/**
 * Contexts whose columns throw when a callback reads a row beyond `index`, or row `index` of a column other than `timestamp`
 * and `open`. `length` is `index + 1`. Methods and iterators use the allowed rows only, and their results share no memory with
 * the column. Every view is an instance of Float64Array, but `ArrayBuffer.isView` is false for it.
 *
 * @returns the guarded context of a call; one per pair, valid during the call
 */
export function guarding(
  log: GuardLog,
): (context: CallbackContext, callback: CallbackName) => CallbackContext {
  const pairs = new Map<
    string,
    Pick<CallbackContext, 'candles' | 'columns' | 'informative' | 'signals'> & {
      known: { index: number; called: string };
    }
  >();
  return (context, callback) => {
    const { time, index, pair, params, state } = context;
    let views = pairs.get(pair);
    if (!views) {
      const known = { index, called: INDEX };
      views = {
        known,
        candles: guardCandles(context.candles, known, log),
        columns: guardAll('columns', context.columns, known, log),
        informative: guardInformative(context.informative, known, log),
        signals: guardSignals(context.signals, known, log),
      };
      pairs.set(pair, views);
    }
    views.known.index = index;
    log.call = { callback, pair, row: index, opened: context.candles.timestamp[index]! };
    const { candles, columns, informative, signals } = views;
    const { enterTag } = context;
    const own = { index, pair, enterTag, candles, columns, informative, signals };
    return withAccount({ time, params, state, ...own }, context);
  };
}

/** Adds what a context reads of the account, which is computed only when it is read. */
function withAccount<T extends object>(seen: T, account: Account): T & Account {
  return Object.defineProperties(seen, {
    fee: { value: account.fee, enumerable: true },
    wallet: { get: () => account.wallet, enumerable: true },
    openTrades: { get: () => account.openTrades, enumerable: true },
  }) as T & Account;
}

type Account = Pick<CallbackContext, 'fee' | 'wallet' | 'openTrades'>;

/**
 * The strategy with guarded arrays in place of those that its functions get for the analysis. Whoever keeps one and reads it in a
 * callback may read the rows that are known by then.
 */
export function guardingKept(strategy: StrategyDefinition, log: GuardLog): StrategyDefinition {
  const knownOf = ({ timestamp }: Candles, { timeframe }: SeriesInfo): Known => {
    const times = timestamp.slice();
    const stepMs = TIMEFRAME_MS[timeframe];
    return {
      called: 'the candle that is forming',
      get index() {
        if (log.call === null) return Number.POSITIVE_INFINITY;
        // A series that has ended is known to its last row.
        return indexAtOrAfter(times, log.call.opened - stepMs + 1);
      },
    };
  };
  const ownOf = (columns: Columns): Columns =>
    Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, unguarded(column)]));
  const { indicators, signals, mlFeatures } = strategy;
  return {
    ...strategy,
    indicators: (candles, params, info) => {
      const known = knownOf(candles, info);
      return ownOf(indicators.call(strategy, guardCandles(candles, known, log), params, info));
    },
    signals: (candles, columns, params, informative, info) => {
      const known = knownOf(candles, info);
      return signals.call(
        strategy,
        guardCandles(candles, known, log),
        guardAll('columns', columns as Columns, known, log),
        params,
        guardInformative(informative, known, log) as InformativeColumns,
        info,
      );
    },
    ...(mlFeatures && {
      mlFeatures: (candles, columns, params, informative, info) => {
        const known = knownOf(candles, info);
        return ownOf(
          mlFeatures.call(
            strategy,
            guardCandles(candles, known, log),
            guardAll('columns', columns, known, log),
            params,
            guardInformative(informative, known, log) as InformativeColumns,
            info,
          ),
        );
      },
    }),
  };
}

function guardCandles(candles: Candles, known: Known, log: GuardLog): Candles {
  const views: Partial<Record<keyof Candles, Float64Array>> = {};
  for (const name of CANDLE_COLUMNS) {
    views[name] = guardColumn(`candles.${name}`, candles[name], KNOWN_AT_OPEN.includes(name), known, log);
  }
  return Object.freeze(views) as Candles;
}

function guardAll(path: string, columns: Columns, known: Known, log: GuardLog): Columns {
  const views = Object.entries(columns).map(([name, column]) => [
    name,
    guardColumn(`${path}.${name}`, column, false, known, log),
  ]);
  return Object.freeze(Object.fromEntries(views));
}

/** A row of a forming candle holds informative candles that close with it: they are not known at its open either. */
function guardInformative(
  informative: CallbackContext['informative'],
  known: Known,
  log: GuardLog,
): CallbackContext['informative'] {
  const views = Object.entries(informative).map(([key, columns]) => [
    key,
    guardAll(`informative.${key}`, columns, known, log),
  ]);
  return Object.freeze(Object.fromEntries(views));
}

/** A signal of a row is known when its candle has closed, as a column is. */
function guardSignals(signals: ReturnedSignals, known: Known, log: GuardLog): ReturnedSignals {
  const views = Object.entries(signals).map(([name, column]) => [
    name,
    ArrayBuffer.isView(column)
      ? guardColumn(`signals.${name}`, column as Uint8Array, false, known, log)
      : column,
  ]);
  return Object.freeze(Object.fromEntries(views));
}

const WRITING: readonly PropertyKey[] = ['set', 'fill', 'sort', 'reverse', 'copyWithin'];

type Column = Float64Array | Uint8Array;

function memberInAnalysis(column: Column, key: PropertyKey): unknown {
  const value: unknown = Reflect.get(typeOf(column).prototype, key, column);
  return typeof value === 'function' && key !== 'constructor' ? value.bind(column) : value;
}

/** Columns by their guarded views. */
const guarded = new WeakMap<Float64Array, Float64Array>();

function unguarded(column: Float64Array): Float64Array {
  return guarded.get(column) ?? column;
}

const typeOf = (column: Column) => (column instanceof Uint8Array ? Uint8Array : Float64Array);

function guardColumn<T extends Column>(
  name: string,
  column: T,
  atOpen: boolean,
  known: Known,
  log: GuardLog,
): T {
  const Type = typeOf(column);
  const { prototype } = Type;
  const allowed = () => Math.min(column.length, atOpen ? known.index + 1 : known.index);
  const reject = (error: GuardError): never => {
    log.error ??= { cause: error, call: log.call! };
    throw error;
  };
  const write = (): never =>
    reject(new GuardError('input_changed', name, null, `wrote into ${name}; a callback may only read`));
  const read = (row: number) =>
    row < allowed() || log.call === null
      ? column[row]
      : reject(new GuardError('look_ahead', name, row, described(name, row, known)));
  const member = (key: PropertyKey) => {
    if (log.call === null) return memberInAnalysis(column, key);
    const value: unknown = Reflect.get(prototype, key, column);
    log.onUse?.({ column: name, member: String(key), stack: new Error('used here') }, log.call);
    const length = Math.min(column.length, known.index + 1);
    if (key === 'length') return length;
    if (key === 'byteLength') return length * prototype.BYTES_PER_ELEMENT;
    if (key === 'byteOffset') return 0;
    if (key === 'buffer') return column.slice(0, allowed()).buffer;
    if (WRITING.includes(key)) return write;
    if (typeof value !== 'function' || key === 'constructor') return value;
    const rows = () => (key === 'subarray' ? column.slice(0, allowed()) : column.subarray(0, allowed()));
    return (...args: unknown[]) => Reflect.apply(value, rows(), args);
  };
  // The target is empty: nothing can be read past the traps.
  const view: Column = new Proxy<Column>(new Type(0), {
    get(_, key) {
      const row = rowOf(key);
      return row === null ? member(key) : read(row);
    },
    has: (_, key) => (rowOf(key) === null ? Reflect.has(prototype, key) : rowOf(key)! < allowed()),
    ownKeys: () => Array.from({ length: allowed() }, (__, row) => String(row)),
    getOwnPropertyDescriptor(_, key) {
      const row = rowOf(key);
      if (row === null || row >= allowed()) return undefined;
      return { value: column[row], writable: true, enumerable: true, configurable: true };
    },
    set: (_, key, value) => (log.call === null ? Reflect.set(column, key, value) : write()),
    defineProperty: (_, key, descriptor) =>
      log.call === null ? Reflect.defineProperty(column, key, descriptor) : write(),
    deleteProperty: write,
  });
  if (view instanceof Float64Array) guarded.set(view, column as Float64Array);
  return view as T;
}

const [ZERO, NINE] = ['0', '9'].map((digit) => digit.charCodeAt(0)) as [number, number];

/** The row that a key names; null for a member. Negative and fractional rows are undefined in every column. */
function rowOf(key: PropertyKey): number | null {
  if (typeof key !== 'string') return null;
  // A regular expression would take most of the time of a guarded analysis.
  const first = key.charCodeAt(0);
  if (!(first >= ZERO && first <= NINE)) return null;
  const row = Number(key);
  return Number.isInteger(row) ? row : null;
}

function described(name: string, row: number, { index, called }: Known): string {
  const ahead = row - index;
  const forming = called === INDEX ? `row ${called} (${index})` : 'it';
  return ahead === 0
    ? `read ${name}[${row}]: ${forming} is the candle that is still forming, of which only timestamp and open are known`
    : `read ${name}[${row}]: ${ahead} ${ahead === 1 ? 'row' : 'rows'} beyond ${called} (${index})`;
}

export type CallbackName = keyof StrategyCallbacks;
/** An argument or return value that can be compared. */
export type Comparable = number | string | boolean | null | undefined;

/** One call of a callback with its arguments and return value. */
export interface Call {
  readonly callback: CallbackName;
  /** null for `loopStart`, which has no pair. */
  readonly pair: string | null;
  /** Row of the forming candle, in the rows that the callback sees; null without a pair. */
  readonly row: number | null;
  /** Open time of that candle, ms. */
  readonly opened: number;
  /** Arguments after the context, without the trade. */
  readonly args: readonly Comparable[];
  readonly returned: Comparable;
  /** What the call changed of what the strategy keeps for simulation and trade; null for nothing. */
  readonly stored: string | null;
}

/** Context for the strategy in place of the simulator's. */
type ContextFor = (context: CallbackContext, callback: CallbackName) => CallbackContext;
type Callback = (context: CallbackContext | LoopContext, ...args: unknown[]) => unknown;

/** Times in which calls are recorded, ms, both included. */
export interface RecordedTimes {
  readonly from: number;
  readonly to: number;
}

/** Wraps callbacks: every call in `times` is added to `calls`. */
export function recordingCallbacks(
  callbacks: StrategyCallbacks,
  calls: Call[],
  times: readonly RecordedTimes[],
  contextFor?: ContextFor,
): StrategyCallbacks {
  const recording: Record<string, Callback> = {};
  let span = spanAt(times, Number.NEGATIVE_INFINITY);
  for (const [name, callback] of Object.entries(callbacks) as [CallbackName, Callback | undefined][]) {
    if (!callback) continue;
    // Callbacks have at most five parameters; a rest parameter would allocate in every candle.
    recording[name] = (context, a, b, c, d) => {
      const { time } = context;
      if (!(time >= span.from && time <= span.to)) span = spanAt(times, time);
      const seen = contextFor ? seenContext(context, name, contextFor) : context;
      if (!span.isRecorded) return callback.call(callbacks, seen, a, b, c, d);
      const data = dataOf(a);
      watch(context.state);
      data?.watch();
      const returned = callback.call(callbacks, seen, a, b, c, d);
      const args: Comparable[] = [];
      addComparable(args, a);
      addComparable(args, b);
      addComparable(args, c);
      addComparable(args, d);
      calls.push(callOf(name, context, args, returned, changesOf(context.state, data)));
      return returned;
    };
  }
  return recording as StrategyCallbacks;
}

/** Times in which all calls are recorded, or none. */
interface Span extends RecordedTimes {
  readonly isRecorded: boolean;
}

function spanAt(times: readonly RecordedTimes[], time: number): Span {
  const within = times.find(({ from, to }) => time >= from && time <= to);
  if (within) return { ...within, isRecorded: true };
  // Times are integers.
  const ended = times.map(({ to }) => to + 1).filter((from) => from <= time);
  const next = times.map(({ from }) => from - 1).filter((to) => to >= time);
  return { from: Math.max(...ended), to: Math.min(...next), isRecorded: false };
}

function callOf(
  callback: CallbackName,
  context: CallbackContext | LoopContext,
  args: readonly Comparable[],
  returned: unknown,
  stored: string | null,
): Call {
  const isObject = typeof returned === 'object' && returned !== null;
  const value = isObject ? JSON.stringify(returned) : (returned as Comparable);
  if (!('candles' in context)) {
    return { callback, pair: null, row: null, opened: context.time, args, returned: value, stored };
  }
  const { pair, index: row, candles } = context;
  return { callback, pair, row, opened: candles.timestamp[row]!, args, returned: value, stored };
}

function dataOf(trade: unknown): DataStore | undefined {
  if (typeof trade !== 'object' || trade === null) return undefined;
  const { data } = trade as Partial<TradeView>;
  return data instanceof DataStore ? data : undefined;
}

function watch(state: unknown): void {
  if (state instanceof DataStore) state.watch();
}

function seenContext(context: CallbackContext | LoopContext, name: CallbackName, contextFor: ContextFor) {
  if ('candles' in context) return contextFor(context, name);
  const { time, params, state, pairs } = context;
  return withAccount({ time, params, state, pairs: pairs.map((each) => contextFor(each, name)) }, context);
}

/** Adds a value, or those of an order. The trade and the limits are views, which show the present. */
function addComparable(values: Comparable[], arg: unknown): void {
  if (typeof arg !== 'object' || arg === null) values.push(arg as Comparable);
  else if (Object.getPrototypeOf(arg) === Object.prototype) {
    values.push(...(Object.values(arg) as Comparable[]));
  }
}

/** What a call changed in the state of the simulation and the data of the trade; null for nothing. */
function changesOf(state: unknown, data: DataStore | undefined): string | null {
  const own = state instanceof DataStore ? state : undefined;
  const hasChanged = (own?.changed?.size ?? 0) > 0 || (data?.changed?.size ?? 0) > 0;
  if (!hasChanged) return null;
  const texts = [own, data].flatMap((each) => (each ? [each.changesText()] : []));
  return `[${texts.join(',')}]`;
}

/** Index of the proposed value among the compared arguments; returning it means no change. */
const PROPOSED: Partial<Record<CallbackName, number>> = {
  leverage: 1,
  customStake: 1,
  customEntryPrice: 1,
  customExitPrice: 0,
  adjustEntryPrice: 0,
  adjustExitPrice: 0,
};

const CONFIRMATIONS: readonly CallbackName[] = ['confirmEntry', 'confirmExit'];
const CANCELLING: readonly CallbackName[] = ['adjustEntryPrice', 'adjustExitPrice'];
const WITHOUT_RESULT: readonly CallbackName[] = ['orderFilled', 'loopStart'];

/** True if the call has an effect: a changed value, a denied confirmation, a stop, a ratio, an exit, or kept data. */
export function hasActed({ callback, args, returned, stored }: Call): boolean {
  if (stored !== null) return true;
  if (WITHOUT_RESULT.includes(callback)) return false;
  if (CONFIRMATIONS.includes(callback)) return returned === false;
  if (CANCELLING.includes(callback) && returned === null) return true;
  if (returned === null || returned === undefined) return false;
  const proposed = PROPOSED[callback];
  if (proposed !== undefined) return returned !== args[proposed];
  return returned !== 0 && returned !== '' && returned !== false;
}
