import { DataStore } from '../callback-values.ts';
import { CANDLE_COLUMNS, type Candles } from '../candles.ts';
import type { CallbackContext, Columns, LoopContext, StrategyCallbacks, TradeView } from '../strategy.ts';

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

/** Known rows of a pair, updated by each call. */
interface Known {
  index: number;
  call: GuardedCall;
}

interface Guarded {
  readonly known: Known;
}

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
  const pairs = new Map<string, Pick<CallbackContext, 'candles' | 'columns' | 'informative'> & Guarded>();
  return ({ candles, columns, informative, ...context }, callback) => {
    const { index, pair } = context;
    const call = { callback, pair, row: index, opened: candles.timestamp[index]! };
    let views = pairs.get(pair);
    if (!views) {
      const known = { index, call };
      views = {
        known,
        candles: guardCandles(candles, known, log),
        columns: guardAll('columns', columns, known, log),
        informative: guardInformative(informative, known, log),
      };
      pairs.set(pair, views);
    }
    views.known.index = index;
    views.known.call = call;
    return { ...context, candles: views.candles, columns: views.columns, informative: views.informative };
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

const WRITING: readonly PropertyKey[] = ['set', 'fill', 'sort', 'reverse', 'copyWithin'];
const { prototype } = Float64Array;

function guardColumn(
  name: string,
  column: Float64Array,
  atOpen: boolean,
  known: Known,
  log: GuardLog,
): Float64Array {
  const allowed = () => Math.min(column.length, atOpen ? known.index + 1 : known.index);
  const reject = (error: GuardError): never => {
    log.error ??= { cause: error, call: known.call };
    throw error;
  };
  const write = (): never =>
    reject(new GuardError('input_changed', name, null, `wrote into ${name}; a callback may only read`));
  const read = (row: number) =>
    row < allowed()
      ? column[row]
      : reject(new GuardError('look_ahead', name, row, described(name, row, known)));
  const member = (key: PropertyKey) => {
    log.onUse?.({ column: name, member: String(key), stack: new Error('used here') }, known.call);
    if (key === 'length') return known.index + 1;
    if (key === 'byteLength') return (known.index + 1) * prototype.BYTES_PER_ELEMENT;
    if (key === 'byteOffset') return 0;
    if (key === 'buffer') return column.slice(0, allowed()).buffer;
    if (WRITING.includes(key)) return write;
    const value: unknown = Reflect.get(prototype, key, column);
    if (typeof value !== 'function' || key === 'constructor') return value;
    const rows = () => (key === 'subarray' ? column.slice(0, allowed()) : column.subarray(0, allowed()));
    return (...args: unknown[]) => Reflect.apply(value, rows(), args);
  };
  // The target is empty: nothing can be read past the traps.
  return new Proxy(new Float64Array(0), {
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
    set: write,
    defineProperty: write,
    deleteProperty: write,
  });
}

const ROW = /^\d+$/;

/** The row that a key names; null for a member. Negative and fractional rows are undefined in every column. */
function rowOf(key: PropertyKey): number | null {
  return typeof key === 'string' && ROW.test(key) ? Number(key) : null;
}

function described(name: string, row: number, { index }: Known): string {
  const ahead = row - index;
  return ahead === 0
    ? `read ${name}[${row}]: row index (${index}) is the candle that is still forming, of which only timestamp and open are known`
    : `read ${name}[${row}]: ${ahead} ${ahead === 1 ? 'row' : 'rows'} beyond index (${index})`;
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

/** Wraps callbacks: every call is added to `calls`. */
export function recordingCallbacks(
  callbacks: StrategyCallbacks,
  calls: Call[],
  contextFor: ContextFor,
): StrategyCallbacks {
  const recording: Record<string, Callback> = {};
  for (const [name, callback] of Object.entries(callbacks) as [CallbackName, Callback | undefined][]) {
    if (!callback) continue;
    recording[name] = (context, ...args) => {
      const stores = storesOf(context, args[0]);
      for (const store of stores) store.watch();
      const returned = callback.call(callbacks, seenContext(context, name, contextFor), ...args);
      const { pair, row, opened } = placeOf(context);
      calls.push({
        callback: name,
        pair,
        row,
        opened,
        args: comparables(args),
        returned:
          typeof returned === 'object' && returned !== null
            ? JSON.stringify(returned)
            : (returned as Comparable),
        stored: changesOf(stores),
      });
      return returned;
    };
  }
  return recording as StrategyCallbacks;
}

function seenContext(context: CallbackContext | LoopContext, name: CallbackName, contextFor: ContextFor) {
  if ('candles' in context) return contextFor(context, name);
  const { time, params, state, pairs } = context;
  return { time, params, state, pairs: pairs.map((each) => contextFor(each, name)) };
}

function placeOf(context: CallbackContext | LoopContext): Pick<Call, 'pair' | 'row' | 'opened'> {
  if (!('candles' in context)) return { pair: null, row: null, opened: context.time };
  const { pair, index: row, candles } = context;
  return { pair, row, opened: candles.timestamp[row]! };
}

/** The values of an order, and a value itself. The trade and the limits are views, which show the present. */
function comparables(args: readonly unknown[]): Comparable[] {
  const values: Comparable[] = [];
  for (const arg of args) {
    if (typeof arg !== 'object' || arg === null) values.push(arg as Comparable);
    else if (Object.getPrototypeOf(arg) === Object.prototype)
      values.push(...(Object.values(arg) as Comparable[]));
  }
  return values;
}

function storesOf({ state }: CallbackContext | LoopContext, trade: unknown): DataStore[] {
  const data = typeof trade === 'object' && trade !== null ? (trade as Partial<TradeView>).data : undefined;
  const stores: DataStore[] = [];
  if (state instanceof DataStore) stores.push(state);
  if (data instanceof DataStore) stores.push(data);
  return stores;
}

function changesOf(stores: readonly DataStore[]): string | null {
  const isChanged = stores.some(({ changed }) => changed!.size > 0);
  return isChanged ? `[${stores.map((each) => each.changesText()).join(',')}]` : null;
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
