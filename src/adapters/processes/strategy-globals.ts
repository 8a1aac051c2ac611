/**
 * Global object of a process that runs strategy code. Strategy and platform share it, so the platform keeps its own references: its
 * modules import `node:process` and `node:timers`, and use only global names that are listed here.
 *
 * Node freezes JavaScript's built-in objects at the start (`--frozen-intrinsics`), but not the global names, nor Node's own classes.
 */
import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import process from 'node:process';
import timers from 'node:timers';
import { inspect, types } from 'node:util';
import { deserialize, serialize } from 'node:v8';
import { SANDBOX_FLAGS } from '#contract/values/sandbox-flags.ts';

/** Names of JavaScript: they compute. */
const LANGUAGE = [
  // Values and functions.
  'globalThis',
  'Infinity',
  'NaN',
  'undefined',
  'isFinite',
  'isNaN',
  'parseFloat',
  'parseInt',
  'decodeURI',
  'decodeURIComponent',
  'encodeURI',
  'encodeURIComponent',
  'escape',
  'unescape',
  'eval',
  // Values as objects.
  'Object',
  'Function',
  'Boolean',
  'Symbol',
  'Number',
  'BigInt',
  'Math',
  'Date',
  'String',
  'RegExp',
  'JSON',
  // Errors.
  'Error',
  'AggregateError',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
  'SuppressedError',
  // Collections, promises, reflection.
  'Array',
  'Map',
  'Set',
  'WeakMap',
  'WeakSet',
  'WeakRef',
  'Iterator',
  'Promise',
  'Proxy',
  'Reflect',
  'Intl',
  // Memory.
  'ArrayBuffer',
  'SharedArrayBuffer',
  'Atomics',
  'DataView',
  'Int8Array',
  'Uint8Array',
  'Uint8ClampedArray',
  'Int16Array',
  'Uint16Array',
  'Int32Array',
  'Uint32Array',
  'Float16Array',
  'Float32Array',
  'Float64Array',
  'BigInt64Array',
  'BigUint64Array',
  // Resources, and code that reaches what it is given only.
  'DisposableStack',
  'AsyncDisposableStack',
  'WebAssembly',
];

/** Classes and functions of Node that reach nothing outside of the process, most of them used by the platform's packages. */
const NODE = [
  'Buffer',
  'URL',
  'URLSearchParams',
  'TextEncoder',
  'TextDecoder',
  'AbortController',
  'AbortSignal',
  'Event',
  'EventTarget',
  'queueMicrotask',
  'atob',
  'btoa',
];

const ALLOWED: ReadonlySet<PropertyKey> = new Set([...LANGUAGE, ...NODE, Symbol.toStringTag]);

const DISPATCHERS = ['undici.globalDispatcher.1', 'undici.globalDispatcher.2'];

/** Methods of `console`. Its streams lead to the system's handles. */
const CONSOLE = [
  'log',
  'info',
  'debug',
  'warn',
  'error',
  'dir',
  'table',
  'trace',
  'assert',
  'count',
  'countReset',
  'group',
  'groupEnd',
  'time',
  'timeEnd',
  'timeLog',
];

/**
 * Removes every global name that is not listed, replaces `process`, `console` and the timers by plain objects, and freezes what
 * remains: no name can be added, removed or replaced. Call it before the first strategy file is loaded, and before globals are
 * remembered. Further calls do nothing.
 *
 * @returns false, without a change, in a process without {@link SANDBOX_FLAGS}: a Lambda function with reviewed strategies, or a test
 */
export function closeGlobals(): boolean {
  if (!SANDBOX_FLAGS.every((flag) => process.execArgv.includes(flag))) return false;
  // A bundle has its own copy of this module.
  if (Object.isFrozen(globalThis)) return true;
  keepMemoryApart();
  const hidden = [inspect, inspect.defaultOptions, ...hiddenObjects()];
  removeWaysOut();
  const plain = {
    process: plainProcess(),
    console: plainConsole(),
    crypto: PLAIN_CRYPTO,
    structuredClone: plainClone,
    ...plainTimers(),
  };
  for (const name of Reflect.ownKeys(globalThis)) {
    // Node gives some of them at the first use.
    if (ALLOWED.has(name)) Object.defineProperty(globalThis, name, { value: Reflect.get(globalThis, name) });
    else Reflect.deleteProperty(globalThis, name);
  }
  // Node loads the client of `fetch` with `node:http`. It defines its dispatcher unless there is one.
  for (const name of DISPATCHERS) Object.defineProperty(globalThis, Symbol.for(name), { value: {} });
  for (const [name, value] of Object.entries(plain)) Object.defineProperty(globalThis, name, { value });
  for (const each of [globalThis, ...hidden]) deepFreeze(each);
  return true;
}

/**
 * Node's own function, and a message port, make an object of any of Node's internal classes: a clone names its class by a method,
 * which strategy code can define. One of them is a file by its number, whose class leads to all event emitters.
 */
const plainClone = (value: unknown): unknown => deserialize(serialize(value));

/** Removes what leads to message ports, to the store of Node's blobs, and to timers that do not keep a process busy. */
function removeWaysOut(): void {
  for (const { prototype } of [AbortSignal, AbortController, DOMException, EventTarget, Event]) {
    for (const key of Object.getOwnPropertySymbols(prototype)) {
      if (key.description?.startsWith('messaging_')) Reflect.deleteProperty(prototype, key);
    }
  }
  for (const name of ['createObjectURL', 'revokeObjectURL']) Reflect.deleteProperty(URL, name);
  Reflect.deleteProperty(AbortSignal, 'timeout');
}

