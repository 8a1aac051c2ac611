import { useMemo } from 'react';
import { Chart, type ChartPane, type ChartX } from '../../charts/chart.tsx';
import { signed, tone, value } from '../../ui/format.ts';
import { type Column, Table } from '../../ui/table.tsx';
import type { ReportData } from './data.ts';

type Robustness = NonNullable<ReportData['robustness']>;
type Cells = NonNullable<Robustness['cost_sweep']>['cells'];
type Level = NonNullable<Robustness['capacity']>['levels'][number];

/** Profit at other costs and with larger stakes. */
export function RequestedTests({ robustness }: { readonly robustness: Robustness }) {
  const { cost_sweep: sweep, capacity } = robustness;
  return (
    <>
      {sweep && <SweepChart cells={sweep.cells} />}
      {capacity && capacity.levels.length > 0 && (
        <Table
          rows={capacity.levels}
          columns={LEVELS}
          idOf={({ multiple }) => String(multiple)}
          label="Capacity"
        />
      )}
    </>
  );
}

/** Profit by cost per side, a line for each delay. */
function SweepChart({ cells }: { readonly cells: Cells }) {
  const { x, panes, summary } = useMemo(() => sweepOf(cells), [cells]);
  return <Chart title="Profit by cost" summary={summary} size="small" x={x} panes={panes} />;
}

function sweepOf(cells: Cells) {
  const costs = [...new Set(cells.map(({ cost }) => cost))];
  const delays = [...new Set(cells.map(({ delay }) => delay))];
  const x: ChartX = {
    values: costs.map((cost) => cost * 10_000),
    title: 'Basis points a side',
    format: (cost) => `${value(cost, 'count')} bp`,
  };
  const panes: readonly ChartPane[] = [
    {
      series: delays.map((delay, index) => ({
        title: `${value(delay, 'count')} candles later`,
        values: cells.filter((cell) => cell.delay === delay).map((cell) => cell.total_profit_pct),
        color: (['series-1', 'series-2', 'series-3'] as const)[index % 3]!,
        format: (profit: number | null | undefined) => signed(profit, 'percent'),
      })),
      unit: ' %',
      baselines: [0],
    },
  ];
  const [first] = cells;
  const last = cells.findLast(({ delay }) => delay === first?.delay);
  const profit = (cell: typeof first) => signed(cell?.total_profit_pct, 'percent');
  const summary = `${profit(first)} % without costs, ${profit(last)} % at ${value(x.values.at(-1), 'count')} bp a side`;
  return { x, panes, summary };
}

const LEVELS: readonly Column<Level>[] = [
  { key: 'wallet', title: 'Wallet', isNumber: true, cell: ({ wallet }) => value(wallet, 'quote') },
  { key: 'trades', title: 'Trades', isNumber: true, cell: (row) => value(row.total_trades, 'count') },
  {
    ...{ key: 'profit', title: 'Profit, %', isNumber: true },
    cell: ({ total_profit_pct }) => signed(total_profit_pct, 'percent'),
    tone: ({ total_profit_pct }) => tone(total_profit_pct),
  },
  { key: 'sharpe', title: 'Sharpe ratio', isNumber: true, cell: (row) => value(row.sharpe_ratio, 'ratio') },
];
