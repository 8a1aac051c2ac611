/** Currency in which all of the pairs settle; empty when they differ. */
export function currencyOf(pairs: readonly string[]): string {
  const currencies = new Set(pairs.map((pair) => pair.split(':')[1] ?? pair.split('/')[1] ?? ''));
  return currencies.size === 1 ? [...currencies][0]! : '';
}

/** Base assets of pairs `BASE/QUOTE` or `BASE/QUOTE:SETTLE`, sorted. */
export function assetsOf(pairs: readonly string[]): string[] {
  return [...new Set(pairs.map((pair) => pair.split('/')[0]!))].sort();
}
