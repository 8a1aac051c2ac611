import * as z from 'zod';

/** How far the result of a backtest depends on costs, market, luck and chance: the section `robustness` of its report. */

const percent = z.number().nullable().meta({ 'x-unit': 'percent' });
const ratio = z.number().nullable().meta({ 'x-unit': 'ratio' });
const date = z.string().meta({ format: 'date', description: 'YYYY-MM-DD, UTC' });
const reason = z.string().nullable().meta({ description: 'Why the figures are null; null: they are known' });

const Interval = z
  .object({ low: z.number(), median: z.number(), high: z.number() })
  .meta({ id: 'RobustnessInterval', description: 'Quantiles 5 %, 50 % and 95 %' });
export type Interval = z.infer<typeof Interval>;

const percentInterval = Interval.nullable();

const BREAK_EVEN_METHODS = ['closed_form', 'simulated', 'same_trades'] as const;

const BreakEven = z
  .object({
    cost: ratio.meta({
      'x-unit': 'ratio',
      description: 'Cost per side, as a share of the value of a fill, at which the profit is 0',
    }),
    paid: z.number().meta({
      'x-unit': 'ratio',
      description: 'Fee and slippage per side of this run; with a slippage model the mean of its fills',
    }),
    method: z.enum(BREAK_EVEN_METHODS).nullable().meta({
      description:
        '`closed_form`: exact, as costs cannot change these trades; `simulated`: found by further simulations; `same_trades`: the trades are held as they were',
    }),
    simulations: z.int().meta({ description: 'Simulations that were run for it' }),
    reason,
  })
  .meta({ id: 'BreakEven' });
export type BreakEven = z.infer<typeof BreakEven>;

const RegimeCell = z
  .object({
    trend: z.enum(['up', 'down']).meta({ description: 'Sign of the 90-day return of the benchmark' }),
    volatility: z.enum(['low', 'middle', 'high']).meta({
      description: 'Tercile of the 30-day volatility of the benchmark among its values up to then',
    }),
    days: z.int(),
    trades: z.int().meta({ description: 'By the day of closing' }),
    return_pct: percent,
    profit: z.number().meta({ 'x-unit': 'quote', description: 'Change of the equity on these days' }),
    profit_share_pct: percent,
    sharpe_ratio: ratio,
    sharpe_ratio_error: ratio,
    max_drawdown_pct: percent,
  })
  .meta({ id: 'RegimeCell' });
export type RegimeCell = z.infer<typeof RegimeCell>;

const StressResult = z
  .object({
    name: z.string(),
    start: date,
    end: date,
    text: z.string(),
    days: z.int().meta({ description: 'Days of the window in the run' }),
    trades: z.int().meta({ description: 'Closed in these days' }),
    return_pct: z.number().meta({ 'x-unit': 'percent' }),
    market_return_pct: z.number().meta({ 'x-unit': 'percent', description: 'Of holding the pairs' }),
    max_drawdown_pct: z.number().meta({ 'x-unit': 'percent' }),
  })
  .meta({ id: 'StressResult' });
export type StressResult = z.infer<typeof StressResult>;

const BenchmarkAttribution = z
  .object({
    benchmark: z.enum(['equal_weight', 'btc']).meta({
      description: 'Buying and holding all pairs in equal parts, or bitcoin, with fees, slippage and funding',
    }),
    pair: z.string().nullable().meta({ description: 'Pair of bitcoin; null for all pairs, or without one' }),
    source: z
      .object({
        timeframe: z.string().meta({ description: 'Of the stored candles' }),
        candles: z.int().meta({ description: 'Daily candles that were computed of them' }),
      })
      .optional()
      .meta({ description: 'Stored candles of bitcoin that the run does not trade; absent for its pairs' }),
    days: z.int().nullable().meta({
      description:
        'Daily returns of the regression: of the days on which the benchmark has candles. With candles on less than 90 % of the days of the run there is none',
    }),
    lag: z.int().nullable().meta({ description: 'Lags of the Newey-West errors' }),
    benchmark_return_pct: percent,
    alpha_pct: percent.meta({
      'x-unit': 'percent',
      description: 'Return a year that the benchmark does not explain',
    }),
    alpha_low_pct: percent.meta({ 'x-unit': 'percent', description: 'Lower end of the 95 % interval' }),
    alpha_high_pct: percent.meta({ 'x-unit': 'percent', description: 'Upper end of the 95 % interval' }),
    alpha_p_value: z.number().nullable().meta({ 'x-unit': 'probability' }),
    beta: ratio,
    beta_low: ratio,
    beta_high: ratio,
    information_ratio: ratio,
    up_capture_pct: percent,
    down_capture_pct: percent,
    beta_neutral_sharpe_ratio: ratio,
    reason,
  })
  .meta({ id: 'BenchmarkAttribution' });
