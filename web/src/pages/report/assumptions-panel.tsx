import { Fragment } from 'react';
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
      <dl className="defs pad">
        {assumptions.costs.map(({ basis_points, amount, amount_pct }) => (
          <Fragment key={basis_points}>
            <dt>A fee or slippage higher by {basis_points} bp of the traded value costs</dt>
            <dd>
              {value(amount, 'quote')} ({value(amount_pct, 'percent')} %)
            </dd>
          </Fragment>
        ))}
      </dl>
      <p className="faint pad">
        Profit now minus profit without the assumption, with the same trades and stakes. Positive: it helped.
        Amounts are first-order effects and do not add up.
      </p>
    </Panel>
  );
}
