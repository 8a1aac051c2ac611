import { useMemo } from 'react';
import { Chart, type ChartPane, type ChartX } from '../../charts/chart.tsx';
import { NO_VALUE, signed, tone, value, words } from '../../ui/format.ts';
import { Panel } from '../../ui/parts.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { type ReportData, shortPair } from './data.ts';

type Robustness = NonNullable<ReportData['robustness']>;
type Benchmark = Robustness['benchmarks'][number];
type Cell = Robustness['regimes']['cells'][number];
type Stress = Robustness['stress'][number];
interface Bootstrapped {
  readonly name: string;
  readonly interval: Robustness['bootstrap']['cagr_pct'];
}

const BENCHMARKS: readonly Column<Benchmark>[] = [
  {
    key: 'held',
    title: 'Against holding',
    cell: ({ pair }) => (pair === null ? 'all pairs' : shortPair(pair)),
  },
  {
    key: 'alpha',
    title: 'Alpha a year, %',
    isNumber: true,
    cell: ({ alpha_pct }) => signed(alpha_pct, 'percent'),
    tone: ({ alpha_pct }) => tone(alpha_pct),
  },
  {
    key: 'interval',
    title: '95 % interval',
    isNumber: true,
    cell: ({ alpha_low_pct: low, alpha_high_pct: high }) =>
      `${signed(low, 'percent')} to ${signed(high, 'percent')}`,
  },
  { key: 'beta', title: 'Beta', isNumber: true, cell: ({ beta }) => value(beta, 'ratio') },
  {
    key: 'information',
    title: 'Information ratio',
    isNumber: true,
    cell: ({ information_ratio }) => value(information_ratio, 'ratio'),
  },
  {
    key: 'capture',
    title: 'Up / down capture, %',
    isNumber: true,
    cell: ({ up_capture_pct: up, down_capture_pct: down }) =>
      `${value(up, 'percent')} / ${value(down, 'percent')}`,
  },
];

const quantile = (key: 'low' | 'median' | 'high', title: string): Column<Bootstrapped> => ({
  ...{ key, title, isNumber: true },
  cell: ({ interval }) => value(interval?.[key], 'percent'),
});
const BOOTSTRAP: readonly Column<Bootstrapped>[] = [
  { key: 'name', title: 'Same days, other orders', cell: ({ name }) => name },
  quantile('low', '5 %'),
  quantile('median', '50 %'),
  quantile('high', '95 %'),
];

const CELLS: readonly Column<Cell>[] = [
  {
    key: 'regime',
    title: 'Regime',
    cell: ({ trend, volatility }) => `${words(trend)}, ${volatility} volatility`,
  },
  { key: 'days', title: 'Days', isNumber: true, cell: ({ days }) => value(days, 'count') },
  { key: 'trades', title: 'Trades', isNumber: true, cell: ({ trades }) => value(trades, 'count') },
  {
    key: 'return',
    title: 'Return, %',
    isNumber: true,
    cell: ({ return_pct }) => signed(return_pct, 'percent'),
    tone: ({ return_pct }) => tone(return_pct),
  },
  {
    key: 'share',
    title: 'Share of profit, %',
    isNumber: true,
    cell: ({ profit_share_pct }) => value(profit_share_pct, 'percent'),
  },
  {
    key: 'sharpe',
    title: 'Sharpe (error)',
    isNumber: true,
    cell: ({ sharpe_ratio, sharpe_ratio_error }) =>
      sharpe_ratio === null
        ? NO_VALUE
        : `${value(sharpe_ratio, 'ratio')} (${value(sharpe_ratio_error, 'ratio')})`,
  },
  {
    key: 'fall',
    title: 'Drawdown, %',
    isNumber: true,
    cell: ({ max_drawdown_pct }) => value(max_drawdown_pct, 'percent'),
  },
];

const STRESS: readonly Column<Stress>[] = [
  { key: 'name', title: 'Stress window', cell: ({ name, text }) => <span title={text}>{name}</span> },
  { key: 'start', title: 'From (UTC)', cell: ({ start }) => start },
  { key: 'days', title: 'Days', isNumber: true, cell: ({ days }) => value(days, 'count') },
  {
    key: 'return',
    title: 'Return, %',
    isNumber: true,
    cell: ({ return_pct }) => signed(return_pct, 'percent'),
    tone: ({ return_pct }) => tone(return_pct),
  },
  {
    key: 'market',
    title: 'Market, %',
    isNumber: true,
    cell: ({ market_return_pct }) => signed(market_return_pct, 'percent'),
  },
];

/** Dependence of the result on costs, market, luck and chance. */
export function RobustnessPanel({ robustness }: { readonly robustness: Robustness }) {
  const { findings, benchmarks, regimes, stress, bootstrap, cost_sweep: sweep } = robustness;
  const known = benchmarks.filter(({ reason }) => reason === null);
  const tests = [robustness.random_entries, robustness.permutations].filter((test) => test !== undefined);
  // The findings have the reason of a break-even cost that is not known.
  const parts = [...benchmarks, regimes, bootstrap, ...tests];
  const missing = [...new Set(parts.flatMap(({ reason }) => reason ?? []))];
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
        {missing.map((reason) => (
          <li key={reason} className="muted">
            Not known: {reason}
          </li>
        ))}
      </ul>
      {sweep && <SweepChart cells={sweep.cells} />}
      {known.length > 0 && (
        <Table rows={known} columns={BENCHMARKS} idOf={({ benchmark }) => benchmark} label="Benchmarks" />
      )}
      {bootstrap.cagr_pct && (
        <Table rows={bootstrapped} columns={BOOTSTRAP} idOf={({ name }) => name} label="Bootstrap" />
      )}
      {regimes.cells.length > 0 && (
        <Table
          rows={regimes.cells}
          columns={CELLS}
          idOf={({ trend, volatility }) => `${trend} ${volatility}`}
          label="Regimes"
        />
      )}
      {stress.length > 0 && (
        <Table rows={stress} columns={STRESS} idOf={({ name }) => name} label="Stress windows" />
      )}
    </Panel>
  );
}

/** Profit by cost per side, a line for each delay. */
function SweepChart({ cells }: { readonly cells: NonNullable<Robustness['cost_sweep']>['cells'] }) {
  const { x, panes, summary } = useMemo(() => sweepOf(cells), [cells]);
  return <Chart title="Profit by cost" summary={summary} size="small" x={x} panes={panes} />;
}

function sweepOf(cells: NonNullable<Robustness['cost_sweep']>['cells']) {
  const costs = [...new Set(cells.map(({ cost }) => cost))];
  const delays = [...new Set(cells.map(({ delay }) => delay))];
  const x: ChartX = {
    values: costs.map((cost) => cost * 10_000),
    title: 'Basis points a side',
    format: (cost) => `${value(cost, 'count')} bp`,
  };
  const panes: readonly ChartPane[] = [
    {
      series: delays.map((delay, index) => ({
        title: `${value(delay, 'count')} candles later`,
        values: cells.filter((cell) => cell.delay === delay).map((cell) => cell.total_profit_pct),
        color: (['series-1', 'series-2', 'series-3'] as const)[index % 3]!,
        format: (profit: number | null | undefined) => signed(profit, 'percent'),
      })),
      unit: ' %',
      baselines: [0],
    },
  ];
  const [first] = cells;
  const last = cells.findLast(({ delay }) => delay === first?.delay);
  const profit = (cell: typeof first) => signed(cell?.total_profit_pct, 'percent');
  const summary = `${profit(first)} % without costs, ${profit(last)} % at ${value(x.values.at(-1), 'count')} bp a side`;
  return { x, panes, summary };
}
