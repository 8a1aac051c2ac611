import type { ChanceTest, RegimeCell, ReportRobustness } from '#contract/backtests/report-robustness.ts';
import { formatInteger } from '#contract/values/format-count.ts';
import { withoutRounding } from '../metrics/equity-curve.ts';

/** Share of the profit that a single cell of the regimes may earn without a warning, percent. */
const MAX_SHARE_PCT = 80;

/**
 * Sentences about the figures that a reader should not overlook.
 *
 * @param profit of the whole run, quote currency
 * @param wallet starting balance, quote currency
 */
export function findingsOf(
  figures: Omit<ReportRobustness, 'findings'>,
  { profit, wallet }: { readonly profit: number; readonly wallet: number },
): string[] {
  const { cells } = figures.regimes;
  return [
    ...costFinding(figures.break_even),
    ...alphaFindings(figures.benchmarks),
    ...profitFinding(cells, withoutRounding(profit / wallet) * wallet, wallet),
    ...luckFinding(figures.bootstrap),
    ...chanceFinding(figures.random_entries, 'the same trades at random times'),
    ...chanceFinding(figures.permutations, 'the strategy on permuted candles'),
    ...capacityFinding(figures.capacity),
  ];
}

const basisPoints = (ratio: number) => Number((ratio * 10_000).toPrecision(3)).toString();
const percent = (value: number) => `${value.toFixed(1)} %`;

function costFinding({ cost, paid, method, reason }: ReportRobustness['break_even']): string[] {
  if (method === null) return [`No break-even cost: ${reason}`];
  const pays = `you pay ${basisPoints(paid)}`;
  if (cost === null) return [`${reason!.replace(/\.$/, '')}; ${pays} bp a side.`];
  const estimate = method === 'same_trades' ? ', if its trades stay the same' : '';
  if (cost === 0) return [`The strategy breaks even without costs${estimate}; ${pays} bp a side.`];
  const about = method === 'simulated' ? 'about ' : '';
  return [`The strategy breaks even at ${about}${basisPoints(cost)} bp a side${estimate}; ${pays}.`];
}

function alphaFindings(benchmarks: ReportRobustness['benchmarks']): string[] {
  return benchmarks.flatMap(({ benchmark, pair, alpha_pct, alpha_low_pct: low, alpha_high_pct: high }) => {
    if (alpha_pct === null || low === null || high === null) return [];
    const held = benchmark === 'btc' ? `holding ${pair}` : 'holding the pairs in equal parts';
    const interval = `${percent(alpha_pct)} a year (95 %: ${percent(low)} to ${percent(high)})`;
    if (low > 0) return [`Against ${held} alpha is ${interval}: it is above 0.`];
    if (high < 0) return [`Against ${held} alpha is ${interval}: it is below 0.`];
    return [`Against ${held} alpha is ${interval}. The interval contains 0: no alpha is shown.`];
  });
}

function profitFinding(cells: readonly RegimeCell[], profit: number, wallet: number): string[] {
  return profit > 0 ? regimeFinding(cells) : lossFinding(cells, profit, wallet);
}

function regimeFinding(cells: readonly RegimeCell[]): string[] {
  const best = cells.find(({ profit_share_pct: share }) => share !== null && share > MAX_SHARE_PCT);
  const known = knownOf(cells);
  // The only regime that was seen earns all of the profit in it, whatever it earns.
  if (!best || known.length === 1) return [];
  const days = known.reduce((sum, cell) => sum + cell.days, 0);
  return [
    `Warning: one regime (${regimeText(best)}) earns ${best.profit_share_pct!.toFixed(0)} % of the profit of the ${formatInteger(days)} days with a known regime. Expect less elsewhere.`,
  ];
}

/** A share of the loss would exceed 100 % where other regimes earn, so each loss is a share of the wallet. */
function lossFinding(cells: readonly RegimeCell[], profit: number, wallet: number): string[] {
  if (profit === 0 || cells.length === 0) return [];
  const known = knownOf(cells);
  const lost = (loss: number) => percent((-loss / wallet) * 100);
  const run = `The run lost ${lost(profit)} of its wallet`;
  const worst = known.toSorted((a, b) => a.profit - b.profit)[0];
  // The only regime that was seen is no worst one.
  if (worst === undefined || known.length === 1 || worst.profit >= 0) return [`${run}.`];
  return [`${run}; its worst regime (${regimeText(worst)}) lost ${lost(worst.profit)} of it.`];
}

const knownOf = (cells: readonly RegimeCell[]) => cells.filter(({ days }) => days > 0);

const regimeText = ({ trend, volatility, days }: RegimeCell) =>
  `${trend} trend, ${volatility} volatility, ${days} ${days === 1 ? 'day' : 'days'}`;

function luckFinding({ cagr_pct: cagr, max_drawdown_pct: fall }: ReportRobustness['bootstrap']): string[] {
  if (!cagr || !fall) return [];
  return [
    `With the same days in other orders, 90 % of the paths grow by ${percent(cagr.low)} to ${percent(cagr.high)} a year; 5 % of them fall by ${percent(fall.high)} or more.`,
  ];
}

function capacityFinding(capacity: ReportRobustness['capacity']): string[] {
  if (!capacity) return [];
  const { aum_half: half, aum_zero: zero, pair, impact_share_pct: share, reason } = capacity;
  const wallet = (aum: number) => {
    const rounded = Number(aum.toPrecision(3));
    return Number.isInteger(rounded) ? formatInteger(rounded) : String(rounded);
  };
  const limits = [
    ...(half === null ? [] : [`the Sharpe ratio halves at a wallet of ${wallet(half)}`]),
    ...(zero === null ? [] : [`the profit is gone at ${half === null ? 'a wallet of ' : ''}${wallet(zero)}`]),
  ];
  if (limits.length === 0) return [`No capacity was found: ${reason}`];
  const binds = pair === null || share === null ? '' : ` ${pair} pays ${share.toFixed(0)} % of the impact.`;
  return [`With market impact ${limits.join(', and ')}.${binds}${reason === null ? '' : ` ${reason}`}`];
}

/** P-value up to which chance is an unlikely explanation. */
const SIGNIFICANT = 0.05;

function chanceFinding(test: ChanceTest | undefined, what: string): string[] {
  if (!test || test.p_value === null) return [];
  const { p_value: p, samples } = test;
  const share = `p = ${Number(p.toPrecision(2))} against ${what} (${samples} samples)`;
  return [
    p <= SIGNIFICANT
      ? `${share}: chance alone rarely earns this much.`
      : `${share}: chance alone may earn as much.`,
  ];
}
