import { lazy, Suspense } from 'react';
import { NO_VALUE, signed, value } from '../../ui/format.ts';
import { Panel } from '../../ui/parts.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import type { ReportData } from './data.ts';

/** Few runs have a slippage model. */
const SlippageFigures = lazy(async () => ({
  default: (await import('./slippage-figures.tsx')).SlippageFigures,
}));

interface CostRow {
  readonly name: string;
  readonly amount: number;
  readonly pct_of_gross_profit: number | null;
  readonly pct_of_turnover: number | null;
}

const COLUMNS: readonly Column<CostRow>[] = [
  { key: 'name', title: 'Cost', cell: ({ name }) => name },
  { key: 'amount', title: 'Paid', isNumber: true, cell: ({ amount }) => value(amount, 'quote') },
  {
    key: 'gross',
    title: 'of gross profit, %',
    isNumber: true,
    cell: ({ pct_of_gross_profit }) => value(pct_of_gross_profit, 'percent'),
  },
  {
    key: 'turnover',
    title: 'of turnover, %',
    isNumber: true,
    cell: ({ pct_of_turnover }) =>
      pct_of_turnover === null ? NO_VALUE : value(pct_of_turnover, 'probability'),
  },
];

/** Costs of the run, what was not filled, and the same run under the other fill model. */
export function CostsPanel({ report, currency }: { readonly report: ReportData; readonly currency: string }) {
  const { costs, counters } = report;
  const rows: readonly CostRow[] = [
    { name: 'Fees', ...costs.fees },
    { name: 'Slippage', ...costs.slippage },
    { name: 'Funding', ...costs.funding },
  ];
  const unit = currency && ` ${currency}`;
  return (
    <Panel title={`Costs${currency && `, ${currency}`}`}>
      <Table
        rows={rows}
        columns={COLUMNS}
        idOf={({ name }) => name}
        label="Costs"
        total={{ name: 'Total', ...costs.total }}
      />
      <dl className="defs pad">
        <dt>Profit before costs</dt>
        <dd>{signed(costs.gross_profit, 'quote') + unit}</dd>
        <dt>Turnover</dt>
        <dd>{value(costs.turnover, 'quote') + unit}</dd>
        <dt>Entry signals without a free slot</dt>
        <dd>{value(counters.rejected_signals, 'count')}</dd>
        <dt>Orders not filled in time</dt>
        <dd>
          {value(counters.timed_out_entries, 'count')} entries, {value(counters.timed_out_exits, 'count')}{' '}
          exits
        </dd>
        <dt>Entries cancelled or replaced</dt>
        <dd>
          {value(counters.cancelled_entries, 'count')}, {value(counters.replaced_entries, 'count')}
        </dd>
        {counters.replaced_exits !== undefined && (
          <>
            <dt>Exits cancelled or replaced</dt>
            <dd>
              {value(counters.cancelled_exits ?? 0, 'count')}, {value(counters.replaced_exits, 'count')}
            </dd>
          </>
        )}
      </dl>
      {report.slippage && (
        <Suspense fallback={<Skeleton rows={5} />}>
          <SlippageFigures {...report.slippage} unit={unit} />
        </Suspense>
      )}
      <FillModels report={report} />
    </Panel>
  );
}

/** The same run under the other fill model. */
function FillModels({ report: { fill_model, metrics } }: { readonly report: ReportData }) {
  return (
    <>
      <h3 className="report-sub">Fill model compared</h3>
      <dl className="defs pad">
        <dt>{fill_model.used} (used)</dt>
        <dd>
          {signed(metrics.account.total_profit_pct, 'percent')} %,{' '}
          {value(metrics.closed_trades.total_trades, 'count')} trades
        </dd>
        <dt>{fill_model.alternative}</dt>
        <dd>
          {signed(fill_model.alternative_total_profit_pct, 'percent')} %,{' '}
          {value(fill_model.alternative_trades, 'count')} trades
        </dd>
        {fill_model.shifted_trades === undefined ? (
          <>
            <dt>Trades that differ</dt>
            <dd>{value(fill_model.differing_trades, 'count')}</dd>
          </>
        ) : (
          <>
            <dt>Trades with another exit, shifted, unmatched</dt>
            <dd>
              {value(fill_model.differing_trades, 'count')}, {value(fill_model.shifted_trades, 'count')},{' '}
              {value(fill_model.unmatched_trades ?? 0, 'count')}
            </dd>
            <dt>Entries on what is freed later in the candle (freqtrade)</dt>
            <dd>
              {value(fill_model.freed_later_entries ?? 0, 'count')}, which earned{' '}
              {signed(fill_model.freed_later_profit_pct ?? 0, 'percent')} %
            </dd>
          </>
        )}
      </dl>
    </>
  );
}
