import metrics from 'virtual:metrics';
import { Link } from '@tanstack/react-router';
import { trialsOfScope } from '#contract/values/deflated-ratio.ts';
import type { MetricUnit } from '#contract/values/metric-labels.ts';
import { Sparkline } from '../../charts/sparkline.tsx';
import { decimal, duration, NO_VALUE, resultText, signed, tone, utcDate, value } from '../../ui/format.ts';
import { Exchange, LookAheadWord } from '../../ui/job-list.tsx';
import { Age, Figure, Progress } from '../../ui/parts.tsx';
import type { Column } from '../../ui/table.tsx';
import type { Row, Sort } from './data.ts';
import { NameCell, RowActions } from './row.tsx';

/** Orders that are not by a metric of the result. */
type OtherSort =
  | 'created_at'
  | 'strategy'
  | 'owner'
  | 'exchange'
  | 'session'
  | 'look_ahead'
  | 'deflated_sharpe_ratio'
  | `params.${string}`;
type Metric = Exclude<Sort, OtherSort>;

/** A column of the list. */
export interface ListColumn extends Column<Row> {
  /** Longer name. */
  readonly label?: string;
  /** Compared by "varying only"; undefined: no value, which equals every other. */
  readonly compared: (row: Row) => unknown;
}

/** Metrics with the titles that a narrow column has room for; `+`: with sign and colour. */
const METRICS: readonly (readonly [metric: Metric, title: string, sign?: '+'])[] = [
  ['total_profit_pct', 'Profit %', '+'],
  ['max_drawdown_pct', 'Drawdown %'],
  ['sharpe_ratio', 'Sharpe'],
  ['sortino_ratio', 'Sortino'],
  ['calmar_ratio', 'Calmar'],
  ['cagr_pct', 'CAGR %', '+'],
  ['profit_factor', 'Profit factor'],
  ['win_rate', 'Win rate %'],
  ['total_trades', 'Trades'],
  ['winning_trades', 'Wins'],
  ['losing_trades', 'Losses'],
  ['draws', 'Draws'],
  ['expectancy', 'Expectancy', '+'],
  ['sqn', 'SQN'],
  ['exposure_pct', 'Exposure %'],
  ['market_change_pct', 'Market %', '+'],
  ['total_profit', 'Profit', '+'],
  ['final_balance', 'Balance'],
  ['fees', 'Fees'],
  ['funding', 'Funding', '+'],
  ['backtest_days', 'Days'],
];

/** Metrics that may have a note instead of a value. */
const NOTED: readonly Metric[] = [
  'sharpe_ratio',
  'sortino_ratio',
  'calmar_ratio',
  'cagr_pct',
  'profit_factor',
];

/** The catalogue has no definition of these: they are sums of the trades' own fields. */
const SUMS: Readonly<Record<string, { readonly label: string; readonly unit: MetricUnit }>> = {
  fees: { label: 'Fees paid, quote currency', unit: 'quote' },
  funding: { label: 'Funding received, quote currency', unit: 'quote' },
};

/** Order of the list by a column; the service sorts. */
const SORTED_BY_SERVICE = () => 0;

const SUBMITTED: ListColumn = {
  key: 'created_at',
  title: 'Submitted',
  width: 100,
  sort: SORTED_BY_SERVICE,
  cell: ({ created_at }) => <Age at={created_at} />,
  compared: ({ created_at }) => created_at,
};

const NAME: ListColumn = {
  key: 'name',
  title: 'Backtest',
  width: 290,
  cell: (row) => <NameCell row={row} />,
  compared: () => undefined,
};

const ACTIONS: ListColumn = {
  key: 'actions',
  title: 'Actions',
  width: 118,
  cell: (row) => <RowActions row={row} />,
  compared: () => undefined,
};

function metricColumn([key, title, sign]: (typeof METRICS)[number]): ListColumn {
  const { label, unit } = metrics.definitions[key] ?? SUMS[key]!;
  const numberOf = ({ result }: Row): number | null | undefined => result?.[key];
  return {
    key,
    title,
    label,
    width: Math.max(NOTED.includes(key) ? 132 : 72, title.length * 7 + 30),
    isNumber: true,
    sort: SORTED_BY_SERVICE,
    cell: ({ result, look_ahead }) =>
      result ? (
        <Figure state={look_ahead}>{resultText(result, key, unit, sign ? signed : value)}</Figure>
      ) : (
        NO_VALUE
      ),
    compared: numberOf,
    ...(sign ? { tone: (row: Row) => tone(numberOf(row)) } : {}),
  };
}

