import { useEffect, useState } from 'react';
import { webConfig } from '../../api/config.ts';
import type { StoredSeries } from '../../api/coverage.ts';
import { TIMEFRAMES } from '../../charts/coverage.ts';
import { type DataSearch, useDataSearch } from './search.ts';

/** Exchanges with perpetual futures that are often used; any other key may be typed. */
const EXCHANGES = ['binanceusdm', 'bybit', 'okx', 'bitget', 'gate', 'hyperliquid', 'krakenfutures', 'sim'];
const SORT_NAMES: readonly (readonly [NonNullable<DataSearch['sort']>, string])[] = [
  ['symbol', 'By symbol'],
  ['oldest', 'Oldest first'],
  ['least', 'Least covered first'],
];
/** Milliseconds without a key after which a typed filter applies. */
const TYPING_PAUSE = 300;

/** Filters and order of the map. */
export function CoverageFilters({ series }: { readonly series: readonly StoredSeries[] }) {
  const [search, change] = useDataSearch();
  const stored = TIMEFRAMES.filter((each) => series.some(({ timeframe }) => timeframe === each));
  const { exchange: ours } = webConfig();
  return (
    <div className="data-filters">
      <TypedFilter
        label="Exchange"
        value={search.exchange ?? ours}
        options={[...new Set([ours, ...EXCHANGES])]}
        onChange={(exchange) =>
          change({ exchange: exchange === ours || exchange === '' ? undefined : exchange, series: undefined })
        }
      />
      <TypedFilter
        label="Symbol"
        value={search.q ?? ''}
        onChange={(q) => change({ q: q === '' ? undefined : q })}
      />
      <select
        aria-label="Timeframe"
        value={search.timeframe ?? ''}
        onChange={({ target }) => change({ timeframe: target.value || undefined })}
      >
        <option value="">All timeframes</option>
        {[...new Set([...stored, ...(search.timeframe ? [search.timeframe] : [])])].map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
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

/** A text that applies when typing pauses. */
function TypedFilter(props: {
  readonly label: string;
  readonly value: string;
  readonly options?: readonly string[];
  readonly onChange: (text: string) => void;
}) {
  const { label, value, options, onChange } = props;
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: typing alone starts the pause
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text.trim()), TYPING_PAUSE);
    return () => clearTimeout(timer);
  }, [text]);
  const id = `data-${label.toLowerCase()}`;
  return (
    <>
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={({ target }) => setText(target.value)}
        {...(options ? { list: id } : {})}
      />
      {options && (
        <datalist id={id}>
          {options.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
    </>
  );
}
