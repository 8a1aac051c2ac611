import * as z from 'zod';
import { LookAhead } from '../config/look-ahead.ts';
import { SlippageModel } from '../config/slippage-model.ts';
import { EXIT_RULES } from '../config/strategy.ts';
import { MARGIN_MODES } from '../values/account-limits.ts';
import { FILL_MODELS } from '../values/backtest-limits.ts';
import { REPORTED_LOCKS } from '../values/protection-limits.ts';
import { ALL_TIMEFRAMES } from '../values/timeframes.ts';
import { BacktestResult, JobTiming, ResolvedBacktestConfig, UndefinedMetrics } from './backtest.ts';
import { ReportInformative } from './report-informative.ts';
import { Metrics, PeriodRow, TableRow } from './report-metrics.ts';
import { ReportModels } from './report-models.ts';
import { ReportRobustness } from './report-robustness.ts';
import { ReportUniverse } from './report-universe.ts';

/** The report of a completed backtest and its trades, as the task stores them. */

const timestamp = z.string().meta({ format: 'date-time', description: 'ISO 8601, UTC' });
const date = z.string().meta({ format: 'date', description: 'YYYY-MM-DD, UTC' });
const digest = z.string().meta({ description: 'sha-256, hex' });
const percent = z.number().meta({ 'x-unit': 'percent' });
const quote = z.number().meta({ 'x-unit': 'quote' });

const Order = z
  .object({
    side: z.enum(['entry', 'exit']),
    placed_at: timestamp.meta({ format: 'date-time', description: 'Open time of the candle of the order' }),
    filled_at: timestamp.meta({ format: 'date-time', description: 'Open time of the candle of its fill' }),
    price: quote,
    amount: z.number().meta({ description: 'Base currency' }),
    fee: quote,
    funding: quote.meta({ 'x-unit': 'quote', description: 'Since the fill before it. Positive: received' }),
    tag: z.string().nullable().meta({ description: 'Tag of an entry, reason of an exit' }),
  })
  .meta({ id: 'Order' });
export type Order = z.infer<typeof Order>;

const Lock = z
  .object({
    pair: z.string().nullable().meta({ description: 'null: all pairs' }),
    side: z.enum(['long', 'short']).nullable().meta({ description: 'null: both sides' }),
    from: timestamp.meta({ format: 'date-time', description: 'Open time of the candle of the exit' }),
    until: timestamp.meta({
      format: 'date-time',
      description: 'Open time of the first candle that may have an entry again',
    }),
    reason: z.string(),
  })
  .meta({ id: 'Lock' });

export const Trade = z
  .object({
    id: z.int().meta({ description: '1 for the first trade that was closed' }),
    pair: z.string(),
    side: z.enum(['long', 'short']),
    opened_at: timestamp.meta({
      format: 'date-time',
      description: 'Open time of the candle in which the entry was ordered',
    }),
    closed_at: timestamp.meta({ format: 'date-time', description: 'Open time of the exit candle' }),
    duration_minutes: z.number(),
    entry_price: quote.meta({ 'x-unit': 'quote', description: 'With additions: their average' }),
    exit_price: quote.meta({ 'x-unit': 'quote', description: 'Of the last exit' }),
    amount: z.number().meta({ description: 'Base currency, of the last exit' }),
    stake: quote.meta({ 'x-unit': 'quote', description: 'Collateral before the last exit' }),
    leverage: z.number(),
    enter_tag: z.string().nullable(),
    exit_reason: z.string().meta({
      description:
        'exit_signal (or its tag), stop_loss, trailing_stop_loss, liquidation, roi, delisted, force_exit, partial_exit, or the text of a custom exit',
    }),
    fees: quote.meta({ 'x-unit': 'quote', description: 'Of all orders' }),
    slippage_cost: quote.meta({
      'x-unit': 'quote',
      description: 'Cost relative to the prices without slippage',
    }),
    funding: quote.meta({ 'x-unit': 'quote', description: 'Positive: received' }),
    profit: quote.meta({ 'x-unit': 'quote', description: 'After fees, slippage and funding' }),
    profit_pct: percent.meta({
      'x-unit': 'percent',
      description: 'Percent of the collateral of all entries plus their fees',
    }),
    initial_stop_price: quote,
    stop_price: quote.meta({ 'x-unit': 'quote', description: 'When the trade was closed' }),
    liquidation_price: quote.nullable(),
    lowest_price: quote.meta({ 'x-unit': 'quote', description: 'From the entry to the exit candle' }),
    highest_price: quote.meta({ 'x-unit': 'quote', description: 'From the entry to the exit candle' }),
    left_open: z.boolean().meta({ description: 'Closed only because the data ended' }),
    group: z.string().nullable().meta({ description: 'Enter tag up to its first colon; null without one' }),
    position: z.int().nullable().meta({
      description:
        'Number of the position in the run: trades of a group that overlap in time are one. null without a group',
    }),
    orders: z.array(Order).optional().meta({
      description: 'In the order of filling; absent for a trade of one entry and one exit',
    }),
  })
  .meta({ id: 'Trade' });