const FACTS: readonly ListColumn[] = [
  {
    key: 'deflation',
    title: 'Deflated',
    label: 'Deflated Sharpe ratio, by the trials of now',
    width: 96,
    isNumber: true,
    cell: ({ deflation, look_ahead }) =>
      deflation && (
        <Figure state={look_ahead}>
          <DeflationCell deflation={deflation} />
        </Figure>
      ),
    compared: ({ deflation }) => deflation?.deflated_sharpe_ratio,
  },
  {
    key: 'equity',
    title: 'Equity',
    label: 'Curve of the equity; progress while the run is under way',
    width: 118,
    cell: (row) => <EquityCell row={row} />,
    compared: ({ sparkline }) => sparkline?.join(),
  },
  {
    key: 'market',
    title: 'Pairs',
    width: 150,
    cell: ({ pairs }) => <span title={pairs.join(', ')}>{pairsText(pairs)}</span>,
    compared: ({ pairs }) => pairs.join(),
  },
  {
    key: 'timeframe',
    title: 'Timeframe',
    width: 90,
    cell: ({ timeframe }) => timeframe,
    compared: ({ timeframe }) => timeframe,
  },
  {
    key: 'range',
    title: 'Range, UTC',
    width: 184,
    cell: ({ date_range: { start, end } }) => `${utcDate(start)} – ${utcDate(end)}`,
    compared: ({ date_range: { start, end } }) => `${start} ${end}`,
  },
  {
    key: 'exchange',
    title: 'Exchange',
    width: 92,
    cell: ({ exchange }) => <Exchange name={exchange} />,
    compared: ({ exchange }) => exchange,
  },
  {
    key: 'look_ahead',
    title: 'Look-ahead',
    label: 'Result of the look-ahead bias check',
    width: 140,
    cell: ({ look_ahead }) => <LookAheadWord state={look_ahead} />,
    compared: ({ look_ahead }) => look_ahead ?? undefined,
  },
  {
    key: 'experiment',
    title: 'Experiment',
    width: 140,
    cell: ({ experiment_name }) =>
      experiment_name === null ? (
        NO_VALUE
      ) : (
        <Link
          from="/backtests"
          to="/backtests"
          search={({ cursor: _, ...before }) => ({ ...before, experiment: experiment_name })}
        >
          {experiment_name}
        </Link>
      ),
    compared: ({ experiment_name }) => experiment_name ?? undefined,
  },
  {
    key: 'tags',
    title: 'Tags',
    width: 140,
    cell: ({ tags }) => (
      <span className="backtest-tags">
        {tags.map((tag) => (
          <span key={tag} className="badge">
            {tag}
          </span>
        ))}
      </span>
    ),
    compared: ({ tags }) => tags.join(),
  },
  {
    key: 'notes',
    title: 'Note',
    width: 180,
    cell: ({ notes }) => <span title={notes}>{notes}</span>,
    compared: ({ notes }) => notes,
  },
  {
    key: 'run_time',
    title: 'Run time',
    width: 92,
    isNumber: true,
    cell: (row) => duration(secondsOf(row)),
    compared: secondsOf,
  },
  {
    key: 'id',
    title: 'ID',
    width: 250,
    cell: ({ job_id }) => <code>{job_id}</code>,
    compared: ({ job_id }) => job_id,
  },
];

/** Columns that a user may show. Time of submission, name and actions are always there. */
export const COLUMNS: readonly ListColumn[] = [...METRICS.map(metricColumn), ...FACTS];
export const COLUMN_KEYS = COLUMNS.map(({ key }) => key);
export const DEFAULT_COLUMNS: readonly string[] = [
  'total_profit_pct',
  'max_drawdown_pct',
  'equity',
  'sharpe_ratio',
  'deflation',
  'total_trades',
  'win_rate',
  'profit_factor',
  'market',
  'timeframe',
  'range',
  'exchange',
  'look_ahead',
  'tags',
];

export const SORTS: readonly Sort[] = ['created_at', ...METRICS.map(([metric]) => metric)];

/** Columns of the table: the shown ones, without those that are equal in all rows if only varying ones are wanted. */
export function tableColumns(
  shown: readonly string[],
  rows: readonly Row[],
  onlyVarying: boolean,
): { readonly columns: readonly ListColumn[]; readonly equal: readonly ListColumn[] } {
  const chosen = shown.flatMap((key) => COLUMNS.find((each) => each.key === key) ?? []);
  const equal = onlyVarying && rows.length > 1 ? chosen.filter((column) => !varies(column, rows)) : [];
  const columns = [SUBMITTED, NAME, ...chosen.filter((column) => !equal.includes(column)), ACTIONS];
  return { columns, equal };
}

function varies({ compared }: ListColumn, rows: readonly Row[]): boolean {
  return new Set(rows.map(compared).filter((each) => each !== undefined)).size > 1;
}

function DeflationCell({ deflation }: { readonly deflation: NonNullable<Row['deflation']> }) {
  const { deflated_sharpe_ratio: ratio, reason } = deflation;
  const title = `By ${trialsOfScope(deflation)}${reason === null ? '' : `. Undefined: ${reason}`}`;
  return <span title={title}>{value(ratio, 'probability')}</span>;
}

/** `BTC/USDT, ETH/USDT +3`. */
function pairsText(pairs: readonly string[]): string {
  const names = pairs.slice(0, 1).map((pair) => pair.split(':', 1)[0]);
  return `${names.join(', ')}${pairs.length > 1 ? ` +${pairs.length - 1}` : ''}`;
}

function secondsOf({ started_at, finished_at }: Row): number | undefined {
  if (started_at === null || finished_at === null) return undefined;
  return (Date.parse(finished_at) - Date.parse(started_at)) / 1_000;
}

function EquityCell({ row }: { readonly row: Row }) {
  const { status, sparkline, progress } = row;
  if (status === 'running' || status === 'pending') {
    const value = status === 'running' && progress !== null ? progress : undefined;
    return (
      <span className="backtest-progress">
        <Progress value={value ?? 0} label={`Progress of ${row.strategy}`} />
        <span className="faint">{value === undefined ? '' : `${decimal(value * 100, 0)} %`}</span>
      </span>
    );
  }
  const [first, last] = [sparkline?.[0], sparkline?.at(-1)];
  return (
    <Sparkline
      values={sparkline}
      summary={`Equity from ${value(first, 'quote')} to ${value(last, 'quote')}`}
    />
  );
}
