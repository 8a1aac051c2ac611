import type * as z from 'zod';
import type { ReportModels } from '#contract/backtests/report-models.ts';
import { ACCOUNT_DEFAULTS } from '#contract/values/account-limits.ts';
import { OVERFITTING_BOUNDS } from '#contract/values/backtest-limits.ts';
import { currencyOf } from '#contract/values/currency.ts';
import { type DeflatedRatio, lowestDeflation, trialsOfScope } from '#contract/values/deflated-ratio.ts';
import { foldWarnings } from '#contract/values/fold-warnings.ts';
import type { MetricName } from '#contract/values/metric-labels.ts';
import { metricNote } from '#contract/values/undefined-metrics.ts';
import {
  amount,
  chart,
  duration,
  figure,
  lineWidth,
  lookAheadText,
  metricText,
  minute,
  moneyDigits,
  number,
  percent,
  table,
  wrap,
} from '../output.ts';
import type { Job, Report, Results } from './load-results.ts';
import { robustnessText } from './robustness-text.ts';
import { universeText } from './universe-text.ts';

/** Characters of a column of assumptions. */
const ASSUMPTION_WIDTH = 40;

/** The whole report of a completed backtest, for a terminal. */
export function reportText({ job, report, equity }: Results): string {
  const digits = moneyDigits(job.config.dry_run_wallet);
  const days = chart(equity.equity, equity.dates, digits);
  const { per_pair, per_exit_reason, per_enter_tag, per_group } = report.tables;
  return [
    ...warningLines(job),
    `${report.strategy.name} on ${candlesText(job)}`,
    wrap(`Settings: ${settingsText(job)}`, lineWidth()),
    metricTable({ job, report, equity }),
    ...(report.assumptions ? [assumptionsText(report.assumptions, digits)] : []),
    ...(job.trials ? [wrap(trialsText(job.trials), lineWidth())] : []),
    ...(job.look_ahead ? [lookAheadLine(job.look_ahead)] : []),
    ...(job.look_ahead?.findings ?? []).map((finding) => `  ${finding}`),
    groupTable('Pair', per_pair, digits),
    groupTable('Exit reason', per_exit_reason, digits),
    // A table of one tag repeats the totals.
    ...(per_enter_tag.length > 2 ? [groupTable('Enter tag', per_enter_tag, digits)] : []),
    ...(per_group ? [groupTable('Group', per_group, digits)] : []),
    ...(report.locks ? [wrap(locksText(report.locks), lineWidth())] : []),
    ...tiersLines(report.data),
    ...(report.informative ? [informativeTable(report.informative)] : []),
    ...(report.universe ? [universeText(report.universe)] : []),
    ...(report.models ? [modelsText(report.models)] : []),
    ...(report.robustness ? [robustnessText(report.robustness, currencyOf(job.config.pairs))] : []),
    ...(days ? [`Equity at the end of each day\n${days}`] : []),
    'Assumptions that bias the result:',
    ...report.biases.map(({ effect, text }) => indented(effect.padEnd(13), text)),
    ...sourceLines(job, report),
  ].join('\n');
}

/** What each assumption of the run earned: the first thing to read in a result that looks good. */
function assumptionsText({ assumptions, costs }: NonNullable<Report['assumptions']>, digits: number): string {
  const rows = assumptions.map(({ text, without, trades, amount, amount_pct, reason }) => [
    wrap(text, ASSUMPTION_WIDTH),
    wrap(reason ?? without, ASSUMPTION_WIDTH),
    number(trades, 0),
    number(amount, digits),
    percent(amount_pct),
  ]);
  const steps = costs.map(
    ({ basis_points, amount, amount_pct }) =>
      `${basis_points} bp costs ${number(amount, digits)} (${percent(amount_pct)})`,
  );
  return [
    table(['What each assumption earned', 'Compared with', 'Trades', 'Earned', 'of wallet'], rows),
    wrap(
      `A fee or slippage on the traded value that is higher by ${steps.join(', ')}. Amounts are first-order effects and do not add up.`,
      lineWidth(),
    ),
  ].join('\n');
}

type Trials = NonNullable<Job['trials']>;

/** Trials of the owner that counted when the run completed, and the Sharpe ratio deflated by them. */
function trialsText(trials: Trials): string {
  const { owner, strategy, session } = trials;
  const parts = [
    `${number(strategy, 0)} of this strategy`,
    ...(session === null ? [] : [`${number(session, 0)} of this session`]),
  ];
  const deflated = deflatedText(lowestDeflation(trials));
  return `Trial ${number(owner, 0)} on overlapping assets and dates (${parts.join(', ')}): deflated Sharpe ratio ${deflated}`;
}

