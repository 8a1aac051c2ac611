import { NO_VALUE, signed, value } from '../../ui/format.ts';
import { Panel } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import type { ReportData } from './data.ts';

type Assumptions = NonNullable<ReportData['assumptions']>;
type Row = Assumptions['assumptions'][number];

const COLUMNS: readonly Column<Row>[] = [
  {
    key: 'text',
    title: 'Assumption',
    cell: ({ text, without, reason }) => (
      <>
        {text}
        <br />
        <span className="faint">{reason ?? without}</span>
      </>
    ),
  },
  {
    key: 'trades',
    title: 'Trades',
    isNumber: true,
    cell: ({ trades }) => (trades === null ? NO_VALUE : value(trades, 'count')),
  },
  {
    key: 'amount',
    title: 'Earned',
    isNumber: true,
    cell: ({ amount }) => (amount === null ? NO_VALUE : signed(amount, 'quote')),
  },
  {
    key: 'amount_pct',
    title: 'of wallet, %',
    isNumber: true,
    cell: ({ amount_pct }) => (amount_pct === null ? NO_VALUE : signed(amount_pct, 'percent')),
  },
];

/** What each assumption of the run earned, by size, and what higher costs would take. */
export function AssumptionsPanel(props: { readonly assumptions: Assumptions; readonly currency: string }) {
  const { assumptions, currency } = props;
  return (
    <Panel title={`What each assumption earned${currency && `, ${currency}`}`}>
      <Table
        rows={assumptions.assumptions}
        columns={COLUMNS}
        idOf={({ name }) => name}
        label="What each assumption earned"
      />
      <p className="faint pad">
        Profit now minus profit without it, same trades: first-order effects that do not add up. A fee or
        slippage higher by{' '}
        {assumptions.costs
          .map(
            ({ basis_points, amount, amount_pct }) =>
              `${basis_points} bp costs ${value(amount, 'quote')} (${value(amount_pct, 'percent')} %)`,
          )
          .join(', ')}
        .
      </p>
    </Panel>
  );
}
