import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import { type JobStatus, STATUSES } from '../../api/jobs.ts';
import { oneOf, present, type Raw, text } from '../../ui/url.ts';

/** Orders of the coverage map: by symbol, the oldest last candle first, the least covered first. */
const SORTS = ['symbol', 'oldest', 'least'] as const;

/** State of the page that its URL keeps. An absent field has its default. */
export interface DataSearch {
  /** Default: the platform's. */
  readonly exchange?: string;
  /** Timeframe of the map. Default: all. */
  readonly timeframe?: string;
  /** Part of a symbol. */
  readonly q?: string;
  readonly sort?: (typeof SORTS)[number];
  /** Only series with missing or corrupt candles. */
  readonly problems?: true;
  /** Selected series, `BTC/USDT:USDT 1h`. */
  readonly series?: string;
  /** Status of the collections. Default: all. */
  readonly status?: JobStatus;
  /** Page of the collections. */
  readonly cursor?: string;
  /** Selected collection. */
  readonly collection?: string;
  /** The form of a new collection is open, with these symbols and a timeframe, `BTC/USDT:USDT ETH/USDT:USDT 1h`. */
  readonly collect?: string;
  /** First day of that collection, `YYYY-MM-DD`. */
  readonly from?: string;
  /** ID of an import that is shown in place of the coverage; `new` for one that has no files yet. */
  readonly import?: string;
}

/** Fields of the URL that are valid; others are ignored. */
export function readSearch(raw: Raw): DataSearch {
  const { collect } = raw;
  return present({
    exchange: text(raw.exchange),
    timeframe: text(raw.timeframe),
    q: text(raw.q),
    sort: oneOf(SORTS, raw.sort),
    problems: raw.problems === true || undefined,
    series: text(raw.series),
    status: oneOf(STATUSES, raw.status),
    cursor: text(raw.cursor),
    collection: text(raw.collection),
    // An empty text opens the form without symbols.
    collect: collect === '' ? '' : text(collect),
    from: text(raw.from),
    // Links of earlier versions have `true`.
    import: raw.import === true ? 'new' : text(raw.import),
  }) as DataSearch;
}

const route = getRouteApi('/data');

/** Fields of the URL to change; undefined removes one. */
export type SearchChange = { readonly [K in keyof DataSearch]?: DataSearch[K] | undefined };

/** State of the page in the URL, and a stable function that changes some of its fields without a new entry of the history. */
export function useDataSearch(): readonly [DataSearch, (change: SearchChange) => void] {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = useCallback(
    (fields: SearchChange) =>
      void navigate({
        search: (now) => ({ ...now, ...fields }) as DataSearch,
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  return [search, change];
}