/** A deflated ratio with its scope and its bounds, or why it is undefined. */
export function deflatedText(lowest: DeflatedRatio): string {
  const { good, bad } = OVERFITTING_BOUNDS.deflated_sharpe_ratio;
  const { deflated_sharpe_ratio: ratio, reason } = lowest;
  if (ratio === null) return `undefined: ${reason}`;
  return `${number(ratio, 3)} by the ${trialsOfScope(lowest)} (good above ${good}, bad below ${bad})`;
}

/** Candles that the signals read in addition to those that were traded. */
function informativeTable(series: NonNullable<Report['informative']>): string {
  return table(
    ['Read in addition', 'Timeframe', 'Candles', 'First (UTC)', 'Origin'],
    series.map(({ pair, timeframe, candles, first, origin, source_timeframe }) => [
      pair,
      timeframe,
      number(candles, 0),
      minute(first),
      origin === 'stored' ? 'stored' : `computed from ${source_timeframe}`,
    ]),
  );
}

/** Leverage tiers that were applied to each pair, and where they are from. */
export function tiersLines(data: Report['data']): string[] {
  const tiers = data.flatMap(({ pair, leverage_tiers: own }) =>
    own ? [`${pair} ${own.count} (${own.source})`] : [],
  );
  return tiers.length > 0 ? [wrap(`Leverage tiers: ${tiers.join(', ')}`, lineWidth())] : [];
}

/** Number of the locks by protections, and of each reason among the newest. */
export function locksText({ total, newest }: NonNullable<Report['locks']>): string {
  const methods = newest.map(({ reason }) => reason.split(':')[0]!);
  const counts = [...new Set(methods)].map(
    (method) => `${method} ${methods.filter((each) => each === method).length}`,
  );
  const isPart = newest.length < total;
  const of = isPart ? [`of the newest ${number(newest.length, 0)} ${counts.join(', ')}`] : counts;
  return `Locks by protections: ${[number(total, 0), ...of].join(', ')}`;
}

export function warningLines(job: Pick<Job, 'status' | 'collection' | 'warnings'>): string[] {
  const failed = job.status !== 'completed' && job.collection?.status === 'failed';
  return [
    ...foldWarnings(job.warnings).map((warning) => `Warning: ${warning}`),
    ...(failed ? [`Warning: Market data collection failed: ${job.collection?.message}`] : []),
  ];
}

function indented(label: string, text: string): string {
  return wrap(text, lineWidth() - label.length - 2)
    .split('\n')
    .map((line, index) => `  ${index === 0 ? label : ' '.repeat(label.length)}${line}`)
    .join('\n');
}

export function candlesText({ config }: Job): string {
  const { pairs, exchange, trading_mode, timeframe, date_range } = config;
  const simulated = exchange === 'sim' ? ' (simulated candles)' : '';
  return `${pairs.join(', ')} on ${exchange}${simulated}${trading_mode ? `, ${trading_mode}` : ''}, ${timeframe}, ${minute(date_range.start)} to ${minute(date_range.end)} UTC`;
}

function settingsText({ config }: Job): string {
  const parameters = Object.entries(config.params).map(([name, value]) => `${name}=${value}`);
  return [
    `stake ${config.stake_amount} of ${amount(config.dry_run_wallet)}`,
    `max ${config.max_open_trades} open`,
    `fee ${config.fee}`,
    `slippage ${config.slippage}`,
    ...(config.slippage_model
      ? Object.entries(config.slippage_model).map(([name, value]) => `${name} ${value}`)
      : []),
    `leverage ${config.leverage}`,
    ...(config.universe ? [universeSettings(config.universe)] : []),
    ...accountTexts(config),
    `stoploss ${config.stoploss}`,
    ...(config.protections
      ? [`protections ${config.protections.map(({ method }) => method).join(' ')}`]
      : []),
    ...(config.timeframe_detail ? [`detail ${config.timeframe_detail}`] : []),
    ...(config.signals ? [`signals ${config.signals} (sha256 ${config.signals_digest?.slice(0, 12)})`] : []),
    `fill model ${config.fill_model}`,
    `precision ${config.precision}`,
    ...parameters,
  ].join(', ');
}

function universeSettings({
  n,
  lookback_days,
  rebalance,
  min_age_days,
  delisting_haircut,
}: NonNullable<Job['config']['universe']>) {
  const age = min_age_days > 0 ? `, ${min_age_days} days old` : '';
  return `universe of ${n} by volume of ${lookback_days} days, ${rebalance}${age}, delisting haircut ${delisting_haircut}`;
}

