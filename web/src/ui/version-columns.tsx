import type { UndefinedMetrics } from '#contract/values/undefined-metrics.ts';
import { resultText, signed, tone, value } from './format.ts';
import type { Column } from './table.tsx';

/** A row with the metrics of a version's backtest. */
interface Measured {
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

/** Profit, drawdown and Sharpe ratio of a version, as every table of versions shows them. */
export const VERSION_COLUMNS: readonly Column<Measured>[] = [
  {
    key: 'profit',
    title: 'Profit %',
    isNumber: true,
    tone: ({ metrics }) => tone(metrics.total_profit_pct),
    cell: ({ metrics }) => signed(metrics.total_profit_pct, 'percent'),
  },
  {
    key: 'drawdown',
    title: 'Drawdown %',
    isNumber: true,
    cell: ({ metrics }) => value(metrics.max_drawdown_pct, 'percent'),
  },
  {
    key: 'sharpe',
    title: 'Sharpe',
    isNumber: true,
    cell: ({ metrics }) => resultText(metrics, 'sharpe_ratio', 'ratio'),
  },
];

/** The same with what the pages of strategies add. */
export const ALL_VERSION_COLUMNS: readonly Column<Measured>[] = [
  ...VERSION_COLUMNS,
  {
    key: 'factor',
    title: 'Profit factor',
    isNumber: true,
    cell: ({ metrics }) => resultText(metrics, 'profit_factor', 'ratio'),
  },
  {
    key: 'trades',
    title: 'Trades',
    isNumber: true,
    cell: ({ metrics }) => value(metrics.total_trades, 'count'),
  },
];
