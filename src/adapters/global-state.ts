/** Object shared by all modules, and its original properties. */
interface SharedObject {
  readonly name: string;
  readonly object: object;
  readonly properties: ReadonlyMap<PropertyKey, PropertyDescriptor>;
}

const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/**
 * Records the objects that all modules share: global values such as `Math` and `Map`, their prototypes, and `others` by
 * name. Getters are not called.
 *
 * @returns `restore`, which removes added properties and restores replaced functions and accessors. Other changed values
 *   stay. It throws Error with the name of `file` if it cannot remove or restore a property.
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
    // Node adds symbols that cannot be deleted.
    if (typeof key === 'symbol') continue;
    throw keptState(file, name, key);
  }
  for (const [key, before] of properties) {
    if (!isReplaced(before, Reflect.getOwnPropertyDescriptor(object, key))) continue;
    if (!Reflect.defineProperty(object, key, before)) throw keptState(file, name, key);
  }
}

/** True if a function or accessor was replaced. Other values belong to the process, such as its exit code. */
function isReplaced(before: PropertyDescriptor, now: PropertyDescriptor | undefined): boolean {
  if (typeof before.value === 'function') return now?.value !== before.value;
  // Node replaces its own lazy accessors with their value at the first use; they have a setter.
  return before.get !== undefined && before.set === undefined && now?.get !== before.get;
}

function keptState(file: string, name: string, key: PropertyKey): Error {
  return new Error(`${file} keeps state in ${name}.${String(key)}, which cannot be removed between runs`);
}

/**
 * Removes the classes of Node's HTTP client from a process that runs strategies. To read one, even its property descriptor as
 * {@link rememberGlobals} does, loads the client, which takes 40 ms of processor time.
 */
export function removeClientClasses(): void {
  for (const name of [
    'CloseEvent',
    'FormData',
    'Headers',
    'MessageEvent',
    'Request',
    'Response',
    'WebSocket',
  ])
    Reflect.deleteProperty(globalThis, name);
}