export type Trade = z.infer<typeof Trade>;

export const TradesPage = z
  .object({
    items: z.array(Trade).meta({ description: 'In the order of closing, 1,000 a page' }),
    page: z.int(),
    pages: z.int(),
    total: z.int(),
  })
  .meta({ id: 'TradesPage' });
export type TradesPage = z.infer<typeof TradesPage>;

const ReportSettings = ResolvedBacktestConfig.extend({
  first_candle: timestamp.meta({
    format: 'date-time',
    description: 'Open time of the first candle traded on',
  }),
  last_candle: timestamp.meta({ format: 'date-time', description: 'Open time of the last candle' }),
  startup_candles: z.union([z.int(), z.record(z.string(), z.int())]).meta({
    description: 'Startup candles before the start; of a strategy that declares them by timeframe its object',
  }),
  can_short: z.boolean(),
  ...EXIT_RULES,
  unfilled_timeout_minutes: z
    .number()
    .meta({ description: 'Of entries; of exits too where `unfilled_timeout` is absent' }),
  max_adjustments: z
    .int()
    .optional()
    .meta({ description: 'Additions to a position; absent without a maximum' }),
  callbacks: z.array(z.string()).meta({ description: 'Per-candle callbacks that the strategy defines' }),
  tradable_balance_ratio: z.number(),
  margin_mode: z.enum(MARGIN_MODES).optional().meta({ description: 'Absent in spot' }),
  maintenance_margin_rate: z.number().optional().meta({ description: 'Absent in spot' }),
  liquidation_buffer: z.number().optional().meta({ description: 'Absent in spot' }),
}).meta({ id: 'ReportSettings', description: 'All settings that affect the results' });
export type ReportSettings = z.infer<typeof ReportSettings>;

const MetricDefinition = z
  .object({
    label: z.string(),
    unit: z.enum(['percent', 'quote', 'base', 'ratio', 'count', 'minutes', 'days', 'probability']),
    family: z
      .enum([
        'account',
        'equity',
        'closed_trades',
        'activity',
        'trades',
        'costs',
        'periods',
        'drawdowns',
        'counters',
        'fill_model',
        'assumptions',
        'data',
        'models',
        'robustness',
        'slippage',
        'universe',
      ])
      .meta({ description: 'A family of metrics, or another part of the report' }),
    formula: z.string().meta({ description: 'In the symbols of `notation`' }),
  })
  .meta({ id: 'MetricDefinition' });
export type MetricDefinition = z.infer<typeof MetricDefinition>;

