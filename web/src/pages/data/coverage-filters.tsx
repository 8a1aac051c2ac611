import { webConfig } from '../../api/config.ts';
import type { StoredSeries } from '../../api/coverage.ts';
import { TIMEFRAMES } from '../../charts/coverage.ts';
import { FilterSelect, SearchBox } from '../../ui/job-list.tsx';
import { type DataSearch, useDataSearch } from './search.ts';

/** Exchanges with perpetual futures that are often used; any other key may be typed. */
const EXCHANGES = ['binanceusdm', 'bybit', 'okx', 'bitget', 'gate', 'hyperliquid', 'krakenfutures', 'sim'];
const SORT_NAMES: readonly (readonly [NonNullable<DataSearch['sort']>, string])[] = [
  ['symbol', 'By symbol'],
  ['oldest', 'Oldest first'],
  ['least', 'Least covered first'],
];

/** Filters and order of the map. */
export function CoverageFilters(props: {
  readonly exchange: string;
  readonly series: readonly StoredSeries[];
}) {
  const { exchange: shown, series } = props;
  const [search, change] = useDataSearch();
  const stored = TIMEFRAMES.filter((each) => series.some(({ timeframe }) => timeframe === each));
  const { exchange: ours } = webConfig();
  return (
    <div className="data-filters">
      <SearchBox
        label="Exchange"
        placeholder={shown}
        value={search.exchange}
        options={[...new Set([ours, ...EXCHANGES])]}
        onChange={(exchange) => change({ exchange, series: undefined })}
      />
      <SearchBox label="Symbol" placeholder="Symbol" value={search.q} onChange={(q) => change({ q })} />
      <FilterSelect
        label="Timeframe"
        all="All timeframes"
        values={stored}
        value={search.timeframe}
        onChange={(timeframe) => change({ timeframe })}
      />
      <select
        aria-label="Order"
        value={search.sort ?? 'symbol'}
        onChange={({ target }) =>
          change({ sort: target.value === 'symbol' ? undefined : (target.value as DataSearch['sort']) })
        }
      >
        {SORT_NAMES.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      <label className="check">
        <input
          type="checkbox"
          checked={search.problems ?? false}
          onChange={({ target }) => change({ problems: target.checked ? true : undefined })}
        />
        Incomplete only
      </label>
    </div>
  );
}
