import { describe, expect, it } from 'vitest';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { ReportRobustness } from '#contract/backtests/report-robustness.ts';
import { type Candles, createCandles } from '#engine/candles.ts';
import { CAPACITY_DEFINITIONS } from '#engine/metrics/robustness-catalogue.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { robustnessText } from '../../../bin/cli/reports/robustness-text.ts';
import { START } from '../run/candles.ts';
import { MOMENTUM, testOf } from './chance.ts';

const HOUR = 3_600_000;
/** Days before the run, for a full window of 20 days, and days of the run. */
const BEFORE = 24;
const DAYS = 60;
const WALLET = 1_000_000;
const STAKE = 1_000;
const VOLUME = 12_000;
/** Gross return of a trade on even and on odd days. */
const RETURNS = [0.03, -0.01] as const;
const MEAN = 0.01;
/** Twenty daily log returns of 1 and -1 % in turn. */
const SIGMA = 0.01 * Math.sqrt(20 / 19);

/** Days that close at 100 and at 100 exp(0.01) in turn; at 13:00 each is off its price by its return. */
function market(volume = VOLUME): Candles {
  const candles = createCandles((BEFORE + DAYS) * 24);
  for (let row = 0; row < candles.timestamp.length; row++) {
    const day = Math.floor(row / 24);
    const price = 100 * Math.exp(0.01 * (day % 2)) * (row % 24 === 13 ? 1 + RETURNS[day % 2]! : 1);
    candles.timestamp[row] = START + (row - BEFORE * 24) * HOUR;
    for (const name of ['open', 'high', 'low', 'close'] as const) candles[name][row] = price;
    candles.volume[row] = volume / 24;
  }
  return candles;
}

const at = (hour: number) => (time: number) => (Math.round(time / HOUR) % 24 === hour ? 1 : 0);

/** Buys at 11:00 and sells at 13:00 of every day. */
const DAILY: StrategyDefinition = {
  ...MOMENTUM,
  signals: ({ timestamp }) => ({
    enterLong: Uint8Array.from(timestamp, at(10)),
    exitLong: Uint8Array.from(timestamp, at(12)),
  }),
};

type Changes = Partial<ResolvedBacktestConfig>;

function sectionOf(changes: Changes = {}, candles = [market()], strategy = DAILY) {
  return testOf(
    strategy,
    candles,
    { capacity: true },
    {
      fee: 0,
      stake_amount: STAKE,
      dry_run_wallet: WALLET,
      max_open_trades: 2,
      ...changes,
    },
  );
}
const capacityOf = (...given: Parameters<typeof sectionOf>) => sectionOf(...given).capacity!;

/** Wallet at which a fill of the stakes moves the price by `impact`: the amount is volume (impact / (Y sigma))^2. */
function walletOf(impact: number, coefficient: number): number {
  const price = 100 * Math.exp(0.005);
  return ((VOLUME * (impact / (coefficient * SIGMA)) ** 2 * price) / STAKE) * WALLET;
}
const impactAt = (wallet: number) => Math.sqrt(wallet / walletOf(1, 1));