const table = z.array(TableRow);
const ReportTables = z
  .object({
    per_pair: table,
    per_enter_tag: table,
    per_exit_reason: table,
    per_enter_tag_and_exit_reason: table,
    per_side: table,
    per_group: table.optional().meta({ description: 'By group of the enter tag; absent without groups' }),
    left_open: table.meta({ description: 'Trades closed only because the data ended, per pair' }),
  })
  .meta({ id: 'ReportTables', description: 'Largest total profit first; the last row is TOTAL' });
export type ReportTables = z.infer<typeof ReportTables>;

const period = z.array(PeriodRow);
const ReportPeriods = z
  .object({
    day: period,
    week: period.meta({ description: 'Key: the Monday on which the week begins' }),
    month: period,
    year: period,
    weekday: period,
  })
  .meta({ id: 'ReportPeriods', description: 'Every period of the run, with or without trades' });
export type ReportPeriods = z.infer<typeof ReportPeriods>;

const ReportDrawdowns = z
  .object({
    daily: z
      .array(
        z.object({
          start: date.meta({
            format: 'date',
            description: "Day of the peak; the run's first day when the peak is the wallet",
          }),
          low: date,
          recovery: date.nullable().meta({ description: 'null: the run ended below the peak' }),
          depth_pct: percent,
          depth_abs: quote,
          duration_days: z.int().meta({ description: 'To the recovery, or to the end of the run' }),
          days_to_low: z.int(),
        }),
      )
      .meta({ description: 'The ten deepest falls of the daily equity; the first is max_drawdown_pct' }),
    candle: z
      .object({
        peak_at: timestamp.nullable().meta({ description: 'null: the wallet at the start' }),
        low_at: timestamp,
        peak_equity: quote,
        low_equity: quote,
        depth_pct: percent,
      })
      .nullable()
      .meta({ description: 'The deepest fall at the close of every candle' }),
  })
  .meta({ id: 'ReportDrawdowns' });
export type ReportDrawdowns = z.infer<typeof ReportDrawdowns>;

const CostRow = z
  .object({
    amount: quote.meta({ 'x-unit': 'quote', description: 'Positive: paid' }),
    pct_of_gross_profit: percent.nullable(),
    pct_of_turnover: percent.nullable(),
  })
  .meta({ id: 'CostRow' });
export type CostRow = z.infer<typeof CostRow>;

const ReportCosts = z
  .object({
    gross_profit: quote.meta({ 'x-unit': 'quote', description: 'Profit before all costs' }),
    turnover: quote,
    fees: CostRow,
    slippage: CostRow,
    funding: CostRow,
    total: CostRow,
  })
  .meta({ id: 'ReportCosts' });
export type ReportCosts = z.infer<typeof ReportCosts>;

const ReportCounters = z
  .object({
    rejected_signals: z.int().meta({ description: 'Entry signals without a free slot' }),
    timed_out_entries: z.int(),
    timed_out_exits: z.int(),
    cancelled_entries: z.int(),
    replaced_entries: z.int(),
    cancelled_exits: z.int().optional().meta({
      description: 'Only of a strategy that adjusts the prices of waiting exits, like `replaced_exits`',
    }),
    replaced_exits: z.int().optional(),
  })
  .meta({ id: 'ReportCounters' });
export type ReportCounters = z.infer<typeof ReportCounters>;

const FillModelComparison = z
  .object({
    used: z.enum(FILL_MODELS),
    alternative: z.enum(FILL_MODELS),
    differing_trades: z.int().meta({
      description:
        'Trades of a pair with the same entry time in both runs, whose exit differs in time, price or reason. Reports of engines before 2.0.0 also count trades that exist in one run only',
    }),
    shifted_trades: z.int().optional().meta({
      description:
        'Trades that both runs have at other times: between two trades with the same entry time, before the first and after the last, the k-th of one run and the k-th of the other. Absent in reports of engines before 2.0.0, like the fields that follow',
    }),
    unmatched_trades: z.int().optional().meta({ description: 'Trades that exist in one run only' }),
    alternative_trades: z.int(),
    alternative_total_profit: quote,
    alternative_total_profit_pct: percent,
    freed_later_entries: z.int().optional().meta({
      description:
        'Trades of the `freqtrade` model whose entry took a slot or money that a later moment of the same candle freed',
    }),
    freed_later_profit: quote.optional().meta({ description: 'What those trades earned' }),
    freed_later_profit_pct: percent.optional(),
  })
  .meta({ id: 'FillModelComparison', description: 'The same run under the other fill model' });
