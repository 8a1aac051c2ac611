import type { UndefinedMetrics } from '#contract/values/undefined-metrics.ts';
import { resultText, signed, tone, value } from './format.ts';
import { Exchange, LookAheadWord } from './job-list.tsx';
import { Figure, type LookAheadState } from './parts.tsx';
import type { Column } from './table.tsx';

/** A row with the metrics of a version's backtest. */
interface Measured {
  readonly look_ahead: LookAheadState;
  readonly exchange: string;
  readonly metrics: {
    readonly total_profit_pct: number;
    readonly max_drawdown_pct: number;
    readonly sharpe_ratio: number;
    readonly profit_factor: number;
    readonly total_trades: number;
    readonly undefined_metrics?: UndefinedMetrics | undefined;
    readonly [metric: string]: unknown;
  };
}

/** Profit, drawdown and Sharpe ratio of a version, its exchange and its look-ahead check, as every table of versions shows them. */
export const VERSION_COLUMNS: readonly Column<Measured>[] = [
  {
    key: 'profit',
    title: 'Profit %',
    isNumber: true,
    tone: ({ metrics }) => tone(metrics.total_profit_pct),
    cell: ({ metrics, look_ahead }) => (
      <Figure state={look_ahead}>{signed(metrics.total_profit_pct, 'percent')}</Figure>
    ),
  },
  {
    key: 'drawdown',
    title: 'Drawdown %',
    isNumber: true,
    cell: ({ metrics, look_ahead }) => (
      <Figure state={look_ahead}>{value(metrics.max_drawdown_pct, 'percent')}</Figure>
    ),
  },
  {
    key: 'sharpe',
    title: 'Sharpe',
    isNumber: true,
    cell: ({ metrics, look_ahead }) => (
      <Figure state={look_ahead}>{resultText(metrics, 'sharpe_ratio', 'ratio')}</Figure>
    ),
  },
  { key: 'exchange', title: 'Exchange', cell: ({ exchange }) => <Exchange name={exchange} /> },
  {
    key: 'look_ahead',
    title: 'Look-ahead',
    cell: ({ look_ahead }) => <LookAheadWord state={look_ahead} />,
  },
];

/** The same with what the pages of strategies add. */
export const ALL_VERSION_COLUMNS: readonly Column<Measured>[] = [
  ...VERSION_COLUMNS,
  {
    key: 'factor',
    title: 'Profit factor',
    isNumber: true,
    cell: ({ metrics, look_ahead }) => (
      <Figure state={look_ahead}>{resultText(metrics, 'profit_factor', 'ratio')}</Figure>
    ),
  },
  {
    key: 'trades',
    title: 'Trades',
    isNumber: true,
    cell: ({ metrics, look_ahead }) => (
      <Figure state={look_ahead}>{value(metrics.total_trades, 'count')}</Figure>
    ),
  },
];
