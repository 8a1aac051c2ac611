import { simulate } from '#engine/simulator/simulate.ts';
import type { Bench } from './support/bench.ts';
import { randomCandles } from './support/candles.ts';
import { CROSSOVER_SETTINGS, crossoverPair } from './support/crossover.ts';
import { boundFigure, compareWithBound } from './support/measure.ts';

/** Signals given, stop loss and ROI; trades as the API returns them, no equity curve. */
export default {
  name: 'simulate-trades',
  description: 'Simulation from given signals with stop loss and ROI: 1,000,000 candles to a list of trades',
  async run() {
    const candles = randomCandles(1, 1_000_000, '1m');
    const pairs = [crossoverPair('BTC/USDT:USDT', candles)];
    const subject = () => simulate(pairs, CROSSOVER_SETTINGS, { equity: false });
    const { trades } = subject();
    const comparison = await compareWithBound(candles, subject);
    return [boundFigure(`${trades.length} trades`, comparison, 0.35)];
  },
} satisfies Bench;
