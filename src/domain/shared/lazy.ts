type Callable = (...args: never[]) => unknown;
type AsyncMethod = (...args: never[]) => Promise<unknown> | AsyncIterable<unknown>;

/** The asynchronous methods of an object and of the objects in it. */
type Asynchronous<T> = {
  readonly [K in keyof T as T[K] extends AsyncMethod
    ? K
    : T[K] extends Callable
      ? never
      : K]: T[K] extends AsyncMethod ? T[K] : Asynchronous<T[K]>;
};

/**
 * Stands for an object whose module is imported at the first call of a method. A new instance of a function then loads only what
 * its requests need. Importing all clients, stores and schemas takes four times as long as DynamoDB's client.
 *
 * `lazy(async () => new (await import('./job-store.ts')).DynamoJobStore(client, table))`
 */
export function lazy<T extends object>(load: () => Promise<T>): Asynchronous<T> {
  let loaded: Promise<T> | undefined;
  const call = async (path: readonly string[], args: readonly unknown[]): Promise<unknown> => {
    loaded ??= load();
    let owner: unknown;
    let member: unknown = await loaded;
    for (const name of path) [owner, member] = [member, (member as Readonly<Record<string, unknown>>)[name]];
    return Reflect.apply(member as () => unknown, owner, args);
  };
  const memberAt = (path: readonly string[]): unknown =>
    new Proxy(() => undefined, {
      // `await` asks every object for `then`.
      get: (_, name) => (typeof name === 'symbol' || name === 'then' ? undefined : memberAt([...path, name])),
      apply: (_, __, args) => {
        const result = call(path, args);
        // The result is awaited or iterated: which of both the method returns is known only when it is loaded.
        const iterate = async function* () {
          yield* (await result) as AsyncIterable<unknown>;
        };
        return Object.assign(result, { [Symbol.asyncIterator]: iterate });
      },
    });
  return memberAt([]) as Asynchronous<T>;
}
