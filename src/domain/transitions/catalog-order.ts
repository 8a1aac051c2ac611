import type { CatalogPosition, CatalogSort } from './registry-store.ts';

/** First character of the sort keys of undefined values; it sorts after every other key. */
export const UNDEFINED_KEY = '~';
/**
 * Prefix of the sort keys of metrics that cannot be earned, of a version with a found look-ahead bias; it sorts after undefined values.
 */
export const FOUND_KEY = '~~';

/** True for a position whose value is undefined, or cannot be earned. */
export function isUndefined([key]: CatalogPosition): boolean {
  return key.startsWith(UNDEFINED_KEY);
}

/** True when the first position comes before the second. Undefined values come last in both orders, ascending by their key. */
export function comesBefore(a: CatalogPosition, b: CatalogPosition, order: CatalogSort['order']): boolean {
  if (isUndefined(a) !== isUndefined(b)) return isUndefined(b);
  return order === 'asc' || isUndefined(a) ? a[0] < b[0] : a[0] > b[0];
}
