import { hash32 } from './random.ts';

// Values that callbacks get and keep, besides the context and the trade.

/** What a strategy may keep: JSON. A number must be finite. */
export type StoredValue =
  | string
  | number
  | boolean
  | null
  | readonly StoredValue[]
  | { readonly [key: string]: StoredValue };

/** Values by key. */
export interface StoredData {
  /** The value last set; undefined without one. A list or object is frozen: set a changed copy. */
  get<T extends StoredValue = StoredValue>(key: string): T | undefined;
  /** Keeps a copy of the value; undefined removes it. Throws TypeError for a value that is not JSON. */
  set(key: string, value: StoredValue | undefined): void;
}

/** An order that waits, or that was just filled. */
export interface OrderView {
  readonly side: 'entry' | 'exit';
  /** An `addition` is an entry order of an open position; a `partial_exit` leaves a part of it. */
  readonly kind: 'entry' | 'addition' | 'exit' | 'partial_exit';
  /** Quote currency; of a filled order with its slippage. */
  readonly price: number;
  /** Base currency. */
  readonly amount: number;
  /** Entry tag of an entry, reason of an exit. */
  readonly tag: string | null;
  /** Open time of the candle in which it was placed, ms. */
  readonly placedAt: number;
}

const MAX_KEYS = 100;
const MAX_KEY_LENGTH = 100;
/** Values in a list or object, at any depth. */
const MAX_VALUES = 1_000;
const MAX_TEXT_LENGTH = 10_000;

/** Values by key, in memory. */
export class DataStore implements StoredData {
  readonly #values = new Map<string, StoredValue>();
  /** Keys set since the certificate began to look; null outside of it. */
  changed: Set<string> | null = null;

  /** Begins to look, for one call. */
  watch(): void {
    if (this.changed === null || this.changed.size > 0) this.changed = new Set();
  }

  get<T extends StoredValue = StoredValue>(key: string): T | undefined {
    return this.#values.get(key) as T | undefined;
  }

  set(key: string, value: StoredValue | undefined): void {
    if (typeof key !== 'string' || key === '' || key.length > MAX_KEY_LENGTH)
      throw new TypeError(`A key of stored data must be a string of 1 to ${MAX_KEY_LENGTH} characters`);
    this.changed?.add(key);
    if (value === undefined) {
      this.#values.delete(key);
      return;
    }
    if (this.#values.size >= MAX_KEYS && !this.#values.has(key))
      throw new TypeError(`Stored data has ${MAX_KEYS} keys at most; ${JSON.stringify(key)} is one too many`);
    this.#values.set(key, frozenCopy(key, value, { left: MAX_VALUES }));
  }

  /** The changed keys as JSON, each with its value; a long one as its length and hash, a removed one without. */
  changesText(): string {
    const entries = [...(this.changed ?? [])].map((key) => {
      const value = this.#values.get(key);
      return value === undefined ? JSON.stringify([key]) : `[${JSON.stringify(key)},${shortText(value)}]`;
    });
    return `[${entries.join(',')}]`;
  }
}

/** Characters of a value that is compared as it is, with the tolerance of numbers. A search keeps those of every call. */
const MAX_COMPARED = 1_000;

function shortText(value: StoredValue): string {
  const text = JSON.stringify(value);
  return text.length <= MAX_COMPARED ? text : `"${text.length} characters, hash ${hash32(text)}"`;
}

/** A copy that nobody can change; scalars as they are. */
function frozenCopy(key: string, value: unknown, count: { left: number }): StoredValue {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string' && value.length <= MAX_TEXT_LENGTH) return value;
  if (typeof value !== 'object') return reject(key, value);
  if (Array.isArray(value)) return Object.freeze(value.map((each) => frozenItem(key, each, count)));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return reject(key, value);
  const entries = Object.entries(value).map(([name, each]) => [name, frozenItem(key, each, count)] as const);
  return Object.freeze(Object.fromEntries(entries));
}

/** The count also ends lists that contain themselves. */
function frozenItem(key: string, value: unknown, count: { left: number }): StoredValue {
  if (count.left-- === 0)
    throw new TypeError(`The value of ${JSON.stringify(key)} has more than ${MAX_VALUES} values`);
  return frozenCopy(key, value, count);
}

function reject(key: string, value: unknown): never {
  const what =
    typeof value === 'string'
      ? `a string of ${value.length} characters`
      : typeof value === 'object'
        ? 'an object of a class'
        : typeof value === 'number'
          ? String(value)
          : `a ${typeof value}`;
  throw new TypeError(
    `The value of ${JSON.stringify(key)} is ${what}; stored data are strings of up to ${MAX_TEXT_LENGTH} characters, ` +
      'finite numbers, true, false, null, and lists and plain objects of them',
  );
}
