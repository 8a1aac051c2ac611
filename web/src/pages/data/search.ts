import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';

/** Orders of the coverage map: by symbol, the oldest last candle first, the least covered first. */
const SORTS = ['symbol', 'oldest', 'least'] as const;
export const STATUSES = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const;

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
  readonly status?: (typeof STATUSES)[number];
  /** Page of the collections. */
  readonly cursor?: string;
  /** Selected collection. */
  readonly collection?: string;
  /** The form of a new collection is open, with these symbols and a timeframe, `BTC/USDT:USDT ETH/USDT:USDT 1h`. */
  readonly collect?: string;
  /** First day of that collection, `YYYY-MM-DD`. */
  readonly from?: string;
  /** The commands of an import are shown. */
  readonly import?: true;
}

const TEXTS = ['exchange', 'timeframe', 'q', 'series', 'cursor', 'collection', 'collect', 'from'] as const;

/** Fields of the URL that are valid; others are ignored. */
export function readSearch(raw: Readonly<Record<string, unknown>>): DataSearch {
  // A text that looks like a number comes as one.
  const texts = TEXTS.filter((name) => typeof raw[name] === 'string' || typeof raw[name] === 'number');
  const sort = SORTS.find((each) => each === raw.sort);
  const status = STATUSES.find((each) => each === raw.status);
  return {
    ...Object.fromEntries(texts.map((name) => [name, String(raw[name])])),
    ...(sort ? { sort } : {}),
    ...(status ? { status } : {}),
    ...(raw.problems === true ? { problems: true as const } : {}),
    ...(raw.import === true ? { import: true as const } : {}),
  };
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
