import { define } from './catalogue.ts';

/**
 * Definitions of the numbers of the robustness section. B_d: return of the benchmark on day d. The regression has only the m days on
 * which the benchmark has candles, with the returns from each of them to the next.
 */
export const ROBUSTNESS_DEFINITIONS = define('robustness', {
  'robustness.cost': [
    'Break-even cost per side',
    'ratio',
    '(sum of p_i + fees + slippage) / turnover where costs cannot change the trades, else the one fee at which a simulation without slippage has a profit of 0',
  ],
  'robustness.paid': ['Cost per side', 'ratio', 'fee + slippage'],
  'robustness.simulations': ['Simulations', 'count', 'further simulations run for the break-even cost'],
  'robustness.days_before': ['Days without a regime', 'days', 'days before the 90-day return is known'],
  'robustness.days': ['Days', 'days', 'days of the cell, of the window or of the regression'],
  'robustness.trades': ['Trades', 'count', 'trades closed on these days'],
  'robustness.return_pct': ['Return %', 'percent', '(product of 1 + R_d over these days - 1) * 100'],
  'robustness.market_return_pct': ['Market %', 'percent', '(product of 1 + B_d over these days - 1) * 100'],
  'robustness.profit': ['Profit', 'quote', 'sum of E_d - E_(d-1) over these days'],
  'robustness.profit_share_pct': [
    'Share of the profit',
    'percent',
    'profit of the cell / profit of all cells * 100; null unless that is positive',
  ],
  'robustness.sharpe_ratio': ['Sharpe ratio', 'ratio', 'mean / std_(n-1) of R_d over these days * sqrt(365)'],
  'robustness.sharpe_ratio_error': [
    'Standard error',
    'ratio',
    'sqrt((1 - skewness S + (kurtosis - 1) / 4 S^2) / (days - 1)) * sqrt(365), S: Sharpe ratio per day',
  ],
  'robustness.max_drawdown_pct': [
    'Max drawdown %',
    'percent',
    'largest fall of the compounded R_d of these days below its maximum; of the bootstrap: of each path',
  ],
  'robustness.lag': ['Lags', 'count', 'floor(4 (m / 100)^(2/9)), m: days of the regression'],
  'robustness.benchmark_return_pct': ['Benchmark %', 'percent', '(product of 1 + B_d - 1) * 100'],
  'robustness.alpha_pct': [
    'Alpha',
    'percent',
    'a * 365 * 100 of the regression R_d = a + b B_d + e_d by least squares, over the days on which the benchmark has candles; both end at the open of the last candle of the run',
  ],
  'robustness.alpha_low_pct': [
    'Alpha, lower end',
    'percent',
    '(a - t_(0.975, m-2) * error of a) * 365 * 100, Newey-West errors with Bartlett weights and the factor m / (m - 2), m: days of the regression',
  ],
  'robustness.alpha_high_pct': ['Alpha, upper end', 'percent', 'as the lower end, with +'],
  'robustness.alpha_p_value': [
    'P-value of alpha',
    'probability',
    'two-sided, a / error of a under Student with m - 2 degrees of freedom, m: days of the regression',
  ],
  'robustness.beta': ['Beta', 'ratio', 'b of the same regression'],
  'robustness.beta_low': [
    'Beta, lower end',
    'ratio',
    'b - t_(0.975, m-2) * error of b, m: days of the regression',
  ],
  'robustness.beta_high': [
    'Beta, upper end',
    'ratio',
    'b + t_(0.975, m-2) * error of b, m: days of the regression',
  ],
  'robustness.information_ratio': ['Information ratio', 'ratio', 'mean / std of R_d - B_d, times sqrt(365)'],
  'robustness.up_capture_pct': [
    'Up capture',
    'percent',
    'geometric mean of R_d / geometric mean of B_d * 100, over the days with B_d > 0',
  ],
  'robustness.down_capture_pct': ['Down capture', 'percent', 'the same over the days with B_d < 0'],
  'robustness.beta_neutral_sharpe_ratio': [
    'Beta-neutral Sharpe',
    'ratio',
    'mean / std of R_d - b B_d, times sqrt(365)',
  ],
  'robustness.samples': ['Samples', 'count', 'number of random paths, placements or permutations'],
  'robustness.mean_block_days': ['Mean block', 'days', 'T^(1/3), rounded up'],
  'robustness.cagr_pct': [
    'CAGR',
    'percent',
    '5, 50 and 95 % quantiles of (product of 1 + R_d)^(365 / T) - 1 over the paths, times 100',
  ],
  'robustness.time_under_water_pct': [
    'Time under water',
    'percent',
    'days of a path below its maximum / T * 100',
  ],
});

/** Definitions that differ in a run with a slippage model. */
export const MODELLED_ROBUSTNESS_DEFINITIONS = define('robustness', {
  'robustness.paid': ['Cost per side', 'ratio', 'fee + slippage cost of all trades / turnover'],
});

/** Definitions of the tests that a run makes on request. */
export const ROBUSTNESS_TEST_DEFINITIONS = define('robustness', {
  'robustness.delay': ['Delay', 'count', 'candles by which every signal comes later'],
  'robustness.total_profit_pct': ['Profit %', 'percent', 'sum of p_i / B0 * 100 at this cost and delay'],
  'robustness.total_trades': ['Trades', 'count', 'n at this cost and delay'],
  'robustness.p_value': [
    'P-value',
    'probability',
    '(1 + number of samples with at least this profit) / (samples + 1)',
  ],
  'robustness.profit_pct': [
    'Profit %',
    'percent',
    'of random entries: of the trades priced from open to open; of permutations: sum of p_i / B0 * 100',
  ],
});

/** Definitions of the capacity. */
export const CAPACITY_DEFINITIONS = define('robustness', {
  'robustness.multiple': ['Multiple', 'ratio', 'wallet and stakes of a simulation / those of the run'],
  'robustness.impact': [
    'Impact coefficient',
    'ratio',
    'Y of the impact Y * daily volatility * sqrt(amount / daily volume); that of slippage_model, else 1',
  ],
  'robustness.aum': ['Wallet', 'quote', 'B0 * multiple'],
  'robustness.impact_cost_pct': ['Impact', 'percent', 'cost of the impact of all fills / wallet * 100'],
  'robustness.capped_entries': ['Entries reduced', 'count', 'entries above the limit of participation'],
  'robustness.aum_half': [
    'Wallet of half the Sharpe ratio',
    'quote',
    'first wallet with half of the Sharpe ratio of multiple 1, on the line over ln(wallet) between two multiples',
  ],
  'robustness.aum_zero': ['Wallet without profit', 'quote', 'the same for a profit of 0'],
  'robustness.impact_share_pct': [
    'Share of the impact',
    'percent',
    'impact cost of the pair / impact cost of all pairs * 100, at the last multiple',
  ],
});
