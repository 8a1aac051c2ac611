import { shortPair, value } from '../../ui/format.ts';
import { Panel, Time } from '../../ui/parts.tsx';
import { type Column, VirtualTable } from '../../ui/table.tsx';
import type { ReportData } from './data.ts';

type Series = NonNullable<ReportData['informative']>[number];

/** Series are few, up to one per pair and timeframe. */
const COLUMNS: readonly Column<Series>[] = [
  { key: 'pair', title: 'Pair', width: 110, cell: ({ pair }) => shortPair(pair) },
  { key: 'timeframe', title: 'Timeframe', width: 90, cell: ({ timeframe }) => timeframe },
  {
    key: 'source',
    title: 'Candles',
    width: 140,
    cell: ({ origin, source_timeframe }) =>
      origin === 'stored' ? 'stored' : `computed from ${source_timeframe}`,
  },
  {
    key: 'candles',
    title: 'Number',
    width: 80,
    isNumber: true,
    cell: ({ candles }) => value(candles, 'count'),
  },
  {
    key: 'filled',
    title: 'Filled gaps',
    width: 90,
    isNumber: true,
    cell: ({ filled_candles }) => value(filled_candles, 'count'),
  },
  { key: 'first', title: 'First', width: 170, cell: ({ first }) => (first ? <Time at={first} /> : 'none') },
  { key: 'last', title: 'Last', width: 170, cell: ({ last }) => (last ? <Time at={last} /> : 'none') },
  {
    key: 'read_by',
    title: 'Read by',
    width: 196,
    cell: ({ read_by }) => {
      const pairs = read_by.map(shortPair).join(', ');
      return <span title={pairs}>{pairs}</span>;
    },
  },
];

/** Candles of other pairs and timeframes that the strategy read. */
export function InformativePanel({ series }: { readonly series: readonly Series[] }) {
  return (
    <Panel title="Informative series">
      <div className="report-bounded">
        <VirtualTable
          rows={series}
          columns={COLUMNS}
          idOf={(each) => series.indexOf(each)}
          label="Series that the strategy read"
        />
      </div>
    </Panel>
  );
}