/** Objects of Node and V8 that are shared, and that no property of a global leads to. */
function hiddenObjects(): object[] {
  const segments = new Intl.Segmenter().segment('');
  const decoder = new TextDecoder('utf-16le');
  const internals = Object.getOwnPropertySymbols(decoder).map((key) => Reflect.get(decoder, key) as unknown);
  const timer = new Timer(() => timers.setTimeout(() => {}, 0));
  Timer.end(timer);
  const samples = [
    new URLSearchParams().entries(),
    segments,
    segments[Symbol.iterator](),
    timer,
    ...internals.filter(isObject),
  ];
  // The functions that read and write the stack of every error.
  const { get, set } = Object.getOwnPropertyDescriptor(new Error(), 'stack') ?? {};
  return [
    ...[get, set].flatMap((each) => each ?? []),
    DOMException,
    Reflect.get(Buffer, Symbol.species) as object,
    ...samples.map((each) => Object.getPrototypeOf(each) as object),
  ];
}

/** What the platform's packages use. Its class would lead to keys, and to threads that create them. */
const PLAIN_CRYPTO = { randomUUID: () => randomUUID() };

/** Packages of the platform read variables; there are none. */
const plainProcess = () => ({ env: {}, version: process.version, platform: process.platform });

/** Functions around the methods, which are properties of an object with the streams. */
function plainConsole(): object {
  const methods = console as unknown as Readonly<Record<string, (...values: unknown[]) => void>>;
  return Object.fromEntries(
    CONSOLE.map((name) => [name, (...values: unknown[]) => methods[name]!(...values)]),
  );
}

/** A timer of Node is part of a list with all others, also those of the platform. */
class Timer {
  static readonly #waiting = new Set<Timer>();
  readonly #timer: NodeJS.Timeout | NodeJS.Immediate;

  /** @param start sets Node's timer; it calls `ended` when the timer does not fire again */
  constructor(start: (ended: () => void) => NodeJS.Timeout | NodeJS.Immediate) {
    this.#timer = start(() => Timer.#waiting.delete(this));
    Timer.#waiting.add(this);
    Object.freeze(this);
  }

  static get waiting(): number {
    return Timer.#waiting.size;
  }

  static end(timer: unknown): void {
    if (typeof timer === 'object' && timer !== null && #timer in timer) {
      timers.clearTimeout(timer.#timer as NodeJS.Timeout);
      timers.clearImmediate(timer.#timer as NodeJS.Immediate);
      Timer.#waiting.delete(timer as Timer);
    }
  }

  /** Strategy code cannot hide a timer: a trial that leaves one ends with its process. */
  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  hasRef(): boolean {
    return true;
  }
}

// It would make a timer of any object, and Node's functions would read and change the counts of all timers.
Reflect.deleteProperty(Timer.prototype, 'constructor');

/** Errors of callbacks of strategies. A stack may name this file only: that of `setTimeout(JSON.parse, 0, '{')`. */
const thrown = new WeakSet<object>();

/** True for an error that the callback of a timer of a strategy has thrown. */
export const isOfTimer = (error: unknown): boolean => isObject(error) && thrown.has(error);

/** Number of timers that strategies have set and that may still fire. */
export const strategyTimers = (): number => Timer.waiting;

function plainTimers() {
  type Callback = (...values: unknown[]) => void;
  const { end } = Timer;
  // Node calls a callback as a method of its timer.
  const plain = (callback: Callback, ended?: () => void): Callback => {
    if (typeof callback !== 'function') throw new TypeError('The callback of a timer must be a function');
    return (...values) => {
      ended?.();
      try {
        callback(...values);
      } catch (error) {
        if (isObject(error)) thrown.add(error);
        throw error;
      }
    };
  };
  return {
    setTimeout: (callback: Callback, ms?: number, ...values: unknown[]) =>
      new Timer((ended) => timers.setTimeout(plain(callback, ended), ms, ...values)),
    setInterval: (callback: Callback, ms?: number, ...values: unknown[]) =>
      new Timer(() => timers.setInterval(plain(callback), ms, ...values)),
    setImmediate: (callback: Callback, ...values: unknown[]) =>
      new Timer((ended) => timers.setImmediate(plain(callback, ended), ...values)),
    clearTimeout: (timer: unknown) => end(timer),
    clearInterval: (timer: unknown) => end(timer),
    clearImmediate: (timer: unknown) => end(timer),
  };
}

/** Small buffers of the platform share memory, and memory that is not filled has what was freed there. */
function keepMemoryApart(): void {
  Buffer.poolSize = 0;
  const filled = (size: number) => Buffer.alloc(size);
  Object.assign(Buffer, { allocUnsafe: filled, allocUnsafeSlow: filled });
}

/** Freezes an object and what its properties and prototypes lead to. Frozen objects, such as those of JavaScript, are left out. */
export function deepFreeze(root: object): void {
  const found = new Set([root]);
  for (const object of found) {
    if (Object.isFrozen(object) || ArrayBuffer.isView(object)) continue;
    // The exports of a module are fixed.
    if (!types.isModuleNamespaceObject(object)) Object.freeze(object);
    const descriptors = Object.getOwnPropertyDescriptors(object);
    for (const key of Reflect.ownKeys(descriptors)) {
      const { value, get, set } = Reflect.get(descriptors, key) as PropertyDescriptor;
      for (const next of [value, get, set]) if (isObject(next)) found.add(next);
    }
    const prototype = Object.getPrototypeOf(object);
    if (prototype) found.add(prototype);
  }
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';
