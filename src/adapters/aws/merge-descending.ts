/** Merges lists that are sorted descending by a key; of entries with one key, the first. */
export async function* mergeDescending<T>(
  lists: readonly AsyncIterator<T, void>[],
  keyOf: (entry: T) => string,
): AsyncGenerator<T, void> {
  const heads = await Promise.all(lists.map((list) => list.next()));
  let last: string | undefined;
  for (;;) {
    let next = -1;
    for (const [index, { value }] of heads.entries()) {
      if (value && (next < 0 || keyOf(value) > keyOf(heads[next]!.value!))) next = index;
    }
    const entry = heads[next]?.value;
    if (!entry) return;
    if (keyOf(entry) !== last) yield entry;
    last = keyOf(entry);
    heads[next] = await lists[next]!.next();
  }
}
