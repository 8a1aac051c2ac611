import { drawdownOf } from '#engine/metrics/equity-curve.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { PairInput } from '#engine/simulator/types.ts';
import type { Bench } from './support/bench.ts';
import { randomCandles } from './support/candles.ts';
import { CROSSOVER_SETTINGS, crossoverPair, runShort } from './support/crossover.ts';
import { boundMeasurement, compareWithBound } from './support/measure.ts';

export default {
  name: 'simulate-equity',
  description: 'As simulate-trades, with the equity curve of every candle and its drawdown',
  async run() {
    const candles = randomCandles(1, 1_000_000, '1m');
    const pairs = [crossoverPair('BTC/USDT:USDT', candles)];
    const subject = (input: readonly PairInput[] = pairs) => {
      const { curve } = simulate(input, CROSSOVER_SETTINGS);
      return drawdownOf(CROSSOVER_SETTINGS.startingBalance, curve!.equity);
    };
    runShort(subject);
    return [
      boundMeasurement('trades, curve and drawdown', await compareWithBound(candles, () => subject()), 0.3),
    ];
  },
} satisfies Bench;
