import { balance, NO_VALUE, value } from '../../ui/format.ts';
import { Panel, Time } from '../../ui/parts.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import type { ReportData } from './data.ts';

type Drawdown = ReportData['drawdowns']['daily'][number];

const COLUMNS: readonly Column<Drawdown>[] = [
  {
    key: 'depth_pct',
    title: 'Depth, %',
    isNumber: true,
    cell: ({ depth_pct }) => value(-Math.abs(depth_pct), 'percent'),
    tone: () => 'down',
  },
  {
    key: 'depth_abs',
    title: 'Depth',
    isNumber: true,
    cell: ({ depth_abs }) => value(-Math.abs(depth_abs), 'quote'),
  },
  { key: 'start', title: 'Peak', cell: ({ start }) => <Time at={start} isDate /> },
  { key: 'low', title: 'Low', cell: ({ low }) => <Time at={low} isDate /> },
  {
    key: 'recovery',
    title: 'Recovery',
    cell: ({ recovery }) => (recovery ? <Time at={recovery} isDate /> : `${NO_VALUE} not recovered`),
  },
  {
    key: 'to_low',
    title: 'Days to low',
    isNumber: true,
    cell: ({ days_to_low }) => value(days_to_low, 'count'),
  },
  { key: 'days', title: 'Days', isNumber: true, cell: ({ duration_days }) => value(duration_days, 'count') },
];

/** The deepest falls of the daily equity. */
export function DrawdownsPanel(props: { readonly report: ReportData; readonly currency: string }) {
  const { daily, candle } = props.report.drawdowns;
  return (
    <Panel title={`Drawdowns${props.currency && `, ${props.currency}`}`}>
      {daily.length === 0 ? (
        <Empty title="The equity never fell">It ended every day at its highest value.</Empty>
      ) : (
        <Table rows={daily} columns={COLUMNS} idOf={({ start }) => start} label="Deepest drawdowns" />
      )}
      {candle && (
        <p className="pad muted">
          By candle: {value(Math.abs(candle.depth_pct), 'percent')} % at <Time at={candle.low_at} />, from{' '}
          {balance(candle.peak_equity)} to {balance(candle.low_equity, props.currency)}.
        </p>
      )}
    </Panel>
  );
}
