import { Fragment } from 'react';
import { shortPair, value, withUnit } from '../../ui/format.ts';
import type { ReportData } from './data.ts';

/** What the slippage model estimated and limited. */
export function SlippageFigures(props: NonNullable<ReportData['slippage']> & { readonly unit: string }) {
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
          {value(large_trades, 'count')} ({withUnit(large_trades_pct, 'percent')})
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
