import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { ReportSearch, ReportState, SearchChange } from './search.ts';

const route = getRouteApi('/backtests/$id');

/** Id of the backtest of the page. */
export function useJobId(): string {
  return route.useParams().id;
}

/** State of the page in the URL. A change makes no new entry of the history. */
export function useUrlState(): ReportState {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = useCallback(
    (fields: SearchChange) =>
      void navigate({
        search: (now) => ({ ...now, ...fields }) as ReportSearch,
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  return [search, change];
}
