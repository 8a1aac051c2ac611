import type { RequestOf } from '../../api/client.ts';
import { oneOf, present, type Raw, text } from '../../ui/url.ts';

type CatalogQuery = NonNullable<RequestOf<'listCatalog'>['query']>;

/** Orders of the catalog that its operation knows; each is a column of the table. */
export const SORTS = ['name', 'sharpe', 'drawdown'] as const satisfies readonly CatalogQuery['sort_field'][];
export const STAGES = ['Production', 'Staging'] as const satisfies readonly CatalogQuery['stage'][];

/** Filters, order and page of the catalog, as its operation names them; it checks their values. */
export function readCatalogSearch(raw: Raw) {
  return present({
    search: text(raw.search),
    stage: oneOf(STAGES, raw.stage),
    exchange: text(raw.exchange),
    timeframe: text(raw.timeframe),
    min_sharpe: text(raw.min_sharpe),
    max_drawdown: text(raw.max_drawdown),
    sort_field: oneOf(SORTS, raw.sort_field),
    sort_order: oneOf(['asc', 'desc'], raw.sort_order),
    cursor: text(raw.cursor),
  });
}

export type CatalogSearch = ReturnType<typeof readCatalogSearch>;

/** Kinds of changes that the history of a model can be limited to. */
export const HISTORY_KINDS = ['production', 'staging', 'registration'] as const;

/** Two versions to compare, the champion and the challenger; the kind of changes and the page of the history. */
export function readModelSearch(raw: Raw) {
  return present({
    a: text(raw.a),
    b: text(raw.b),
    changes: oneOf(HISTORY_KINDS, raw.changes),
    history: text(raw.history),
  });
}
