import { useMemo } from 'react';
import type { ResponseOf } from '../../api/client.ts';
import { useCall } from '../../api/queries.ts';
import { Chart, type ChartPane, type ChartX } from '../../charts/chart.tsx';
import { decimal, utcDate, withUnit } from '../../ui/format.ts';
import { Loaded, Skeleton } from '../../ui/states.tsx';
import type { ReportData } from './data.ts';

/** Equity above drawdown on one axis of time. */
export function EquityPanel(props: {
  readonly id: string;
  readonly report: ReportData;
  readonly currency: string;
}) {
  const equity = useCall('getBacktestEquity', { params: { job_id: props.id } }, { isImmutable: true });
  return (
    <section className="panel" aria-label="Equity">
      <Loaded query={equity} skeleton={<Skeleton rows={13} className="report-skeleton-equity" />}>
        {(data) => <DailyEquity data={data} report={props.report} currency={props.currency} />}
      </Loaded>
    </section>
  );
}

/** Zero at the top, and at least 1 % deep, so that a run without losses is not drawn as one. */
const fallRange = (min: number) => [Math.min(min, -1) * 1.05, 0] as const;

function DailyEquity(props: {
  readonly data: ResponseOf<'getBacktestEquity'>;
  readonly report: ReportData;
  readonly currency: string;
}) {
  const { data, report, currency } = props;
  const { account, equity } = report.metrics;
  const money = (number: number) => withUnit(number, 'quote', currency);
  const x = useMemo(
    (): ChartX => ({
      values: data.dates.map((date) => Date.parse(`${date}T00:00:00Z`) / 1_000),
      title: 'Day (UTC)',
      isTime: true,
      format: (seconds) => utcDate(seconds * 1_000),
    }),
    [data.dates],
  );
  const panes = useMemo(
    (): readonly ChartPane[] => [
      {
        series: [
          {
            title: 'Equity',
            values: data.equity,
            color: 'series-1',
            kind: 'area',
            format: (number) => withUnit(number, 'quote', currency),
          },
        ],
        baselines: [account.starting_balance],
      },
      {
        series: [
          {
            title: 'Drawdown',
            values: data.drawdown,
            color: 'down',
            kind: 'area',
            format: (number) => `${decimal(number, 2)} %`,
          },
        ],
        unit: ' %',
        range: fallRange,
      },
    ],
    [data, account.starting_balance, currency],
  );
  return (
    <Chart
      title="Equity and drawdown"
      summary={`from ${money(account.starting_balance)} to ${money(account.final_balance)}, deepest drawdown ${decimal(equity.max_drawdown_pct, 2)} %, ${x.values.length} days`}
      size="large"
      x={x}
      panes={panes}
    />
  );
}
