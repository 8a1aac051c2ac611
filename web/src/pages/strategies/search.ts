import type { RequestOf } from '../../api/client.ts';

type CatalogQuery = NonNullable<RequestOf<'listCatalog'>['query']>;

/** Filters and order of the catalog, as its operation names them. */
export type CatalogSearch = Pick<CatalogQuery, (typeof CATALOG_FIELDS)[number]>;

const CATALOG_FIELDS = [
  ...(['search', 'stage', 'exchange', 'timeframe', 'min_sharpe', 'max_drawdown'] as const),
  ...(['sort_field', 'sort_order'] as const),
] as const;

/** Fields of the URL; the API checks their values. */
export function readCatalogSearch(raw: Readonly<Record<string, unknown>>): CatalogSearch {
  return pickTexts(raw, CATALOG_FIELDS);
}

/** Two versions to compare: the champion and the challenger. */
export interface ModelSearch {
  readonly a?: string;
  readonly b?: string;
}

export function readModelSearch(raw: Readonly<Record<string, unknown>>): ModelSearch {
  return pickTexts(raw, ['a', 'b']);
}

/** The named fields that are texts or numbers, as texts: one that looks like a number comes as such. */
function pickTexts(raw: Readonly<Record<string, unknown>>, names: readonly string[]) {
  const isGiven = (value: unknown) =>
    (typeof value === 'string' && value !== '') || typeof value === 'number';
  return Object.fromEntries(
    names.filter((name) => isGiven(raw[name])).map((name) => [name, String(raw[name])]),
  );
}
