import { useMemo } from 'react';
import { MonthlyHeatmap } from '../../charts/heatmap.tsx';
import { Panel } from '../../ui/parts.tsx';
import type { ReportData } from './data.ts';

/** Returns by month and year. */
export function MonthsPanel({ report }: { readonly report: ReportData }) {
  const { month, year } = report.periods;
  const months = useMemo(() => new Map(month.map(({ key, return_pct }) => [key, return_pct])), [month]);
  const years = useMemo(() => new Map(year.map(({ key, return_pct }) => [key, return_pct])), [year]);
  return (
    <Panel title="Monthly returns, %">
      <MonthlyHeatmap months={months} years={years} />
    </Panel>
  );
}
