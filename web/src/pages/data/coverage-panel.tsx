import { useMemo, useState } from 'react';
import type { StoredData, StoredSeries } from '../../api/coverage.ts';
import { closedAt, coverageOf, hasProblem, isStale, TIMEFRAMES } from '../../charts/coverage.ts';
import { CoverageLegend, CoverageMap, idOfSeries } from '../../charts/coverage-map.tsx';
import { age, decimal, utcTime } from '../../ui/format.ts';
import { useNow } from '../../ui/now.ts';
import { Panel, Tile } from '../../ui/parts.tsx';
import { Empty } from '../../ui/states.tsx';
import { CoverageFilters } from './coverage-filters.tsx';
import { type DataSearch, useDataSearch } from './search.ts';
import { SeriesPanel } from './series-panel.tsx';

/** Key figures, the map, and the selected series. Long because it is the markup of the page: figures, filters, map and selected series. */
export function CoveragePanel({ data }: { readonly data: StoredData }) {
  const [search, change] = useDataSearch();
  const now = useNow(60_000);
  const [isTable, setTable] = useState(false);
  const shown = useMemo(() => filtered(data.series, search), [data.series, search]);
  const selected = data.series.find((each) => idOfSeries(each) === search.series);
  return (
    <>
      <Figures data={data} now={now} />
      <Panel title="Coverage" actions={<CoverageFilters exchange={data.exchange} series={data.series} />}>
        {shown.length === 0 ? (
          <div className="cover-map">
            <Empty
              title={
                data.series.length === 0
                  ? `Nothing of ${data.exchange} is stored`
                  : 'No series passes these filters'
              }
            >
              <button
                type="button"
                className="btn"
                onClick={() =>
                  change({
                    exchange: undefined,
                    timeframe: undefined,
                    q: undefined,
                    problems: undefined,
                  })
                }
              >
                Clear the filters
              </button>
            </Empty>
          </div>
        ) : (
          <CoverageMap
            series={shown}
            isTable={isTable}
            onTable={() => setTable(!isTable)}
            selected={search.series}
            onSelect={(each) =>
              change({ series: idOfSeries(each) === search.series ? undefined : idOfSeries(each) })
            }
            now={now}
          />
        )}
        <footer className="row pad">
          <CoverageLegend />
          <button
            type="button"
            className="btn small data-table"
            aria-pressed={isTable}
            aria-keyshortcuts="T"
            onClick={() => setTable(!isTable)}
          >
            Table
          </button>
          {data.isCut && (
            <span className="warn">The first {decimal(data.series.length, 0)} series are shown.</span>
          )}
        </footer>
      </Panel>
      {selected && (
        <SeriesPanel
          exchange={data.exchange}
          series={selected}
          onClose={() => change({ series: undefined })}
        />
      )}
    </>
  );
}

function filtered(series: readonly StoredSeries[], search: DataSearch): readonly StoredSeries[] {
  const needle = search.q?.trim().toUpperCase() ?? '';
  const kept = series.filter(
    (each) =>
      (search.timeframe === undefined || each.timeframe === search.timeframe) &&
      each.symbol.includes(needle) &&
      (!search.problems || hasProblem(each)),
  );
  if (search.sort === 'oldest') return kept.sort((a, b) => closedAt(a) - closedAt(b));
  if (search.sort === 'least') return kept.sort((a, b) => coverageOf(a) - coverageOf(b));
  return kept;
}

/** Figures of all stored series, whatever the filters show. */
function Figures({ data, now }: { readonly data: StoredData; readonly now: number }) {
  const { series } = data;
  const symbols = new Set(series.map(({ symbol }) => symbol)).size;
  const stale = series.filter((each) => isStale(each, now)).length;
  const incomplete = series.filter(hasProblem).length;
  const corrupt = series.reduce((sum, each) => sum + each.months.filter((month) => month.corrupt).length, 0);
  const newest = Math.max(...series.map(closedAt));
  const timeframes = TIMEFRAMES.filter((each) => series.some(({ timeframe }) => timeframe === each));
  return (
    <div className="tiles data-tiles">
      <Tile
        label="Symbols"
        value={decimal(symbols, 0)}
        sub={`${decimal(series.length, 0)} series: ${timeframes.join(', ') || 'none'}`}
        definition="Symbols with stored candles, and series of a symbol and timeframe."
      />
      <Tile
        label="Candles"
        value={decimal(
          series.reduce((sum, { count }) => sum + count, 0),
          0,
        )}
        sub={`${decimal(
          series.reduce((sum, { gap_count }) => sum + gap_count, 0),
          0,
        )} gaps`}
        definition="Stored candles of all series, and gaps between the first and the last candle of each."
      />
      <Tile
        label="Newest candle"
        value={series.length === 0 ? '–' : age(newest, now)}
        sub={series.length === 0 ? 'none stored' : `${utcTime(newest)} UTC`}
        definition="Time at which the newest stored candle closed."
      />
      <Tile
        label="Stale series"
        value={decimal(stale, 0)}
        sub={`of ${decimal(series.length, 0)}`}
        definition="Series whose last candle closed over 24 hours ago. A backtest collects what it lacks, unless it is told not to."
      />
      <Tile
        label="Incomplete series"
        value={decimal(incomplete, 0)}
        sub={corrupt === 1 ? '1 corrupt month' : `${decimal(corrupt, 0)} corrupt months`}
        definition="Series that lost candles between their first and last one, or have a corrupt month. Closed times and times without trades are not missing."
      />
    </div>
  );
}
