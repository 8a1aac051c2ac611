import { DataStore } from '#engine/callback-values.ts';
import { LoopView, PairRow } from '#engine/simulator/state/loop-view.ts';
import { PositionView } from '#engine/simulator/state/position-view.ts';
import { Context, Limits } from '#engine/simulator/state/run.ts';
import { closeGlobals, deepFreeze } from './processes/strategy-globals.ts';

/** Object shared by all modules, and its original properties. */
interface SharedObject {
  readonly name: string;
  readonly object: object;
  readonly keys: readonly PropertyKey[];
  /** Functions and accessors, which are restored. */
  readonly restored: readonly { readonly key: PropertyKey; readonly before: PropertyDescriptor }[];
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/** Classes of the objects that callbacks get. */
const VIEWS = { Context, DataStore, Limits, LoopView, PairRow, PositionView };

/** What a strategy may leave behind between its runs. */
interface SharedState {
  /** Removes it. Throws Error with the name of `file` if it cannot. */
  readonly restore: (file: string) => void;
  /** Names of what it had to restore so far, through which data of the engine passes. */
  readonly replaced: () => readonly string[];
}

/**
 * Makes the objects that all modules share the same for each run of a strategy; call it before its first import. A process of a
 * sandbox freezes them and `others`, so a strategy keeps nothing there. Any other process remembers and restores them.
 */
export function shareGlobals(others: Readonly<Record<string, unknown>> = {}): SharedState {
  const shared = { ...VIEWS, ...others };
  if (!closeGlobals()) return rememberGlobals(shared);
  for (const each of Object.values(shared)) if (isObject(each)) deepFreeze(each);
  return { restore: forgetMatch, replaced: () => [] };
}

/** The text of the last match is in `RegExp.$_`. */
function forgetMatch(): void {
  /^/.exec('');
}

/**
 * Records the objects that all modules share: global values such as `Math` and `Map`, their prototypes, and `others` by
 * name. Getters are not called.
 *
 * `restore` removes added properties and restores replaced functions and accessors. Other changed values stay.
 */
function rememberGlobals(others: Readonly<Record<string, unknown>>): SharedState {
  const known = new Map<object, SharedObject>();
  const add = (name: string, object: unknown) => {
    if (!isObject(object) || known.has(object)) return;
    const keys = Reflect.ownKeys(object);
    const properties = keys.map((key) => ({ key, before: Reflect.getOwnPropertyDescriptor(object, key)! }));
    known.set(object, {
      name,
      object,
      keys,
      restored: properties.filter(({ before }) => isRestored(before)),
    });
    add(`${name}.prototype`, properties.find(({ key }) => key === 'prototype')?.before.value);
  };
  add('globalThis', globalThis);
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(globalThis))) {
    add(name, value);
  }
  for (const [name, value] of Object.entries({ ...unnamed(), process, ...others })) add(name, value);
  const replaced = new Set<string>();
  return {
    restore: (file) => {
      forgetMatch();
      for (const shared of known.values()) restoreObject(shared, file, replaced);
    },
    replaced: () => [...replaced].filter((name) => CARRIERS.test(name)),
  };
}

/** Built-in objects that are no global value. */
function unnamed(): Record<string, unknown> {
  const prototypeOf = (object: object) => Object.getPrototypeOf(object) as object;
  return {
    TypedArray: prototypeOf(Float64Array),
    ArrayIterator: { prototype: prototypeOf([][Symbol.iterator]()) },
    MapIterator: { prototype: prototypeOf(new Map().entries()) },
    SetIterator: { prototype: prototypeOf(new Set().values()) },
  };
}

/** Built-in objects whose functions get arrays and objects of the engine: one in their place could keep what is not known yet. */
const CARRIERS =
  /^(\w*Array|\w*Iterator|Array|Object|Function|Map|Set|WeakMap|Reflect|Promise|Proxy|ArrayBuffer|DataView|JSON)\b/;

// Runs before each load, a few thousand properties: loops without iterators, because a short task has not optimized them.

function restoreObject(
  { name, object, keys, restored }: SharedObject,
  file: string,
  replaced: Set<string>,
): void {
  const now = Reflect.ownKeys(object);
  if (now.length !== keys.length || now.some((key, index) => key !== keys[index])) {
    for (const key of now) {
      if (keys.includes(key) || Reflect.deleteProperty(object, key)) continue;
      // Node adds symbols that cannot be deleted.
      if (typeof key === 'symbol') continue;
      throw keptState(file, name, key);
    }
  }
  for (let index = 0, { length } = restored; index < length; index++) {
    const { key, before } = restored[index]!;
    if (!isReplaced(before, Reflect.getOwnPropertyDescriptor(object, key))) continue;
    replaced.add(`${name}.${String(key)}`);
    if (!Reflect.defineProperty(object, key, before)) throw keptState(file, name, key);
  }
}

/**
 * Other values belong to the process, such as its exit code. Node replaces its own lazy accessors, which have a setter, with their
 * value at the first use.
 */
function isRestored({ value, get, set }: PropertyDescriptor): boolean {
  return typeof value === 'function' || (get !== undefined && set === undefined);
}

function isReplaced(before: PropertyDescriptor, now: PropertyDescriptor | undefined): boolean {
  return before.get === undefined ? now?.value !== before.value : now?.get !== before.get;
}

function keptState(file: string, name: string, key: PropertyKey): Error {
  return new Error(`${file} keeps state in ${name}.${String(key)}, which cannot be removed between runs`);
}
