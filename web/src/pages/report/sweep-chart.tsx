import { useMemo } from 'react';
import { Chart, type ChartPane, type ChartX } from '../../charts/chart.tsx';
import { signed, value } from '../../ui/format.ts';
import type { ReportData } from './data.ts';

type Cells = NonNullable<NonNullable<ReportData['robustness']>['cost_sweep']>['cells'];

/** Profit by cost per side, a line for each delay. */
export function SweepChart({ cells }: { readonly cells: Cells }) {
  const { x, panes, summary } = useMemo(() => sweepOf(cells), [cells]);
  return (
    <Chart title="Profit by cost a side, basis points" summary={summary} size="small" x={x} panes={panes} />
  );
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
        title:
          delay === 0 ? 'No delay' : `${value(delay, 'count')} ${delay === 1 ? 'candle' : 'candles'} later`,
        values: cells.filter((cell) => cell.delay === delay).map((cell) => cell.total_profit_pct),
        color: (['series-1', 'series-2', 'series-3'] as const)[index % 3]!,
        format: (profit: number | null | undefined) => `${signed(profit, 'percent')} %`,
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
