import type { ReportRobustness } from '#contract/backtests/report-robustness.ts';
import { formatCount } from '#contract/values/format-count.ts';
import { unknownRobustness } from '#contract/values/unknown-robustness.ts';
import { lineWidth, moneyDigits, number, percent, table, wrap } from '../output.ts';

/**
 * The robustness of a report: its findings, the tables behind them, and why figures are missing.
 *
 * @param currency of the wallet; empty when the pairs have several
 */
export function robustnessText(section: ReportRobustness, currency: string): string {
  const { findings, benchmarks, regimes, stress, bootstrap } = section;
  const known = benchmarks.filter(({ reason }) => reason === null);
  return [
    'Robustness:',
    ...findings.map((finding) => wrap(`- ${finding}`, lineWidth())),
    ...(known.length > 0 ? [benchmarkTable(known)] : []),
    ...(bootstrap.cagr_pct ? [bootstrapTable(bootstrap)] : []),
    ...(regimes.cells.length > 0 ? [regimeTable(regimes.cells)] : []),
    ...(stress.length > 0 ? [stressTable(stress)] : []),
    ...(section.cost_sweep ? [sweepTable(section.cost_sweep)] : []),
    ...(section.capacity?.steps.length ? [capacityTable(section.capacity, currency)] : []),
    ...unknownRobustness(section).map((line) => wrap(line, lineWidth())),
  ].join('\n');
}

function benchmarkTable(benchmarks: ReportRobustness['benchmarks']): string {
  return table(
    ['Against holding', 'Alpha a year', '95 %', 'Beta', 'Information ratio', 'Up / down capture'],
    benchmarks.map((each) => [
      each.pair ?? 'all pairs',
      percent(each.alpha_pct),
      `${percent(each.alpha_low_pct)} to ${percent(each.alpha_high_pct)}`,
      number(each.beta),
      number(each.information_ratio),
      `${percent(each.up_capture_pct)} / ${percent(each.down_capture_pct)}`,
    ]),
  );
}

function bootstrapTable(bootstrap: ReportRobustness['bootstrap']): string {
  const rows = [
    ['CAGR', bootstrap.cagr_pct],
    ['Max drawdown', bootstrap.max_drawdown_pct],
    ['Time under water', bootstrap.time_under_water_pct],
  ] as const;
  return table(
    [`${number(bootstrap.samples, 0)} paths of these days`, '5 %', '50 %', '95 %'],
    rows.map(([name, interval]) => [
      name,
      ...[interval?.low, interval?.median, interval?.high].map((value) => percent(value ?? null)),
    ]),
  );
}

function regimeTable(cells: ReportRobustness['regimes']['cells']): string {
  return table(
    ['Regime', 'Days', 'Trades', 'Return', 'Share', 'Sharpe', 'Error', 'Max drawdown'],
    cells.map((cell) => [
      `${cell.trend}, ${cell.volatility} volatility`,
      number(cell.days, 0),
      number(cell.trades, 0),
      percent(cell.return_pct),
      percent(cell.profit_share_pct),
      number(cell.sharpe_ratio),
      number(cell.sharpe_ratio_error),
      percent(cell.max_drawdown_pct),
    ]),
  );
}

/** Profit by cost, a column for each delay. */
function sweepTable({ cells }: NonNullable<ReportRobustness['cost_sweep']>): string {
  const delays = [...new Set(cells.map(({ delay }) => delay))];
  const costs = [...new Set(cells.map(({ cost }) => cost))];
  return table(
    ['Cost a side', ...delays.map((delay) => `${formatCount(delay, 'candle')} later`)],
    costs.map((cost) => [
      `${number(cost * 10_000, 0)} bp`,
      ...delays.map((delay) =>
        percent(cells.find((cell) => cell.cost === cost && cell.delay === delay)?.total_profit_pct),
      ),
    ]),
  );
}

function capacityTable({ steps }: NonNullable<ReportRobustness['capacity']>, currency: string): string {
  const least = Math.min(...steps.map(({ aum }) => aum));
  const digits = least >= 10 ? 0 : moneyDigits(least);
  return table(
    [`Wallet ${currency}`.trim(), 'Multiple', 'Profit', 'Sharpe', 'Trades', 'Impact', 'Entries reduced'],
    steps.map((step) => [
      number(step.aum, digits),
      number(step.multiple, 0),
      percent(step.total_profit_pct),
      number(step.sharpe_ratio),
      number(step.total_trades, 0),
      percent(step.impact_cost_pct),
      number(step.capped_entries, 0),
    ]),
  );
}

function stressTable(windows: ReportRobustness['stress']): string {
  return table(
    ['Stress window', 'Days', 'Trades', 'Return', 'Market', 'Max drawdown'],
    windows.map((each) => [
      `${each.name} (${each.start})`,
      number(each.days, 0),
      number(each.trades, 0),
      percent(each.return_pct),
      percent(each.market_return_pct),
      percent(each.max_drawdown_pct),
    ]),
  );
}
