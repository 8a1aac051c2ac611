import { simulate } from '#engine/simulator/simulate.ts';
import { SimulationMemory } from '#engine/simulator/state/memory.ts';
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
    const run = (input: readonly PairInput[], memory?: SimulationMemory) =>
      simulate(input, CROSSOVER_SETTINGS, { ...(memory && { memory }) }).curve!.drawdown;
    runShort(run);
    const memory = new SimulationMemory();
    const reused = await compareWithBound(candles, () => run(pairs, memory));
    const allocated = await compareWithBound(candles, () => run(pairs));
    return [
      boundMeasurement('trades, curve and drawdown, in the columns of the run before', reused, 0.3),
      boundMeasurement('in new columns', allocated),
    ];
  },
} satisfies Bench;
