import { describe, expect, it } from 'vitest';
import { ReportRobustness } from '#contract/report-robustness.ts';
import { ROBUSTNESS_TEST_DEFINITIONS } from '#engine/metrics/robustness-catalogue.ts';
import { robustnessText } from '../../../bin/cli/robustness-text.ts';
import { coinFlips, randomCandles, testOf } from './chance.ts';

const base = randomCandles(2_000, 1);
const traded = (times: number) => ({ ...base, volume: base.volume.map((volume) => volume * times) });
const candles = traded(100);
const rich = traded(10_000);
const WALLET = 1_000;

describe('capacity', () => {
  const strategy = coinFlips(3, 0.9);
  const section = testOf(strategy, [rich, candles], { capacity: true }, { slippage_model: { impact: 1 } });
  const { levels, half_wallet, zero_wallet, costliest_pair, reason } = section.capacity!;

  it('larger stakes earn less of their wallet, until the profit is gone', () => {
    expect(ReportRobustness.parse(section)).toEqual(section);
    expect(reason).toBeNull();
    expect(levels.slice(0, 4).map(({ multiple }) => multiple)).toEqual([1, 2, 5, 10]);
    expect(levels[0]!.wallet).toBe(WALLET);
    const profits = levels.map(({ total_profit_pct }) => total_profit_pct);
    expect(profits).toEqual([...profits].sort((a, b) => b - a));
    expect(profits.at(-1)).toBeLessThanOrEqual(0);
    expect(profits.at(-2)).toBeGreaterThan(0);
    for (const name of ['multiple', 'wallet', 'half_wallet', 'zero_wallet'])
      expect(ROBUSTNESS_TEST_DEFINITIONS).toHaveProperty([`robustness.${name}`]);
  });

  it('a run with the wallet and the stake that it names has the figures it names', () => {
    const run = (wallet: number) =>
      testOf(
        strategy,
        [rich, candles],
        { capacity: true },
        { slippage_model: { impact: 1 }, dry_run_wallet: wallet, stake_amount: wallet / 10 },
      ).capacity!;
    const own = levels[0]!;
    const [half] = run(half_wallet!).levels;
    expect(half!.sharpe_ratio! / own.sharpe_ratio!).toBeGreaterThan(0.4);
    expect(half!.sharpe_ratio! / own.sharpe_ratio!).toBeLessThan(0.6);
    expect(zero_wallet!).toBeGreaterThan(half_wallet!);
    expect(run(zero_wallet! * 1.3)).toMatchObject({
      ...{ levels: [], half_wallet: null, zero_wallet: null },
      reason: 'The run earns nothing that a larger stake could lose.',
    });
  });

  it('the pair with the least volume costs most; finding and terminal say it', () => {
    expect(costliest_pair).toBe('ETH/USDT:USDT');
    expect(section.findings.join()).toMatch(
      /With market impact the Sharpe ratio halves at a wallet of [\d,]+, and the profit is gone at a wallet of [\d,]+; ETH/,
    );
    expect(robustnessText(section)).toMatch(/Wallet .+ Times .+ Trades .+ Profit .+ Sharpe/);
  });

  it('without impact there is none, with the reason', () => {
    const { capacity } = testOf(strategy, [candles], { capacity: true });
    expect(capacity).toMatchObject({ levels: [], reason: expect.stringContaining('slippage_model.impact') });
  });
});
