/** An object that all modules share, with the keys that it has. */
interface SharedObject {
  readonly name: string;
  readonly object: object;
  readonly keys: ReadonlySet<PropertyKey>;
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/**
 * Remembers what the objects that all modules share hold now: what has a global name, such as `Math` and `Map`, with their
 * prototypes, and `others` by name. Getters are not asked.
 *
 * @returns `removeAdded`, which removes the keys added since; it throws Error, naming `file`, for one that cannot be removed.
 *   Values that were put in the place of others stay.
 */
export function rememberGlobals(others: Readonly<Record<string, unknown>> = {}): {
  readonly removeAdded: (file: string) => void;
} {
  const known = new Map<object, SharedObject>();
  const add = (name: string, object: unknown) => {
    if (!isObject(object) || known.has(object)) return;
    known.set(object, { name, object, keys: new Set(Reflect.ownKeys(object)) });
    add(`${name}.prototype`, Reflect.getOwnPropertyDescriptor(object, 'prototype')?.value);
  };
  add('globalThis', globalThis);
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(globalThis))) {
    add(name, value);
  }
  for (const [name, value] of Object.entries(others)) add(name, value);
  return {
    removeAdded: (file) => {
      for (const shared of known.values()) removeFrom(shared, file);
    },
  };
}

function removeFrom({ name, object, keys }: SharedObject, file: string): void {
  for (const key of Reflect.ownKeys(object)) {
    if (keys.has(key) || Reflect.deleteProperty(object, key)) continue;
    // Node itself keeps such symbols.
    if (typeof key === 'symbol') continue;
    throw new Error(`${file} keeps state in ${name}.${key}, which cannot be removed between runs`);
  }
}
