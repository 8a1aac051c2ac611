import type { ResolvedBacktestConfig } from '#contract/backtests/backtest.ts';
import type { ReportRobustness } from '#contract/backtests/report-robustness.ts';
import { runBacktest } from '#engine/backtest.ts';
import { type Candles, createCandles } from '#engine/candles.ts';
import { createRandom } from '#engine/random.ts';
import type { StrategyDefinition } from '#engine/strategy.ts';
import { CONFIG, SAMPLE_STRATEGY, sha256 } from '../backtest-sample.ts';
import { START } from '../run/candles.ts';
import { normalSource } from './noise.ts';

const HOUR = 3_600_000;

/** Candles of independent normal changes, each with a share `persistence` of the change before it. */
export function randomCandles(rows: number, seed: number, persistence = 0): Candles {
  const normal = normalSource(createRandom(seed));
  const candles = createCandles(rows);
  let price = 100;
  let change = 0;
  for (let row = 0; row < rows; row++) {
    change = persistence * change + 0.01 * normal();
    const open = price;
    price *= Math.exp(change);
    candles.timestamp[row] = START + (row - 20) * HOUR;
    candles.open[row] = open;
    candles.close[row] = price;
    candles.high[row] = Math.max(open, price) * (1 + 0.002 * Math.abs(normal()));
    candles.low[row] = Math.min(open, price) * (1 - 0.002 * Math.abs(normal()));
    candles.volume[row] = 1 + Math.abs(normal());
  }
  return candles;
}

/** Long after a rise, out after a fall: earns where changes persist. */
export const MOMENTUM: StrategyDefinition = {
  ...SAMPLE_STRATEGY,
  canShort: false,
  minimalRoi: {},
  stoploss: -0.9,
  indicators: () => ({}),
  signals: ({ open, close }) => ({
    enterLong: Uint8Array.from(close, (price, row) => (price > open[row]! * 1.005 ? 1 : 0)),
    exitLong: Uint8Array.from(close, (price, row) => (price < open[row]! * 0.995 ? 1 : 0)),
  }),
};

/** Enters and leaves at random; with an edge it skips that share of the entries before a fall. */
export function coinFlips(seed: number, edge = 0): StrategyDefinition {
  return {
    ...MOMENTUM,
    signals: ({ close }) => {
      const random = createRandom(seed);
      const enterLong = new Uint8Array(close.length);
      const exitLong = new Uint8Array(close.length);
      for (let row = 0; row + 10 < close.length; ) {
        const held = 1 + Math.floor(random() * 8);
        const falls = close[row + held]! < close[row]!;
        if (!falls || random() >= edge) enterLong[row] = 1;
        exitLong[row + held] = 1;
        row += held + 1 + Math.floor(random() * 10);
      }
      return { enterLong, exitLong };
    },
  };
}

export function testOf(
  strategy: StrategyDefinition,
  candles: readonly Candles[],
  robustness: ResolvedBacktestConfig['robustness'],
  changes: Partial<ResolvedBacktestConfig> = {},
): ReportRobustness {
  const pairs = CONFIG.pairs.slice(0, candles.length);
  const end = new Date(candles[0]!.timestamp.at(-1)! + HOUR).toISOString();
  const config: ResolvedBacktestConfig = {
    ...CONFIG,
    pairs,
    timeframe: '1h',
    date_range: { start: CONFIG.date_range.start, end },
    leverage: 1,
    trailing: null,
    minimal_roi: {},
    stoploss: -0.9,
    fee: 0.0002,
    slippage: 0,
    ...changes,
    ...(robustness && { robustness }),
  };
  return runBacktest(
    {
      strategy,
      config,
      strategyDigest: sha256('source'),
      pairs: pairs.map((pair, i) => ({ pair, candles: candles[i]! })),
    },
    { digest: sha256 },
  ).report.robustness!;
}
