import { type ReactNode, useMemo, useState } from 'react';
import { isFile, type ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { Chart, type ChartPane, type ChartX } from '../../charts/chart.tsx';
import { balance, decimal, utcDate, utcTime } from '../../ui/format.ts';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import type { ReportData } from './data.ts';
import { useReportSearch } from './search.ts';

type Curve = ResponseOf<'getBacktestCurve'>;
type Range = readonly [from: number, to: number];

/** Points that are loaded: several for each pixel of the widest screen. */
const POINTS = 8_000;
const DAY = 86_400;

/** Equity above drawdown on one axis of time, by day or by candle. */
export function EquityPanel(props: {
  readonly id: string;
  readonly report: ReportData;
  readonly currency: string;
}) {
  const { id, report, currency } = props;
  const [{ candles, market }, change] = useReportSearch();
  const [zoom, setZoom] = useState<Range>();
  const resolution = candles ? 'candle' : 'day';
  const whole = useCall('getBacktestCurve', curveOf(id, resolution), {
    isImmutable: true,
    keepPrevious: true,
  });
  // What was left out of the whole curve is loaded for the part in view.
  const isPart = zoom !== undefined && whole.data?.decimated === true;
  const part = useCall('getBacktestCurve', curveOf(id, resolution, zoom), {
    enabled: isPart,
    isImmutable: true,
    keepPrevious: true,
  });
  const isOld = whole.data?.market === null;
  const notStored = isOld ? 'Not stored: an earlier release ran this backtest' : undefined;
  const actions = (
    <>
      <Toggle isOn={!candles} onClick={() => change({ candles: undefined })}>
        Daily
      </Toggle>
      <Toggle
        isOn={candles === true}
        onClick={() => change({ candles: true })}
        reason={isFile() ? 'Not in this file' : notStored}
      >
        Candles
      </Toggle>
      <Toggle
        isOn={market === true}
        onClick={() => change({ market: market ? undefined : true })}
        reason={notStored}
      >
        Market
      </Toggle>
    </>
  );
  return (
    <section className="panel" aria-label="Equity">
      <Loaded query={whole} skeleton={<Skeleton rows={13} className="report-skeleton-equity" />}>
        {(data) => (
          <EquityChart
            whole={data}
            part={isPart ? part.data : undefined}
            hasMarket={market === true}
            {...{ report, currency, actions }}
            onZoom={setZoom}
          />
        )}
      </Loaded>
    </section>
  );
}

/** Request of a curve; of a part of it with as many seconds to either side as the part needs to be drawn to its edges. */
function curveOf(id: string, resolution: 'day' | 'candle', zoom?: Range) {
  const iso = (seconds: number) => new Date(Math.floor(seconds) * 1_000).toISOString();
  return {
    params: { job_id: id },
    query: {
      resolution,
      points: POINTS,
      ...(zoom ? { from: iso(zoom[0] - DAY), to: iso(zoom[1] + DAY) } : {}),
    },
  } as const;
}

function Toggle(props: {
  readonly isOn: boolean;
  readonly onClick: () => void;
  readonly reason?: string | undefined;
  readonly children: string;
}) {
  return (
    <button
      type="button"
      className="btn small"
      aria-pressed={props.isOn}
      disabled={props.reason !== undefined}
      title={props.reason}
      onClick={props.onClick}
    >
      {props.children}
    </button>
  );
}

/** Zero at the top, and at least 1 % deep, so that a run without losses is not drawn as one. */
const fallRange = (min: number) => [Math.min(min, -1) * 1.05, 0] as const;

function EquityChart(props: {
  readonly whole: Curve;
  /** The part in view with more points. */
  readonly part: Curve | undefined;
  readonly hasMarket: boolean;
  readonly report: ReportData;
  readonly currency: string;
  readonly actions: ReactNode;
  readonly onZoom: (range: Range | undefined) => void;
}) {
  const { whole, hasMarket, report, currency } = props;
  const curve = props.part ?? whole;
  const { account, equity } = report.metrics;
  const { times, resolution } = curve;
  const first = whole.times[0] ?? 0;
  const last = whole.times.at(-1) ?? 0;
  const x = useMemo(
    (): ChartX => ({
      values: times,
      extent: [first, last],
      title: resolution === 'day' ? 'Day (UTC)' : 'Candle (UTC)',
      isTime: true,
      format: (seconds) =>
        resolution === 'day' ? utcDate(seconds * 1_000) : `${utcTime(seconds * 1_000)} UTC`,
    }),
    [times, first, last, resolution],
  );
  const panes = useMemo(
    () => panesOf(curve, account.starting_balance, hasMarket, currency),
    [curve, account.starting_balance, hasMarket, currency],
  );
  const money = (number: number) => balance(number, currency);
  return (
    <Chart
      title="Equity and drawdown"
      summary={`from ${money(account.starting_balance)} to ${money(account.final_balance)}, deepest drawdown ${decimal(equity.max_drawdown_pct, 2)} %`}
      size="large"
      x={x}
      panes={panes}
      actions={
        <>
          <span className="faint report-points">
            {decimal(times.length, 0)}
            {curve.decimated && ` of ${decimal(curve.total, 0)}`} points
          </span>
          {props.actions}
        </>
      }
      onZoom={props.onZoom}
    />
  );
}

function panesOf(
  { equity, market, drawdown }: Curve,
  start: number,
  hasMarket: boolean,
  currency: string,
): readonly ChartPane[] {
  const format = (number: number) => balance(number, currency);
  return [
    {
      series: [
        { title: 'Equity', values: equity, color: 'series-1', kind: 'area', format },
        ...(hasMarket && market
          ? [{ title: 'Market', values: market, color: 'series-2' as const, isDashed: true, format }]
          : []),
      ],
      baselines: [start],
    },
    {
      series: [
        {
          title: 'Drawdown',
          values: drawdown,
          color: 'down',
          kind: 'area',
          format: (number) => `${decimal(number, 2)} %`,
        },
      ],
      unit: ' %',
      range: fallRange,
    },
  ];
}
