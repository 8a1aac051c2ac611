import { lazy, type ReactNode, Suspense, useMemo } from 'react';
import { isFile } from '../../api/client.ts';
import { NO_VALUE, price, signed, tone, utcTime, value } from '../../ui/format.ts';
import { Empty, ErrorState, Skeleton } from '../../ui/states.tsx';
import { type Column, VirtualTable } from '../../ui/table.tsx';
import { timeframeSeconds, useCandles } from './candle-window.ts';
import { type Job, type ReportData, shortPair } from './data.ts';
import { useReportSearch } from './search.ts';
import type { TradeRow } from './trades.ts';

// The largest library of the page: it loads while the rest is shown.
const CandleChart = lazy(() =>
  import('../../charts/candles.tsx').then((module) => ({ default: module.CandleChart })),
);

/** Candles of one pair with its trades. */
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
    ...{ exchange, timeframe, symbol: pair },
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
      {shown?.orders && <OrderTable trade={shown} orders={shown.orders} />}
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

type Orders = NonNullable<TradeRow['orders']>;

const ORDER_COLUMNS: readonly Column<Orders[number]>[] = [
  { key: 'side', title: 'Order', width: 80, cell: ({ side }) => side },
  {
    key: 'filled_at',
    title: 'Filled (UTC)',
    width: 150,
    cell: ({ filled_at }) => utcTime(Date.parse(filled_at)),
  },
  { key: 'price', title: 'Price', width: 110, isNumber: true, cell: (order) => price(order.price) },
  { key: 'amount', title: 'Amount', width: 110, isNumber: true, cell: ({ amount }) => value(amount, 'base') },
  { key: 'fee', title: 'Fee', width: 80, isNumber: true, cell: ({ fee }) => value(fee, 'quote') },
  {
    key: 'funding',
    title: 'Funding',
    width: 90,
    isNumber: true,
    cell: ({ funding }) => signed(funding, 'quote'),
  },
  { key: 'tag', title: 'Tag', width: 140, cell: ({ tag }) => tag ?? NO_VALUE },
];

/** The orders of a trade with additions or partial exits. */
function OrderTable({ trade, orders }: { readonly trade: TradeRow; readonly orders: Orders }) {
  return (
    <div className="report-bounded">
      <VirtualTable
        rows={orders}
        columns={ORDER_COLUMNS}
        idOf={(order) => orders.indexOf(order)}
        label={`Orders of trade ${trade.id}`}
      />
    </div>
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
        {utcTime(trade.opened_at * 1_000)} to {utcTime(trade.closed_at * 1_000)} UTC
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
