import { describe, expect, it } from 'vitest';
import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { type BacktestOutcome, runBacktest } from '#engine/backtest.ts';
import type { StrategyCallbacks, StrategyDefinition } from '#engine/strategy.ts';
import { sha256 } from '../backtest-sample.ts';
import { candlesOf, flat, type Row, START } from '../simulator/market.ts';

const HOUR = 3_600_000;

/** Enters at the open of the second candle of each pair. */
const strategyOf = (callbacks: StrategyCallbacks): StrategyDefinition => ({
  name: 'worked',
  description: 'A worked value',
  timeframe: '1h',
  pairs: ['A/USDT:USDT'],
  stakeAmount: 100,
  parameters: {},
  startupCandles: () => 0,
  stoploss: -0.05,
  unfilledTimeoutMinutes: 100_000,
  indicators: () => ({}),
  signals: ({ close }) => {
    const enterLong = new Uint8Array(close.length);
    enterLong[0] = 1;
    return { enterLong };
  },
  callbacks,
});

function run(
  rows: readonly Row[],
  changes: Partial<ResolvedBacktestConfig>,
  { pairs = ['A/USDT:USDT'], callbacks = {} }: { pairs?: string[]; callbacks?: StrategyCallbacks } = {},
): Record<'freqtrade' | 'conservative', BacktestOutcome> {
  const outcomeOf = (fill_model: 'freqtrade' | 'conservative') =>
    runBacktest(
      {
        strategy: strategyOf(callbacks),
        strategyDigest: sha256(''),
        config: {
          strategy: 'worked',
          exchange: 'sim',
          pairs,
          timeframe: '1h',
          date_range: {
            start: new Date(START).toISOString(),
            end: new Date(START + rows.length * HOUR).toISOString(),
          },
          stake_amount: 100,
          dry_run_wallet: 1000,
          max_open_trades: pairs.length,
          fee: 0,
          slippage: 0,
          leverage: 1,
          params: {},
          stoploss: -0.5,
          minimal_roi: {},
          trailing: null,
          timeframe_detail: null,
          fill_model,
          seed: 0,
          precision: 'none',
          ...changes,
        },
        pairs: pairs.map((pair) => ({ pair, candles: candlesOf(rows) })),
      },
      { digest: sha256 },
    );
  return { freqtrade: outcomeOf('freqtrade'), conservative: outcomeOf('conservative') };
}

/** Profit of the only trade in percent under each model. */
function profits(...given: Parameters<typeof run>): readonly [freqtrade: number, conservative: number] {
  const { freqtrade, conservative } = run(...given);
  const [pct, other] = [freqtrade, conservative].map(({ trades }) =>
    trades.map((each) => each.profitRatio * 100),
  );
  expect([pct!.length, other!.length]).toEqual([1, 1]);
  // Each is the other one's alternative.
  const { alternative_total_profit: alternative } = freqtrade.report.fill_model;
  expect(alternative).toBeCloseTo(conservative.result.total_profit, 8);
  expect(conservative.report.fill_model.alternative_total_profit).toBeCloseTo(
    freqtrade.result.total_profit,
    8,
  );
  return [pct![0]!, other![0]!];
}

/** Candle 0 has the signal, and the trade opens or is ordered in candle 1. */
const BEFORE: Row[] = [flat(100), [100, 101, 99, 100]];
const buyAt = (price: number): StrategyCallbacks => ({ customEntryPrice: () => price });

describe('values that were computed independently, in percent', () => {
  it('a trailing stop of 5 % in a candle 100 / 102 / 96 / 99 before a rise to 120', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 102, 96, 99], [99, 120, 99, 120], flat(120)];
    const [freqtrade, conservative] = profits(rows, {
      stoploss: -0.05,
      trailing: { offset: 0, only_offset_is_reached: false },
    });
    expect(freqtrade).toBeCloseTo(-3.1, 6);
    expect(conservative).toBeCloseTo(-3.1, 6);
  });

  it('a limit buy at 96 that waits for a red candle 100 / 110 / 95 / 96 with a target of 5 %', () => {
    const rows: Row[] = [...BEFORE, [100, 110, 95, 96], flat(96)];
    const [freqtrade, conservative] = profits(rows, { minimal_roi: { 0: 0.05 } }, { callbacks: buyAt(96) });
    expect(freqtrade).toBeCloseTo(5, 6);
    expect(conservative).toBeCloseTo(0, 6);
  });

  it('a limit buy at 96 that waits for a green candle 98 / 110 / 95 / 99 with a target of 5 %', () => {
    const rows: Row[] = [...BEFORE, [98, 110, 95, 99], flat(99)];
    const [freqtrade, conservative] = profits(rows, { minimal_roi: { 0: 0.05 } }, { callbacks: buyAt(96) });
    expect(freqtrade).toBeCloseTo(5, 6);
    expect(conservative).toBeCloseTo(3.125, 6);
  });

  it('a stop at 95 in a candle 85 / 98 / 84 / 97', () => {
    const rows: Row[] = [flat(100), flat(100), [85, 98, 84, 97], flat(97)];
    const [freqtrade, conservative] = profits(rows, { stoploss: -0.05 });
    expect(freqtrade).toBeCloseTo(-5, 6);
    expect(conservative).toBeCloseTo(-15, 6);
  });

  it('six pairs with one slot and the whole wallet in a candle 100 / 145 / 100 / 145 with a target of 40 %', () => {
    const pairs = ['A', 'B', 'C', 'D', 'E', 'F'].map((name) => `${name}/USDT:USDT`);
    const rows: Row[] = [flat(100), [100, 145, 100, 145], flat(145)];
    const { freqtrade, conservative } = run(
      rows,
      { stake_amount: 'unlimited', max_open_trades: 1, minimal_roi: { 0: 0.4 } },
      { pairs },
    );
    expect(freqtrade.trades).toHaveLength(6);
    expect(freqtrade.result.final_balance).toBeCloseTo(7401.37671921, 8);
    expect(conservative.trades).toHaveLength(1);
    expect(conservative.result.final_balance).toBeCloseTo(1396, 8);
    expect(freqtrade.report.fill_model).toMatchObject({
      differing_trades: 0,
      shifted_trades: 0,
      unmatched_trades: 5,
      alternative_trades: 1,
      // All but the first, which has earned 396.
      freed_later_entries: 5,
    });
    expect(freqtrade.report.fill_model.freed_later_profit).toBeCloseTo(7401.37671921 - 1396, 6);
    expect(freqtrade.report.fill_model.freed_later_profit_pct).toBeCloseTo(600.537671921, 6);
    expect(freqtrade.report.warnings.join('\n')).toContain(
      '5 entries took a slot or money that a later moment of the same candle freed. Their trades earned 600.54 % of the wallet.',
    );
    expect(conservative.report.fill_model).toMatchObject({
      unmatched_trades: 5,
      alternative_trades: 6,
      freed_later_entries: 5,
    });
  });
});
