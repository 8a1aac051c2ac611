import type { LookAheadState } from '#contract/config/look-ahead.ts';
import { METRIC_LABELS, type MetricName, type MetricUnit } from '#contract/values/metric-labels.ts';
import { metricNote } from '#contract/values/undefined-metrics.ts';
import {
  chart,
  figure,
  lineWidth,
  lookAheadText,
  metricText,
  moneyDigits,
  number,
  table,
  wrap,
} from '../output.ts';
import type { Results } from './load-results.ts';

/** Comparison of two completed backtests: settings, inputs, metrics, equity. */

interface Sides<T> {
  readonly a: T;
  readonly b: T;
}

interface Difference {
  readonly name: string;
  readonly a: unknown;
  readonly b: unknown;
}

export interface Comparison {
  readonly a: string;
  readonly b: string;
  /** Exchange and look-ahead check of each. */
  readonly exchange: Sides<string>;
  readonly look_ahead: Sides<LookAheadState>;
  /** Settings that differ, by their path. */
  readonly settings: readonly Difference[];
  /** Inputs that differ: candles, source of the strategy, engine. */
  readonly inputs: readonly Difference[];
  readonly metrics: readonly {
    readonly name: MetricName;
    readonly label: string;
    readonly a: number | null;
    readonly b: number | null;
    /** Why a value is undefined, or that it extrapolates a short run; null for nothing. */
    readonly a_note: string | null;
    readonly b_note: string | null;
    /** `b - a`; null when a metric is undefined. */
    readonly change: number | null;
    /** Decimals that a table shows. */
    readonly digits: number;
  }[];
  /** Common days, and the equity of each run at their end, in percent of its starting wallet. */
  readonly equity: {
    readonly dates: readonly string[];
    readonly a: readonly number[];
    readonly b: readonly number[];
  };
}

const COMPARED: readonly MetricName[] = [
  'total_profit_pct',
  'market_change_pct',
  'cagr_pct',
  'total_trades',
  'win_rate',
  'profit_factor',
  'expectancy',
  'profit_mean_pct',
  'sharpe_ratio',
  'sortino_ratio',
  'calmar_ratio',
  'sqn',
  'max_drawdown_pct',
  'longest_drawdown_days',
  'exposure_pct',
];

export function compareResults(a: Results, b: Results): Comparison {
  const valuesOf = ({ report }: Results): Readonly<Record<string, number | null>> =>
    Object.assign({}, ...Object.values(report.metrics));
  const [before, after] = [valuesOf(a), valuesOf(b)];
  const wallet = Math.min(a.job.config.dry_run_wallet, b.job.config.dry_run_wallet);
  return {
    a: a.job.job_id,
    b: b.job.job_id,
    exchange: { a: a.job.config.exchange, b: b.job.config.exchange },
    look_ahead: { a: a.report.look_ahead.state, b: b.report.look_ahead.state },
    settings: differences(settingsOf(a), settingsOf(b)),
    inputs: differences(inputsOf(a), inputsOf(b)),
    metrics: COMPARED.map((name) => {
      const [x, y] = [before[name] ?? null, after[name] ?? null];
      const [label, unit] = METRIC_LABELS[name];
      return {
        name,
        label,
        a: x,
        b: y,
        a_note: metricNote(resultOf(a), name),
        b_note: metricNote(resultOf(b), name),
        change: x === null || y === null ? null : y - x,
        digits: digitsOf(unit, wallet),
      };
    }),
    equity: commonDays(a, b),
  };
}

/** What is known of the metrics of a run; its report has all reasons. */
const resultOf = ({ job, report: { undefined_metrics, short_run } }: Results) => ({
  ...job.result,
  undefined_metrics,
  short_run,
});

/** Settings that affect the result: not how candles are collected. */
function settingsOf({ job }: Results) {
  const { collect: _, ...settings } = job.config;
  return settings;
}

function inputsOf({ report: { provenance } }: Results) {
  const { data_digest, strategy_digest, engine_version } = provenance;
  return { candles: data_digest, strategy_source: strategy_digest, engine: engine_version };
}

/** Values that differ, by path. */
function differences(a: unknown, b: unknown, path = ''): Difference[] {
  if (JSON.stringify(a) === JSON.stringify(b)) return [];
  if (!isRecord(a) || !isRecord(b)) return [{ name: path, a: a ?? null, b: b ?? null }];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) =>
    differences(a[key], b[key], path ? `${path}.${key}` : key),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function commonDays(a: Results, b: Results): Comparison['equity'] {
  const growth = ({ equity, job }: Results) =>
    new Map(equity.dates.map((date, day) => [date, (100 * equity.equity[day]!) / job.config.dry_run_wallet]));
  const [first, second] = [growth(a), growth(b)];
  const dates = [...first.keys()].filter((date) => second.has(date));
  return { dates, a: dates.map((date) => first.get(date)!), b: dates.map((date) => second.get(date)!) };
}

/** Decimals of values of a unit, in runs with a wallet of this size. */
function digitsOf(unit: MetricUnit, wallet: number): number {
  if (unit === 'quote') return moneyDigits(wallet);
  return unit === 'count' || unit === 'days' ? 0 : 2;
}

export function comparisonText(first: Results, second: Results): string {
  const comparison = compareResults(first, second);
  const { a, b, exchange, look_ahead, settings, inputs, metrics, equity } = comparison;
  const curve = chart(
    equity.dates.map((_, day) => equity.b[day]! - equity.a[day]!),
    equity.dates,
  );
  return [
    `a: ${a}, ${first.report.strategy.name} on ${exchange.a}, look-ahead ${lookAheadText(look_ahead.a)}`,
    `b: ${b}, ${second.report.strategy.name} on ${exchange.b}, look-ahead ${lookAheadText(look_ahead.b)}`,
    ...(settings.length > 0
      ? [
          table(
            ['Setting', 'a', 'b'],
            settings.map(({ name, ...each }) => [name, cell(each.a), cell(each.b)]),
          ),
        ]
      : ['Settings: equal']),
    table(
      ['Metric', 'a', 'b', 'b - a'],
      metrics.map((each) => [each.label, ...valueTexts(each, look_ahead), changeText(each)]),
    ),
    inputsText(inputs),
    ...(curve
      ? [`Equity of b minus a at the end of each day, percentage points of the starting wallet\n${curve}`]
      : ['Equity: the runs have no two days in common']),
  ].join('\n');
}

/** Both values of a metric, each with what there is to say of it; those of a run with a found leak struck through. */
export function valueTexts(
  metric: Comparison['metrics'][number],
  found: Partial<Comparison['look_ahead']> = {},
): [a: string, b: string] {
  const { name, a, b, a_note, b_note, digits } = metric;
  return [
    figure(found.a, metricText(name, a === null ? null : number(a, digits), a_note)),
    figure(found.b, metricText(name, b === null ? null : number(b, digits), b_note)),
  ];
}

/** The change of a metric, with its sign. */
export function changeText({ change, digits }: Comparison['metrics'][number]): string {
  return `${change !== null && change > 0 ? '+' : ''}${number(change, digits)}`;
}

function cell(value: unknown): string {
  return wrap(typeof value === 'string' ? value : JSON.stringify(value), 40);
}

function inputsText(inputs: readonly Difference[]): string {
  if (inputs.length === 0) return 'Inputs: same candles, strategy source and engine';
  const short = (value: unknown) => String(value).slice(0, 12);
  return wrap(
    `Different inputs: ${inputs.map(({ name, a, b }) => `${name.replace('_', ' ')} ${short(a)} and ${short(b)}`).join('; ')}`,
    lineWidth(),
  );
}
