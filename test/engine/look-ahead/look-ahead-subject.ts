import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import { defaultParameters } from '#engine/definitions/parameters.ts';
import type { LookAheadSubject } from '#engine/look-ahead/runs.ts';
import { mlEngineOf } from '#engine/ml/windows.ts';
import { startupRows, trainingRows } from '#engine/run/history.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { marketCandles } from '../indicators/market.ts';

const START = Date.UTC(2024, 0, 1);

/** Strategy with its defaults on seeded markets, traded on `rows` candles each. `define` creates it again for every run. */
export function lookAheadSubject(
  define: () => StrategyDefinition,
  {
    seeds = [21, 22],
    rows = 500,
    ...changes
  }: { seeds?: readonly number[]; rows?: number } & Partial<ResolvedBacktestConfig> = {},
): LookAheadSubject {
  const strategy = define();
  const timeframe = changes.timeframe ?? strategy.timeframe;
  const params = changes.params ?? defaultParameters(strategy.parameters);
  const ml = changes.ml_engine ?? (strategy.mlEngine && mlEngineOf(strategy));
  const before = startupRows(strategy, params, timeframe, ml) + trainingRows(timeframe, ml);
  const length = before + rows;
  const at = (row: number) => new Date(START + row * TIMEFRAME_MS[timeframe]).toISOString();
  const config: ResolvedBacktestConfig = {
    strategy: strategy.name,
    exchange: 'sim',
    pairs: seeds.map((seed) => `M${seed}/USDT:USDT`),
    timeframe,
    date_range: { start: at(before), end: at(length) },
    stake_amount: 100,
    dry_run_wallet: 1000,
    max_open_trades: seeds.length,
    fee: 0.0005,
    slippage: 0,
    leverage: strategy.leverage ?? 1,
    params,
    stoploss: strategy.stoploss,
    minimal_roi: strategy.minimalRoi ?? {},
    trailing: strategy.trailing ?? null,
    timeframe_detail: null,
    fill_model: 'freqtrade',
    precision: 'none',
    seed: 7,
    ...(ml && { ml_engine: ml }),
    ...changes,
  };
  const pairs = seeds.map((seed) => ({
    pair: `M${seed}/USDT:USDT`,
    candles: marketCandles(seed, length, timeframe),
    ...(config.timeframe_detail && {
      detail: marketCandles(
        seed,
        (length * TIMEFRAME_MS[timeframe]) / TIMEFRAME_MS[config.timeframe_detail],
        config.timeframe_detail,
      ),
    }),
  }));
  return { load: async () => define(), config, pairs };
}
