import { Download, X } from 'lucide-react';
import type { StoredSeries } from '../../api/coverage.ts';
import { useCall } from '../../api/queries.ts';
import { ActButton } from '../../auth/act.tsx';
import { coverageOf, isIncomplete, timeframeMs } from '../../charts/coverage.ts';
import { CoverageStrip } from '../../charts/coverage-strip.tsx';
import { decimal, duration, shortSymbol } from '../../ui/format.ts';
import { Panel, Time } from '../../ui/parts.tsx';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { useDataSearch } from './search.ts';
import { SeriesActions } from './series-actions.tsx';

interface Gap {
  readonly start: string;
  readonly missing: number;
  /** Seconds. */
  readonly length: number;
}

const GAP_COLUMNS: readonly Column<Gap>[] = [
  { key: 'start', title: 'First missing candle', cell: ({ start }) => <Time at={start} /> },
  { key: 'missing', title: 'Candles', isNumber: true, cell: ({ missing }) => decimal(missing, 0) },
  { key: 'length', title: 'Length', isNumber: true, cell: ({ length }) => duration(length) },
];

/** One series: its range, its months and its longest gaps. Long because it is the list of the values of a series. */
export function SeriesPanel(props: {
  readonly exchange: string;
  readonly series: StoredSeries;
  readonly onClose: () => void;
}) {
  const { exchange, series, onClose } = props;
  const { symbol, timeframe, missing } = series;
  const [, change] = useDataSearch();
  return (
    <Panel
      title={`${symbol.includes(':') ? symbol : shortSymbol(symbol)} ${timeframe}`}
      actions={
        <>
          <ActButton
            operation="startCollection"
            kind="small"
            onClick={() => change({ collect: `${symbol} ${timeframe}`, from: firstMissingDay(series) })}
          >
            <Download aria-hidden="true" /> Collect this
          </ActButton>
          <button type="button" className="btn small icon" aria-label="Close the series" onClick={onClose}>
            <X aria-hidden="true" />
          </button>
        </>
      }
    >
      <div className="pad stack">
        <CoverageStrip series={[series]} />
        <SeriesActions series={{ exchange, symbol, timeframe }} />
        <div className="cols-2">
          <dl className="defs">
            <dt>First candle</dt>
            <dd>
              <Time at={series.first} />
            </dd>
            <dt>Last candle</dt>
            <dd>
              <Time at={series.last} />
            </dd>
            <dt>Stored</dt>
            <dd>
              {decimal(series.count, 0)} candles, {decimal(Math.floor(coverageOf(series) * 10_000) / 100, 2)}{' '}
              %
            </dd>
            <dt>Missing</dt>
            <dd>
              {decimal(missing.damage, 0)} candles lost, {decimal(missing.no_trades, 0)} without trades,{' '}
              {decimal(missing.closed, 0)} closed, {decimal(series.gap_count, 0)} gaps
            </dd>
            <dt>Before the first candle</dt>
            <dd>
              {series.complete_from === null ? (
                'not asked for yet'
              ) : (
                <>
                  the exchange has none since <Time at={series.complete_from} isDate />
                </>
              )}
            </dd>
            <dt>Changed</dt>
            <dd>
              <Time at={series.updated_at} />
            </dd>
          </dl>
          <Gaps exchange={exchange} series={series} />
        </div>
      </div>
    </Panel>
  );
}

/** Day from which a collection closes what the series lacks: the first incomplete month, else its last day. */
function firstMissingDay({ months, last }: StoredSeries): string {
  const month = months.find(isIncomplete)?.month;
  return month === undefined ? last.slice(0, 10) : `${month}-01`;
}

function Gaps({ exchange, series }: { readonly exchange: string; readonly series: StoredSeries }) {
  const status = useCall('getDataStatus', { query: { exchange } });
  return (
    <div className="data-gaps">
      <h3>Longest gaps</h3>
      <Loaded query={status} skeleton={<Skeleton rows={4} />}>
        {(data) => {
          const found = data.series.find(
            ({ symbol, timeframe }) => symbol === series.symbol && timeframe === series.timeframe,
          );
          const seconds = timeframeMs(series.timeframe) / 1_000;
          const gaps = (found?.gaps ?? []).map((gap) => ({ ...gap, length: gap.missing * seconds }));
          return gaps.length === 0 ? (
            <p className="muted">None between the first and the last candle.</p>
          ) : (
            <Table rows={gaps} columns={GAP_COLUMNS} idOf={({ start }) => start} label="Longest gaps" />
          );
        }}
      </Loaded>
    </div>
  );
}
