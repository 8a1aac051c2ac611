/** Merges sorted lists. `comesBefore` is the order of each list. */
export async function* mergeSorted<T>(
  lists: readonly AsyncIterator<T, void>[],
  comesBefore: (a: T, b: T) => boolean,
): AsyncGenerator<T, void> {
  const heads = await Promise.all(lists.map((list) => list.next()));
  for (;;) {
    let first: number | undefined;
    for (const [index, { done, value }] of heads.entries()) {
      if (done || !value) continue;
      if (first === undefined || comesBefore(value, heads[first]!.value as T)) first = index;
    }
    if (first === undefined) return;
    yield heads[first]!.value as T;
    heads[first] = await lists[first]!.next();
  }
}
