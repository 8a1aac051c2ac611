import type { Candles } from '#engine/candles.ts';
import { crossedAbove, crossedBelow, ema } from '#engine/indicators/index.ts';
import type { PairInput, SimulationSettings } from '#engine/simulator/types.ts';
import { randomCandles } from './candles.ts';

/** EMA 20/50 crossover that is always long or short: about 19,000 trades per million candles of a random walk. */
export function crossoverPair(pair: string, candles: Candles): PairInput {
  const fast = ema(candles.close, 20);
  const slow = ema(candles.close, 50);
  const up = crossedAbove(fast, slow);
  const down = crossedBelow(fast, slow);
  return { pair, candles, signals: { enterLong: up, exitShort: up, enterShort: down, exitLong: down } };
}

/**
 * Runs `subject` several times over few candles, like a task with a short range. Code that is compiled during its first long
 * run has not executed every path yet. In some processes it then keeps calls that it would otherwise inline, at a third of
 * the speed.
 */
export function runShort(subject: (pairs: readonly PairInput[]) => unknown): void {
  const pairs = [crossoverPair('SHORT/USDT:USDT', randomCandles(2, 5_000, '1m'))];
  for (let run = 0; run < 5; run++) subject(pairs);
}

/** Stop loss and a ROI table of three steps, both reached by some trades. The wallet is large enough for all fees. */
export const CROSSOVER_SETTINGS: SimulationSettings = {
  timeframeMs: 60_000,
  startingBalance: 1_000_000,
  stake: { kind: 'fixed', amount: 1000 },
  maxOpenTrades: 1,
  fee: 0.0005,
  slippage: 0,
  leverage: 1,
  canShort: true,
  stoploss: -0.02,
  minimalRoi: { 0: 0.03, 60: 0.02, 240: 0.01 },
  useExitSignal: true,
  exitProfitOnly: false,
  exitProfitOffset: 0,
  ignoreRoiIfEntrySignal: false,
  fillModel: 'freqtrade',
  liquidation: { maintenanceMarginRate: 0.005, buffer: 0.05 },
};