export type BenchmarkAttribution = z.infer<typeof BenchmarkAttribution>;

const CostSweep = z
  .object({
    cells: z.array(
      z.object({
        cost: z
          .number()
          .meta({ 'x-unit': 'ratio', description: 'Fee per side, in place of fee and slippage' }),
        delay: z.int().meta({ description: 'Candles by which every signal comes later' }),
        total_profit_pct: z.number().meta({ 'x-unit': 'percent' }),
        total_trades: z.int(),
        sharpe_ratio: ratio,
      }),
    ),
  })
  .meta({ id: 'CostSweep' });
export type CostSweep = z.infer<typeof CostSweep>;

const Capacity = z
  .object({
    impact: z.number().meta({ 'x-unit': 'ratio', description: 'Coefficient of the impact' }),
    steps: z.array(
      z.object({
        multiple: z.int().meta({ description: 'Multiple of the wallet and the stakes of the run' }),
        aum: z.number().meta({ 'x-unit': 'quote', description: 'Wallet at this multiple' }),
        total_profit_pct: z.number().meta({ 'x-unit': 'percent' }),
        sharpe_ratio: ratio,
        total_trades: z.int(),
        impact_cost_pct: z
          .number()
          .meta({ 'x-unit': 'percent', description: 'Cost of the impact of all fills, of the wallet' }),
        capped_entries: z.int().meta({ description: 'Entries above the limit of participation' }),
      }),
    ),
    aum_half: z.number().nullable().meta({
      'x-unit': 'quote',
      description: "Wallet at which the Sharpe ratio is half of that with impact at the run's own wallet",
    }),
    aum_zero: z
      .number()
      .nullable()
      .meta({ 'x-unit': 'quote', description: 'Wallet at which the profit is 0' }),
    pair: z.string().nullable().meta({
      description: 'The pair that binds: with the largest cost of impact at the last multiple',
    }),
    impact_share_pct: percent.meta({
      'x-unit': 'percent',
      description: 'Part of that pair in the cost of impact of all pairs',
    }),
    reason,
  })
  .meta({ id: 'Capacity' });
export type Capacity = z.infer<typeof Capacity>;

const ChanceTest = z
  .object({
    samples: z.int(),
    p_value: z.number().nullable().meta({
      'x-unit': 'probability',
      description: 'Share of the samples and the run itself that earn at least as much as the run',
    }),
    profit_pct: percent.meta({ 'x-unit': 'percent', description: 'Of the run, measured as in the samples' }),
    chance_pct: percentInterval.meta({ description: 'Profit of the samples' }),
    reason,
  })
  .meta({ id: 'ChanceTest' });
export type ChanceTest = z.infer<typeof ChanceTest>;

export const ReportRobustness = z
  .object({
    findings: z.array(z.string()).meta({ description: 'What the figures say, one sentence each' }),
    break_even: BreakEven,
    regimes: z.object({
      days_before: z.int().meta({ description: 'First days, which have no regime yet' }),
      cells: z.array(RegimeCell),
      reason,
    }),
    stress: z.array(StressResult).meta({ description: 'Stress windows that the run overlaps' }),
    benchmarks: z.array(BenchmarkAttribution),
    bootstrap: z
      .object({
        samples: z.int(),
        mean_block_days: z.int().nullable(),
        cagr_pct: percentInterval,
        max_drawdown_pct: percentInterval,
        time_under_water_pct: percentInterval,
        reason,
      })
      .meta({ description: 'Stationary bootstrap of the daily returns: luck of the path only' }),
    cost_sweep: CostSweep.optional().meta({ description: 'Absent unless asked for' }),
    random_entries: ChanceTest.optional().meta({
      description: 'Against the same trades at random times; absent unless asked for',
    }),
    permutations: ChanceTest.optional().meta({
      description: 'Against the strategy on permuted candles; absent unless asked for',
    }),
    capacity: Capacity.optional().meta({
      description: 'Size at which market impact takes the profit; absent unless asked for',
    }),
  })
  .meta({ id: 'ReportRobustness' });
export type ReportRobustness = z.infer<typeof ReportRobustness>;