export type FillModelComparison = z.infer<typeof FillModelComparison>;

const ReportAssumptions = z
  .object({
    assumptions: z.array(
      z.object({
        name: z.enum(['gap_at_stop', 'order_in_candle', 'freed_later', 'entry_settlement', 'open_at_end']),
        text: z.string(),
        without: z.string().meta({ description: 'What the amount is compared with' }),
        trades: z.int().nullable().meta({ description: 'Trades that it changes; null when unknown' }),
        amount: quote.nullable().meta({
          'x-unit': 'quote',
          description:
            'Profit now minus profit without the assumption, same trades and stakes; positive: it helped. null when unknown',
        }),
        amount_pct: percent.nullable().meta({ 'x-unit': 'percent', description: 'Of the wallet' }),
        reason: z.string().nullable().meta({ description: 'Why it is unknown' }),
      }),
    ),
    costs: z.array(
      z.object({
        basis_points: z.number().meta({ description: 'Of the values of entries and exits' }),
        amount: quote,
        amount_pct: percent,
      }),
    ),
  })
  .meta({
    id: 'ReportAssumptions',
    description:
      'What each assumption earned, by size, and what a fee or slippage higher by so much would cost. First-order effects: they do not add up',
  });
export type ReportAssumptions = z.infer<typeof ReportAssumptions>;

const SlippageReport = z
  .object({
    large_trades: z.int(),
    large_trades_pct: percent.nullable().meta({ 'x-unit': 'percent', description: 'null without trades' }),
    pairs: z.array(
      z.object({
        pair: z.string(),
        mean_spread_pct: percent.nullable().meta({
          'x-unit': 'percent',
          description: 'null without an estimator, or without an estimate',
        }),
        days_without_estimate: z.int(),
        capped_entries: z.int(),
        dropped_value: quote,
        capped_exits: z.int(),
      }),
    ),
  })
  .meta({ id: 'SlippageReport', description: 'What the slippage model estimated and limited' });

const ReportPairData = z
  .object({
    pair: z.string(),
    candles: z.int().meta({ description: 'Traded candles, without startup candles' }),
    first: timestamp,
    last: timestamp,
    startup_candles: z.int(),
    filled_candles: z
      .int()
      .meta({ description: 'Gaps filled with the previous close, startup candles included' }),
    filled_pct: percent,
    filled: z.object({ closed: z.int(), no_trades: z.int(), damage: z.int() }).optional().meta({
      description:
        'Filled candles by the reason: the market was closed, nothing was traded, or they are lost. Absent: unknown, or none is filled',
    }),
    largest_jump_pct: percent.meta({ 'x-unit': 'percent', description: 'From a close to the next open' }),
    enter_long_signals: z.int(),
    enter_short_signals: z.int(),
    market_change_pct: percent,
    funding_events: z.int(),
    detail_candles: z.int(),
    leverage_tiers: z
      .object({ count: z.int(), source: z.enum(['exchange', 'import']) })
      .optional()
      .meta({ description: 'Absent: one maintenance margin rate for every size, that of the settings' }),
    source_timeframe: z.enum(ALL_TIMEFRAMES).optional().meta({
      description:
        'Timeframe of the stored candles of which `candles` were computed; absent: they were stored',
    }),
    digest: digest.meta({
      description: 'Over the candles, detail candles, funding and informative candles read; sha-256, hex',
    }),
  })
  .meta({ id: 'ReportPairData' });
