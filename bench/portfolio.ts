import { simulate } from '#engine/simulator/simulate.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { Bench } from './support/bench.ts';
import { randomCandles } from './support/candles.ts';
import { CROSSOVER_SETTINGS, crossoverPair } from './support/crossover.ts';
import { medianTime } from './support/measure.ts';

const PAIRS = 20;
/** One year of 5-minute candles. */
const CANDLES = 105_120;

export default {
  name: 'portfolio',
  description:
    '20 pairs x 1 year of 5m candles on one wallet with at most 5 open trades, including the equity curve',
  async run() {
    const pairs = Array.from({ length: PAIRS }, (_, i) =>
      crossoverPair(`P${i}/USDT:USDT`, randomCandles(i + 1, CANDLES, '5m')),
    );
    const settings = { ...CROSSOVER_SETTINGS, timeframeMs: TIMEFRAME_MS['5m'], maxOpenTrades: 5 };
    const subject = () => simulate(pairs, settings);
    const { trades } = subject();
    const ms = await medianTime(subject);
    const rows = PAIRS * CANDLES;
    const detail = `${ms.toFixed(1)} ms for ${rows} candle rows`;
    return [
      {
        label: `${trades.length} trades`,
        value: rows / ms / 1000,
        unit: 'M rows/s',
        target: { atLeast: 20 },
        detail,
      },
    ];
  },
} satisfies Bench;