describe('capacity', () => {
  const section = sectionOf();
  const capacity = section.capacity!;

  it('in a planted market both limits are those of the closed form', () => {
    // A trade earns r - I (2 + r) of its value: 0 in the mean at I = mean / (2 + mean).
    const zero = MEAN / (2 + MEAN);
    const half = (impactAt(WALLET) + zero) / 2;
    expect(capacity).toMatchObject({ impact: 1, pair: 'BTC/USDT:USDT', impact_share_pct: 100, reason: null });
    // The line over the logarithm is at most 5 % off between 200 and 500 times the wallet.
    expect(capacity.aum_zero! / walletOf(zero, 1)).toBeGreaterThan(0.95);
    expect(capacity.aum_zero! / walletOf(zero, 1)).toBeLessThan(1.05);
    expect(capacity.aum_half! / walletOf(half, 1)).toBeGreaterThan(0.94);
    expect(capacity.aum_half! / walletOf(half, 1)).toBeLessThan(1.06);
    // Each step follows the law itself.
    for (const { multiple, aum, total_profit_pct } of capacity.steps) {
      expect(aum).toBe(WALLET * multiple);
      const profit = ((DAYS * STAKE) / WALLET) * (MEAN - impactAt(aum) * (2 + MEAN)) * 100;
      expect(Math.abs(total_profit_pct - profit)).toBeLessThan(0.004 * 6);
    }
    expect(capacity.steps.at(-1)!.total_profit_pct).toBeLessThanOrEqual(0);
    expect(capacity.steps.at(-2)!.total_profit_pct).toBeGreaterThan(0);
  });

  it('falls with the square of the coefficient', () => {
    const zeros = [0.5, 1, 2].map((impact) => capacityOf({ slippage_model: { impact } }).aum_zero!);
    expect(zeros).toEqual([...zeros].sort((a, b) => b - a));
    expect(zeros[1]).toBe(capacity.aum_zero);
    expect(zeros[0]! / zeros[1]!).toBeCloseTo(4, 0);
    expect(zeros[1]! / zeros[2]!).toBeCloseTo(4, 0);
  });

  it('a spread and a limit of participation of the run stay', () => {
    const spread = capacityOf({ slippage_model: { spread: 'corwin_schultz', spread_days: 30 } });
    expect(spread.aum_zero!).toBeLessThan(capacity.aum_zero!);
    const capped = capacityOf({ slippage_model: { participation: 0.1 } });
    expect(capped.steps[0]!.capped_entries).toBe(0);
    expect(capped.steps.at(-1)!.capped_entries).toBeGreaterThan(0);
    // What the volume leaves of an order never moves the price so far that the trades lose.
    expect(capped).toMatchObject({
      aum_zero: null,
      reason: expect.stringContaining('The profit stays positive'),
    });
  });

  it('the pair with the least volume binds', () => {
    const both = capacityOf({}, [market(), market(VOLUME / 9)]);
    expect(both.pair).toBe('ETH/USDT:USDT');
    // The root of nine times the share of the volume: three quarters of the cost.
    expect(both.impact_share_pct).toBeCloseTo(75, 0);
  });

  it('is in findings, text and definitions, and equal for equal inputs', () => {
    expect(ReportRobustness.parse(section)).toEqual(section);
    expect(JSON.stringify(sectionOf())).toBe(JSON.stringify(section));
    expect(section.findings.at(-1)).toMatch(
      /^With market impact the Sharpe ratio halves at a wallet of \d{1,3}(,\d{3})*, and the profit is gone at \d{1,3}(,\d{3})*\. BTC\/USDT:USDT pays \d+ % of the impact\./,
    );
    expect(robustnessText(section, 'USDT')).toContain('Entries reduced');
    for (const name of ['multiple', 'aum', 'aum_half', 'aum_zero', 'impact_cost_pct', 'impact_share_pct'])
      expect(CAPACITY_DEFINITIONS).toHaveProperty([`robustness.${name}`]);
  });

  it.each([
    ['no trades', {}, market(), { ...DAILY, signals: () => ({}) }, 'The run has no trades.'],
    ['no volume', {}, market(0), DAILY, 'BTC/USDT:USDT has no volume on the days before some of its fills.'],
    [
      'too few days',
      {},
      (() => {
        const { timestamp, ...candles } = market();
        // The first and only day before its fills has no return.
        const cut = (column: Float64Array) => column.slice((BEFORE - 1) * 24, (BEFORE + 1) * 24);
        const columns = Object.entries(candles).map(([name, column]) => [name, cut(column)]);
        return { timestamp: cut(timestamp), ...Object.fromEntries(columns) } as Candles;
      })(),
      DAILY,
      'No fill of the run has an impact',
    ],
    ['a loss', { slippage: 0.01 }, market(), DAILY, 'With impact the run does not earn at its own wallet.'],
    [
      'fixed stakes of a callback',
      {},
      market(),
      { ...DAILY, callbacks: { customStake: () => STAKE } },
      'The stakes do not grow with the wallet: a callback of the strategy sets them.',
    ],
  ])('%s: no figures, with the reason', (_name, changes, candles, strategy, reason) => {
    const none = sectionOf(changes, [candles], strategy as StrategyDefinition);
    expect(none.capacity).toMatchObject({
      aum_half: null,
      aum_zero: null,
      reason: expect.stringContaining(reason),
    });
    expect(JSON.stringify(none)).not.toContain('NaN');
    expect(none.findings.at(-1)).toContain('No capacity was found: ');
  });

  it('a run without the request has neither the section nor other figures', () => {
    const plain = testOf(DAILY, [market()], undefined, {
      fee: 0,
      stake_amount: STAKE,
      dry_run_wallet: WALLET,
    });
    expect(plain).not.toHaveProperty('capacity');
  });
});
