import { lazy, type ReactNode, Suspense } from 'react';
import { unknownRobustness } from '#contract/values/unknown-robustness.ts';
import { NO_VALUE, shortPair, signed, tone, value, words } from '../../ui/format.ts';
import { Panel } from '../../ui/parts.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import type { ReportData } from './data.ts';

/** Few runs ask for them. */
const RequestedTests = lazy(async () => ({
  default: (await import('./requested-tests.tsx')).RequestedTests,
}));

type Robustness = NonNullable<ReportData['robustness']>;
type Benchmark = Robustness['benchmarks'][number];
type Cell = Robustness['regimes']['cells'][number];
type Stress = Robustness['stress'][number];
interface Bootstrapped {
  readonly name: string;
  readonly interval: Robustness['bootstrap']['cagr_pct'];
}

const number = <T,>(title: string, cell: (row: T) => string, of?: (row: T) => number | null): Column<T> => ({
  key: title,
  title,
  isNumber: true,
  cell,
  ...(of && { tone: (row: T) => tone(of(row)) }),
});

const BENCHMARKS: readonly Column<Benchmark>[] = [
  {
    key: 'held',
    title: 'Against holding',
    cell: ({ pair }) => (pair === null ? 'all pairs' : shortPair(pair)),
  },
  number(
    'Alpha a year, %',
    (row) => signed(row.alpha_pct, 'percent'),
    (row) => row.alpha_pct,
  ),
  number(
    '95 % interval',
    (row) => `${signed(row.alpha_low_pct, 'percent')} to ${signed(row.alpha_high_pct, 'percent')}`,
  ),
  number('Beta', (row) => value(row.beta, 'ratio')),
  number('Information ratio', (row) => value(row.information_ratio, 'ratio')),
  number(
    'Up / down capture, %',
    (row) => `${value(row.up_capture_pct, 'percent')} / ${value(row.down_capture_pct, 'percent')}`,
  ),
];

const BOOTSTRAP: readonly Column<Bootstrapped>[] = [
  { key: 'name', title: 'Same days, other orders', cell: ({ name }) => name },
  number('5 %', ({ interval }) => value(interval?.low, 'percent')),
  number('50 %', ({ interval }) => value(interval?.median, 'percent')),
  number('95 %', ({ interval }) => value(interval?.high, 'percent')),
];

/** Columns of cells and of stress windows. */
const DAYS = [
  number<{ days: number }>('Days', ({ days }) => value(days, 'count')),
  number<{ trades: number }>('Trades', ({ trades }) => value(trades, 'count')),
  number<{ return_pct: number | null }>(
    'Return, %',
    (row) => signed(row.return_pct, 'percent'),
    (row) => row.return_pct,
  ),
  number<{ max_drawdown_pct: number | null }>('Drawdown, %', (row) => value(row.max_drawdown_pct, 'percent')),
] as const;

const CELLS: readonly Column<Cell>[] = [
  {
    key: 'regime',
    title: 'Regime',
    cell: ({ trend, volatility }) => `${words(trend)}, ${volatility} volatility`,
  },
  ...DAYS,
  number('Share of profit, %', (row) => value(row.profit_share_pct, 'percent')),
  number('Sharpe (error)', (row) =>
    row.sharpe_ratio === null
      ? NO_VALUE
      : `${value(row.sharpe_ratio, 'ratio')} (${value(row.sharpe_ratio_error, 'ratio')})`,
  ),
];

const STRESS: readonly Column<Stress>[] = [
  { key: 'name', title: 'Window', cell: ({ name, text }) => <span title={text}>{name}</span> },
  { key: 'start', title: 'From (UTC)', cell: ({ start }) => start },
  ...DAYS,
  number('Market, %', (row) => signed(row.market_return_pct, 'percent')),
];

function Section({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <>
      <h3 className="report-sub">{title}</h3>
      {children}
    </>
  );
}

/** Dependence of the result on costs, market, luck and chance. */
export function RobustnessPanel(props: { readonly robustness: Robustness; readonly currency: string }) {
  const { robustness, currency } = props;
  const { findings, benchmarks, regimes, stress, bootstrap, cost_sweep: sweep, capacity } = robustness;
  const known = benchmarks.filter(({ reason }) => reason === null);
  const bootstrapped: readonly Bootstrapped[] = [
    { name: 'CAGR, %', interval: bootstrap.cagr_pct },
    { name: 'Max drawdown, %', interval: bootstrap.max_drawdown_pct },
    { name: 'Time under water, %', interval: bootstrap.time_under_water_pct },
  ];
  return (
    <Panel title="Robustness">
      <ul className="pad report-findings">
        {findings.map((finding) => (
          <li key={finding}>{finding}</li>
        ))}
        {unknownRobustness(robustness).map((line) => (
          <li key={line} className="muted">
            {line}
          </li>
        ))}
      </ul>
      {(sweep || capacity) && (
        <Suspense fallback={<Skeleton rows={6} />}>
          <RequestedTests {...robustness} currency={currency} />
        </Suspense>
      )}
      {known.length > 0 && (
        <Section title="Alpha and beta">
          <Table rows={known} columns={BENCHMARKS} idOf={({ benchmark }) => benchmark} label="Benchmarks" />
        </Section>
      )}
      {bootstrap.cagr_pct && (
        <Section title="Bootstrap">
          <Table rows={bootstrapped} columns={BOOTSTRAP} idOf={({ name }) => name} label="Bootstrap" />
        </Section>
      )}
      {regimes.cells.length > 0 && (
        <Section title="Regimes">
          <Table
            rows={regimes.cells}
            columns={CELLS}
            idOf={({ trend, volatility }) => `${trend} ${volatility}`}
            label="Regimes"
          />
        </Section>
      )}
      {stress.length > 0 && (
        <Section title="Stress windows">
          <Table rows={stress} columns={STRESS} idOf={({ name }) => name} label="Stress windows" />
        </Section>
      )}
    </Panel>
  );
}