export type ReportPairData = z.infer<typeof ReportPairData>;

const Provenance = z
  .object({
    engine_version: z.string(),
    strategy_digest: digest.meta({ description: "Over the strategy's source; sha-256, hex" }),
    parameters_digest: digest,
    config_digest: digest,
    data_digest: digest,
    instruments_digest: digest.optional().meta({
      description: 'Over the instruments of the pairs; absent in a run without precision; sha-256, hex',
    }),
    digest: digest.meta({ description: 'Over all of the above: equal digests, equal bytes; sha-256, hex' }),
    slippage_model: SlippageModel.optional().meta({
      description:
        'Model of the spread, impact and participation of the fills, a part of config_digest; absent: only `slippage`',
    }),
  })
  .meta({ id: 'Provenance' });
export type Provenance = z.infer<typeof Provenance>;

/** Report of a run without its trades, which are paged. */
export const BacktestReport = z
  .object({
    schema_version: z.literal(1),
    strategy: z.object({ name: z.string(), description: z.string() }),
    settings: ReportSettings,
    warnings: z.array(z.string()),
    metrics: Metrics,
    undefined_metrics: UndefinedMetrics.optional().meta({
      description: 'The metrics that are null, and why; absent in reports of earlier engines, like short_run',
    }),
    short_run: BacktestResult.shape.short_run,
    tables: ReportTables,
    periods: ReportPeriods,
    drawdowns: ReportDrawdowns,
    costs: ReportCosts,
    counters: ReportCounters,
    locks: z
      .object({
        total: z.int(),
        newest: z.array(Lock).meta({ maxItems: REPORTED_LOCKS }),
      })
      .optional()
      .meta({
        description: 'Times without entries, made by protections; absent in a run without protections',
      }),
    slippage: SlippageReport.optional().meta({ description: 'Absent in a run without a slippage model' }),
    fill_model: FillModelComparison,
    data: z.array(ReportPairData),
    robustness: ReportRobustness.optional().meta({
      description: 'Dependence on costs, market and luck; absent in reports of earlier engines',
    }),
    informative: z.array(ReportInformative).optional().meta({
      description:
        "Candles of other pairs and timeframes that the strategy read; absent when there are none but those computed from the run's own candles",
    }),
    universe: ReportUniverse.optional().meta({
      description: 'Which pairs were in when; absent in a run without a universe',
    }),
    models: ReportModels.optional().meta({ description: 'Absent in a run without the ML engine' }),
    assumptions: ReportAssumptions.optional().meta({
      description: 'Absent in reports of engines before 2.0.0',
    }),
    biases: z.array(
      z.object({
        effect: z.enum(['optimistic', 'pessimistic', 'neutral']),
        text: z.string(),
      }),
    ),
    notation: z.record(z.string(), z.string()).meta({ description: 'Symbols of the formulas' }),
    definitions: z.record(z.string(), MetricDefinition).meta({
      description:
        'Every metric by its name, every other number as part.name: label, unit, family and formula',
    }),
    provenance: Provenance,
  })
  .meta({ id: 'BacktestReport' });
export type BacktestReport = z.infer<typeof BacktestReport>;

/** Part of a report that a registration reads: a change of another part leaves stored reports readable. */
export const RegisteredReport = z.object({
  provenance: Provenance,
  data: z.array(ReportPairData.pick({ first: true, last: true })).min(1),
});

/**
 * The report-data resource: the report with one page of the trades, and two fields that the job stores because they depend on
 * the clock: wall-clock timing and the extent of the look-ahead check.
 */
export const BacktestReportData = BacktestReport.extend({
  job_id: z.string(),
  trades: TradesPage,
  timing: JobTiming,
  look_ahead: LookAhead,
}).meta({ id: 'BacktestReportData' });
export type BacktestReportData = z.infer<typeof BacktestReportData>;
