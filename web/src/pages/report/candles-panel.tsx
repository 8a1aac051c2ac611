import { lazy, type ReactNode, Suspense, useMemo } from 'react';
import { isFile } from '../../api/client.ts';
import { price, shortPair, signed, tone, utcFull } from '../../ui/format.ts';
import { Empty, ErrorState, Skeleton } from '../../ui/states.tsx';
import { timeframeSeconds, useCandles } from './candle-window.ts';
import type { Job, ReportData } from './data.ts';
import { useReportSearch } from './search.ts';
import type { TradeRow } from './trades.ts';

// The largest library of the page: it loads while the rest is shown.
const CandleChart = lazy(() =>
  import('../../charts/candles.tsx').then((module) => ({ default: module.CandleChart })),
);

/** Few runs adjust trades. */
const OrderTable = lazy(async () => ({ default: (await import('./order-table.tsx')).OrderTable }));

/** Candles of one pair with its trades. Long because it is one picture with its choices and the selected trade. */
export function CandlesPanel(props: {
  readonly job: Job;
  readonly report: ReportData;
  readonly trades: readonly TradeRow[] | undefined;
  readonly selected: TradeRow | undefined;
  readonly actions: ReactNode;
}) {
  const { job, report, trades, selected } = props;
  const [search, change] = useReportSearch();
  const { pairs, timeframe, exchange } = job.config;
  const known = pairs.find((pair) => pair === (search.chart ?? selected?.pair));
  const pair = known ?? pairs[0]!;
  const ofPair = useMemo(
    () => trades?.filter((trade) => trade.pair === pair).sort((a, b) => a.opened_at - b.opened_at) ?? [],
    [trades, pair],
  );
  const shown = selected?.pair === pair ? selected : undefined;
  const { bars, error, retry, load } = useCandles({
    exchange,
    timeframe,
    symbol: pair,
    from: report.settings.first_candle,
    to: report.settings.date_range.end,
    around: shown,
  });
  const profit = report.tables.per_pair.find(({ key }) => key === pair)?.total_profit;
  const skeleton = <Skeleton rows={13} className="report-skeleton-candles" />;
  const actions = (
    <>
      <select
        className="report-pair-select"
        aria-label="Pair of the candles"
        value={pair}
        onChange={({ target }) => change({ chart: target.value })}
      >
        {pairs.map((value) => (
          <option key={value} value={value}>
            {shortPair(value)}
          </option>
        ))}
      </select>
      {props.actions}
    </>
  );
  return (
    <section className="panel" aria-label="Candles">
      {error ? (
        <ErrorState error={error} onRetry={retry} />
      ) : !bars ? (
        skeleton
      ) : isFile() && bars.times.length === 0 ? (
        <div className="report-skeleton-candles">
          <Empty title="This file has no candles here">
            It has those around the trades with the largest profits and losses. Select one of them, or open
            the report in Touchstone.
          </Empty>
        </div>
      ) : (
        <Suspense fallback={skeleton}>
          <CandleChart
            title={`${shortPair(pair)} ${timeframe}`}
            summary={`${ofPair.length} trades${profit === undefined ? '' : `, profit ${signed(profit, 'quote')}`}`}
            bars={bars}
            step={timeframeSeconds(timeframe)}
            trades={ofPair}
            selected={shown}
            actions={actions}
            legend={<TradeLine trade={shown} />}
            onEdge={load}
          />
        </Suspense>
      )}
      {shown?.orders && (
        <Suspense fallback={<Skeleton rows={4} />}>
          <OrderTable trade={shown} orders={shown.orders} />
        </Suspense>
      )}
      <p className="report-attribution faint">
        Candles by{' '}
        <a href="https://www.tradingview.com/" rel="noreferrer" target="_blank">
          TradingView Lightweight Charts™
        </a>
        , © TradingView, Inc.
      </p>
    </section>
  );
}

/** The selected trade in one line. */
function TradeLine({ trade }: { readonly trade: TradeRow | undefined }) {
  if (!trade) {
    return <span>Select a trade in the table, or press N. Triangle: entry. Dot: exit.</span>;
  }
  return (
    <>
      <span>
        {trade.side === 'long' ? '↑' : '↓'} {trade.side} #{trade.id}
      </span>
      <span>
        {utcFull(trade.opened_at * 1_000)} to {utcFull(trade.closed_at * 1_000)} UTC
      </span>
      <span>
        Entry <b>{price(trade.entry_price)}</b>
      </span>
      <span>
        Exit <b>{price(trade.exit_price)}</b> {trade.exit_reason}
      </span>
      <span>
        Stop <b>{price(trade.stop_price)}</b>
        {trade.stop_price !== trade.initial_stop_price && `, first ${price(trade.initial_stop_price)}`}
      </span>
      <b className={tone(trade.profit)}>{signed(trade.profit_pct, 'percent')} %</b>
    </>
  );
}
