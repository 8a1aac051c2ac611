import { signed, tone, value } from '../../ui/format.ts';
import { type Column, Table } from '../../ui/table.tsx';
import type { ReportData } from './data.ts';

type Steps = NonNullable<NonNullable<ReportData['robustness']>['capacity']>['steps'];

const number = (title: string, cell: (step: Steps[number]) => string): Column<Steps[number]> => ({
  key: title,
  title,
  isNumber: true,
  cell,
});

const COLUMNS: readonly Column<Steps[number]>[] = [
  { key: 'aum', title: 'With impact, a wallet of', cell: ({ aum }) => value(aum, 'quote') },
  {
    ...number('Profit, %', (step) => signed(step.total_profit_pct, 'percent')),
    tone: (step) => tone(step.total_profit_pct),
  },
  number('Sharpe', (step) => value(step.sharpe_ratio, 'ratio')),
  number('Trades', (step) => value(step.total_trades, 'count')),
  number('Impact, % of the wallet', (step) => value(step.impact_cost_pct, 'percent')),
  number('Entries reduced', (step) => value(step.capped_entries, 'count')),
];

/** Results with ever larger wallet and stakes, which move the market. */
export function CapacityTable({ steps }: { readonly steps: Steps }) {
  return <Table rows={steps} columns={COLUMNS} idOf={({ multiple }) => `${multiple}`} label="Capacity" />;
}