/** Options of the account that are not at their defaults. */
function accountTexts(config: Job['config']): string[] {
  const { order_types: types, unfilled_timeout: timeout, ignore_entry_after_candles: candles } = config;
  const shown = {
    'tradable ratio': config.tradable_balance_ratio,
    capital: config.available_capital,
    'last stake from': config.amend_last_stake_amount
      ? (config.last_stake_amount_min_ratio ?? ACCOUNT_DEFAULTS.last_stake_amount_min_ratio)
      : undefined,
    orders: types && `${types.entry}/${types.exit}`,
    timeout: timeout && `${timeout.entry}/${timeout.exit} min`,
    additions: config.max_adjustments === null ? 'without limit' : config.max_adjustments,
    stacking: config.position_stacking && 'on',
    margin: config.margin_mode,
    'entries within': candles && `${candles} detail candles`,
  };
  return Object.entries(shown).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]));
}

/** `Look-ahead bias: found: …`, with a red word for a found one. */
function lookAheadLine({ state, message }: NonNullable<Job['look_ahead']>): string {
  const begin = `${state}: `;
  const text = message.startsWith(begin) ? message.slice(begin.length) : message;
  return `Look-ahead bias: ${lookAheadText(state)}: ${text}`;
}

function metricTable({ job, report }: Results): string {
  const { account, equity, closed_trades: trades, activity } = report.metrics;
  const { fill_model, costs } = report;
  const money = (value: number | null) => number(value, moneyDigits(job.config.dry_run_wallet));
  const known = { ...job.result, undefined_metrics: report.undefined_metrics, short_run: report.short_run };
  /** Value of a metric of the report, or why it has none. */
  const shown = (name: MetricName, value: number | null, format: (value: number) => string = number) =>
    metricText(name, value === null ? null : format(value), metricNote(known, name));
  const rows = [
    ['Total profit', money(account.total_profit)],
    ['Total profit %', percent(account.total_profit_pct)],
    ['Market change %', percent(account.market_change_pct)],
    ['CAGR %', shown('cagr_pct', account.cagr_pct, percent)],
    [
      'Trades (won / drawn / lost)',
      `${trades.total_trades} (${trades.winning_trades} / ${trades.draws} / ${trades.losing_trades})`,
    ],
    ['Win rate', shown('win_rate', trades.win_rate, percent)],
    ['Profit factor', shown('profit_factor', trades.profit_factor)],
    ['Expectancy per trade', shown('expectancy', trades.expectancy, money)],
    ['Sharpe ratio (daily equity)', shown('sharpe_ratio', equity.sharpe_ratio)],
    ['Sortino ratio (daily equity)', shown('sortino_ratio', equity.sortino_ratio)],
    ['Calmar ratio (daily equity)', shown('calmar_ratio', equity.calmar_ratio)],
    ['System quality number', shown('sqn', trades.sqn)],
    ['Max drawdown (daily equity)', percent(equity.max_drawdown_pct)],
    ['Longest drawdown', `${equity.longest_drawdown_days} days`],
    ['Exposure', percent(activity.exposure_pct)],
    ['Fees, slippage, funding', money(costs.total.amount)],
    ...(report.slippage ? slippageRows(report.slippage, money) : []),
    ...fillModelRows(fill_model),
  ] as const;
  const state = job.look_ahead?.state;
  return table(
    ['Metric', 'Value'],
    rows.map(([name = '', value = '']) => [name, figure(state, value)]),
  );
}

/** The same run under the other fill model. Reports of engines before 2.0.0 have its profit only. */
export function fillModelRows({
  alternative,
  alternative_total_profit_pct,
  differing_trades,
  shifted_trades,
  unmatched_trades,
  freed_later_entries,
  freed_later_profit_pct,
}: Report['fill_model']): string[][] {
  const profit = [`Profit with fill model ${alternative}`, percent(alternative_total_profit_pct)];
  if (shifted_trades === undefined || freed_later_entries === undefined) return [profit];
  return [
    profit,
    [
      'Trades with another exit / shifted / unmatched',
      `${differing_trades} / ${shifted_trades} / ${unmatched_trades}`,
    ],
    [
      'Entries on what is freed later in the candle',
      freed_later_entries === 0
        ? '0'
        : `${freed_later_entries}, which earned ${percent(freed_later_profit_pct!)}`,
    ],
  ];
}

