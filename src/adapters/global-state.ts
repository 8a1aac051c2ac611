/** An object that all modules share, with the properties that it had. */
interface SharedObject {
  readonly name: string;
  readonly object: object;
  readonly properties: ReadonlyMap<PropertyKey, PropertyDescriptor>;
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/**
 * Remembers the objects that all modules share as they are now: the values of global names, such as `Math` and `Map`, with
 * their prototypes, and `others` by name. Getters are not called.
 *
 * @returns `restore`, which removes the properties added since and puts functions and accessors back that were replaced. It
 *   throws Error, naming `file`, where it cannot. Other values that changed stay.
 */
export function rememberGlobals(others: Readonly<Record<string, unknown>> = {}): {
  readonly restore: (file: string) => void;
} {
  const known = new Map<object, SharedObject>();
  const add = (name: string, object: unknown) => {
    if (!isObject(object) || known.has(object)) return;
    const properties = new Map(
      Reflect.ownKeys(object).map((key) => [key, Reflect.getOwnPropertyDescriptor(object, key)!] as const),
    );
    known.set(object, { name, object, properties });
    add(`${name}.prototype`, properties.get('prototype')?.value);
  };
  add('globalThis', globalThis);
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(globalThis))) {
    add(name, value);
  }
  for (const [name, value] of Object.entries(others)) add(name, value);
  return {
    restore: (file) => {
      for (const shared of known.values()) restoreObject(shared, file);
    },
  };
}

function restoreObject({ name, object, properties }: SharedObject, file: string): void {
  for (const key of Reflect.ownKeys(object)) {
    if (properties.has(key) || Reflect.deleteProperty(object, key)) continue;
    // Node itself keeps such symbols.
    if (typeof key === 'symbol') continue;
    throw keptState(file, name, key);
  }
  for (const [key, before] of properties) {
    if (!isReplaced(before, Reflect.getOwnPropertyDescriptor(object, key))) continue;
    if (!Reflect.defineProperty(object, key, before)) throw keptState(file, name, key);
  }
}

/** Whether a function or an accessor is another now. Values, such as the exit code of the process, are state of the process. */
function isReplaced(before: PropertyDescriptor, now: PropertyDescriptor | undefined): boolean {
  if (typeof before.value === 'function') return now?.value !== before.value;
  // Node replaces lazy accessors of its own by the value at the first use, through their setter.
  return before.get !== undefined && before.set === undefined && now?.get !== before.get;
}

function keptState(file: string, name: string, key: PropertyKey): Error {
  return new Error(`${file} keeps state in ${name}.${String(key)}, which cannot be removed between runs`);
}
