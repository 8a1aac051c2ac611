import { simulate } from '#engine/simulator/simulate.ts';
import type { PairInput } from '#engine/simulator/types.ts';
import type { Bench } from './support/bench.ts';
import { randomCandles } from './support/candles.ts';
import { CROSSOVER_SETTINGS, crossoverPair, runShort } from './support/crossover.ts';
import { boundMeasurement, compareWithBound } from './support/measure.ts';

/** Given signals, stop loss and ROI, no equity curve. A run keeps trades as records and builds objects at the first read. */
export default {
  name: 'simulate-trades',
  description: 'Simulation from given signals with stop loss and ROI: 1,000,000 candles to its trades',
  async run() {
    const candles = randomCandles(1, 1_000_000, '1m');
    const pairs = [crossoverPair('BTC/USDT:USDT', candles)];
    const subject = (input: readonly PairInput[] = pairs) =>
      simulate(input, CROSSOVER_SETTINGS, { equity: false });
    runShort(subject);
    const label = `${subject().trades.length} trades`;
    const records = await compareWithBound(candles, () => subject());
    const objects = await compareWithBound(candles, () => subject().trades);
    return [
      boundMeasurement(label, records, 0.35),
      boundMeasurement(`${label}, built as objects with their price ranges`, objects),
    ];
  },
} satisfies Bench;
