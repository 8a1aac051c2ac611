import { CodedError } from '#contract/values/errors.ts';
import { MLFLOW_LIMITS } from '#contract/values/registry-limits.ts';
import type { Cursors } from '../shared/cursors.ts';
import { afterOtherSearches, SearchWork } from '../shared/search-work.ts';
import { compareBy, type KnownFields, parseFilter, parseOrders, type Searchable } from './filter.ts';

/** Query of a list. An empty text is one that is not given. */
export interface ListQuery {
  readonly filter?: string | undefined;
  readonly max_results?: number | undefined;
  readonly order_by?: readonly string[] | undefined;
  readonly page_token?: string | undefined;
}

/** Throws VAL005 for a query that is too long: each item is compared with all of it. */
export function checkQuery({ filter = '', order_by = [] }: ListQuery): void {
  const checked = { filter: filter.length, order_by: order_by.length };
  for (const [field, value] of Object.entries(checked) as [keyof typeof checked, number][]) {
    const { max } = MLFLOW_LIMITS[field];
    if (value <= max) continue;
    const what = field === 'filter' ? 'characters' : 'fields';
    throw new CodedError('VAL005', {
      message: `${field} must have at most ${max} ${what}`,
      field,
      context: { max },
    });
  }
}

/**
 * Items that pass the filter, in the order of the query, else in the given one. Throws VAL005, also for a filter that compares
 * too much text.
 */
export async function select<T>(
  items: readonly T[],
  { filter, order_by }: ListQuery,
  fields: KnownFields,
  searchable: (item: T) => Searchable,
): Promise<T[]> {
  const { passes } = parseFilter(filter, fields);
  const compare = compareBy(parseOrders(order_by, fields));
  const work = new SearchWork('filter');
  const found: { readonly item: T; readonly searched: Searchable }[] = [];
  for (const item of items) {
    const searched = searchable(item);
    if (passes(searched, work)) found.push({ item, searched });
    await work.turn();
  }
  return found.sort((a, b) => compare(a.searched, b.searched)).map(({ item }) => item);
}

/** One page of a list, and the token of the next: empty at the end. Throws VAL006 for a token of another list. */
export function pageOf<T>(
  cursors: Cursors,
  items: readonly T[],
  list: string,
  { filter = '', order_by = [], max_results, page_token = '' }: ListQuery,
  most: number,
): { readonly items: readonly T[]; readonly next_page_token: string } {
  const scope = { list, filter, order_by: order_by.join() };
  const start = page_token === '' ? 0 : Number(cursors.decode(page_token, scope, 1)[0]);
  const end = start + Math.max(1, Math.min(max_results ?? most, most));
  return {
    items: items.slice(start, end),
    next_page_token: end < items.length ? cursors.encode([String(end)], scope) : '',
  };
}

/** List that a caller searches: what its items are searched by, and how many are on a page at most. */
interface SearchedList<T> {
  readonly fields: KnownFields;
  readonly searchable: (item: T) => Searchable;
  readonly most: number;
}

/** One page of the items that pass the filter. They are read, and searched, after other searches. Throws VAL005, VAL006. */
export async function searchPage<T>(
  cursors: Cursors,
  query: ListQuery,
  { fields, searchable, most }: SearchedList<T>,
  read: () => Promise<readonly T[]>,
): Promise<ReturnType<typeof pageOf<T>>> {
  const found = await afterOtherSearches(async () => select(await read(), query, fields, searchable));
  return pageOf(cursors, found, fields.of, query, most);
}
