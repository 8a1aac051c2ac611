import { Fragment } from 'react';
import { NO_VALUE, signed, value } from '../../ui/format.ts';
import { Panel } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { type ReportData, shortPair } from './data.ts';

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

/** What the slippage model estimated and limited. */
function SlippageFigures(props: NonNullable<ReportData['slippage']> & { readonly unit: string }) {
  const { large_trades, large_trades_pct, pairs, unit } = props;
  const sum = (name: 'capped_entries' | 'dropped_value' | 'capped_exits' | 'days_without_estimate') =>
    pairs.reduce((total, pair) => total + pair[name], 0);
  return (
    <>
      <h3 className="report-sub">Slippage model</h3>
      <dl className="defs pad">
        {pairs.map(
          ({ pair, mean_spread_pct }) =>
            mean_spread_pct !== null && (
              <Fragment key={pair}>
                <dt>Mean spread of {shortPair(pair)}</dt>
                <dd>{mean_spread_pct.toFixed(4)} %</dd>
              </Fragment>
            ),
        )}
        <dt>Days without an estimate</dt>
        <dd>{value(sum('days_without_estimate'), 'count')}</dd>
        <dt>Trades above 1 % of the volume</dt>
        <dd>
          {value(large_trades, 'count')} ({value(large_trades_pct, 'percent')} %)
        </dd>
        <dt>Entries reduced by volume</dt>
        <dd>
          {value(sum('capped_entries'), 'count')}, {value(sum('dropped_value'), 'quote') + unit} not filled
        </dd>
        <dt>Exits delayed by volume, candles</dt>
        <dd>{value(sum('capped_exits'), 'count')}</dd>
      </dl>
    </>
  );
}

/** Costs of the run, what was not filled, and the same run under the other fill model. */
export function CostsPanel({ report, currency }: { readonly report: ReportData; readonly currency: string }) {
  const { costs, counters, fill_model } = report;
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
      {report.slippage && <SlippageFigures {...report.slippage} unit={unit} />}
      <h3 className="report-sub">Fill model compared</h3>
      <dl className="defs pad">
        <dt>{fill_model.used} (used)</dt>
        <dd>
          {signed(report.metrics.account.total_profit_pct, 'percent')} %,{' '}
          {value(report.metrics.closed_trades.total_trades, 'count')} trades
        </dd>
        <dt>{fill_model.alternative}</dt>
        <dd>
          {signed(fill_model.alternative_total_profit_pct, 'percent')} %,{' '}
          {value(fill_model.alternative_trades, 'count')} trades
        </dd>
        <dt>Trades that differ</dt>
        <dd>{value(fill_model.differing_trades, 'count')}</dd>
      </dl>
    </Panel>
  );
}