/** What the slippage model estimated and limited. */
function slippageRows(
  { large_trades_pct, pairs }: NonNullable<Report['slippage']>,
  money: (value: number) => string,
): string[][] {
  const sum = (name: 'capped_entries' | 'dropped_value' | 'capped_exits') =>
    pairs.reduce((total, pair) => total + pair[name], 0);
  const spreads = pairs.flatMap(({ mean_spread_pct }) => mean_spread_pct ?? []);
  return [
    ...(spreads.length > 0
      ? [
          [
            'Mean estimated spread',
            `${Math.min(...spreads).toFixed(4)} to ${Math.max(...spreads).toFixed(4)} %`,
          ],
        ]
      : []),
    ['Trades above 1 % of the volume', percent(large_trades_pct)],
    ['Reduced entries, delayed exits', `${sum('capped_entries')}, ${sum('capped_exits')}`],
    ['Value of reduced entries not filled', money(sum('dropped_value'))],
  ];
}

type Row = Report['tables']['per_pair'][number];

function groupTable(name: string, rows: readonly Row[], digits: number): string {
  return table(
    [name, 'Trades', 'Profit', 'Profit %', 'Win rate', 'Expectancy'],
    rows.map((row) => [
      row.key,
      number(row.total_trades, 0),
      number(row.total_profit, digits),
      percent(row.total_profit_pct),
      percent(row.win_rate),
      number(row.expectancy, digits),
    ]),
  );
}

/** Inputs of the run, by which it can be repeated, and its durations. */
function sourceLines(job: Job, { provenance }: Report): string[] {
  const { engine_version, data_digest, strategy_digest, digest } = provenance;
  const short = (text: string) => text.slice(0, 12);
  return [
    `Engine ${engine_version}, candles ${short(data_digest)}, strategy ${short(strategy_digest)}, run ${short(digest)}`,
    ...(job.timing
      ? [`${number(job.timing.candles, 0)} candles in ${duration(job.timing.total_ms)}`, durationsText(job)]
      : []),
  ];
}

/** `Lane fast: 12 ms in the queue, 1.2 s to start, 0.8 s to run`. */
function durationsText({ lane, durations }: Job): string {
  const { queue_ms, start_ms, run_ms } = durations;
  return `Lane ${lane}: ${duration(queue_ms ?? 0)} in the queue, ${duration(start_ms ?? 0)} to start, ${duration(run_ms ?? 0)} to run`;
}

export type Models = z.infer<typeof ReportModels>;
type Quality = Models['quality'];

const FEATURES_SHOWN = 5;

/** Out-of-sample quality of the ML models by pair, and their most used features. */
export function modelsText(models: Models): string {
  const { windows, quality, importances, model_kind, features, horizon, trained } = models;
  const pairs = [...new Set(windows.map(({ pair }) => pair))];
  const rows = pairs.map((pair) => {
    const own = windows.filter((window) => window.pair === pair && window.skipped === null);
    return [pair, own.length, ...qualityCells(meanQuality(own.map((window) => window.quality)))];
  });
  const most = importances
    .slice(0, FEATURES_SHOWN)
    .map(({ feature, gain }) => `${feature} ${number(gain * 100, 0)} %`);
  return [
    `ML models out of sample: ${model_kind}, ${features} features, labels known after ${horizon} candles`,
    table(
      ['Pair (mean over windows)', 'Models', 'AUC', 'Log loss', 'Base rate', 'Brier', 'Predictions'],
      [...rows, ['All predictions', trained, ...qualityCells(quality)]],
    ),
    `Most used: ${most.join(', ')}`,
  ].join('\n');
}

type Scores = Pick<Quality, 'auc' | 'log_loss' | 'base_log_loss' | 'brier' | 'rows'>;

function qualityCells({ auc, log_loss, base_log_loss, brier, rows }: Scores): string[] {
  return [...[auc, log_loss, base_log_loss, brier].map((value) => number(value, 3)), number(rows, 0)];
}

/** Mean over windows, weighted by predictions; a window with an undefined metric is left out of that metric. */
function meanQuality(windows: readonly Quality[]): Scores {
  const mean = (name: 'auc' | 'log_loss' | 'base_log_loss' | 'brier') => {
    const known = windows.filter((window) => window[name] !== null);
    const rows = known.reduce((sum, window) => sum + window.rows, 0);
    return rows > 0 ? known.reduce((sum, window) => sum + window[name]! * window.rows, 0) / rows : null;
  };
  return {
    rows: windows.reduce((sum, window) => sum + window.rows, 0),
    auc: mean('auc'),
    log_loss: mean('log_loss'),
    base_log_loss: mean('base_log_loss'),
    brier: mean('brier'),
  };
}
