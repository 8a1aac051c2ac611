import { useMemo } from 'react';
import { Chart, type ChartPane, type ChartX } from '../../charts/chart.tsx';
import { histogramOf } from '../../charts/histogram.ts';
import { decimal, signed, value } from '../../ui/format.ts';
import type { TradeRow } from './trades.ts';

const BINS = 48;
const count = (number: number) => value(number, 'count');
/** A count starts at zero. */
const countRange = (_min: number, max: number) => [0, Math.max(1, max * 1.08)] as const;

/** Number of trades by result, of at least one trade. Losses and gains have colours of their own, and zero is between two bars. */
export function DistributionChart({ rows }: { readonly rows: readonly TradeRow[] }) {
  const { x, panes, summary } = useMemo(() => chartOf(rows), [rows]);
  return <Chart title="Distribution of the results, %" summary={summary} x={x} panes={panes} />;
}

function chartOf(rows: readonly TradeRow[]) {
  const results = rows.map(({ profit_pct }) => profit_pct);
  const { width, edges, counts } = histogramOf(results, BINS);
  const digits = Math.max(0, -Math.floor(Math.log10(width) + 1e-9));
  const edge = (number: number) => decimal(number, digits);
  const x: ChartX = {
    values: edges.map((low) => low + width / 2),
    title: 'Result, %',
    pad: width,
    format: (middle) => {
      const index = Math.round((middle - (edges[0]! + width / 2)) / width);
      const low = edges[index]!;
      if (index === 0 && counts.length > 1) return `below ${edge(low + width)} %`;
      if (index === counts.length - 1 && index > 0) return `${edge(low)} % and more`;
      return `${edge(low)} to ${edge(low + width)} %`;
    },
  };
  const panes: readonly ChartPane[] = [
    {
      series: [
        {
          title: 'Losses',
          values: counts.map((number, index) => (edges[index]! < 0 ? number : null)),
          color: 'down',
          kind: 'bars',
          format: count,
        },
        {
          title: 'Gains',
          values: counts.map((number, index) => (edges[index]! >= 0 ? number : null)),
          color: 'up',
          kind: 'bars',
          format: count,
        },
      ],
      range: countRange,
    },
  ];
  const lost = results.filter((result) => result < 0).length;
  const sum = results.reduce((total, result) => total + result, 0);
  const summary = `${count(results.length)} trades, ${count(lost)} with a loss, mean ${signed(sum / results.length, 'percent')} %`;
  return { x, panes, summary };
}
