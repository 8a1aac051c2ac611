import { crossings, emas } from '../indicators/index.ts';
import { defineStrategy } from '../strategy.ts';
import { DEFAULT_PAIRS, DEFAULT_STAKE } from './default-pairs.ts';

/**
 * Trend following with two exponential averages: long while the fast one is above the slow one, short while it is below.
 * Every crossing reverses the position.
 */
export const emaCrossover = defineStrategy({
  name: 'ema_crossover',
  description: 'Follows the trend: long when the fast average crosses above the slow one, short below.',
  timeframe: '1h',
  pairs: DEFAULT_PAIRS,
  stakeAmount: DEFAULT_STAKE,
  parameters: {
    fast: {
      kind: 'integer',
      default: 20,
      min: 5,
      max: 45,
      description: 'Length of the fast average, candles',
    },
    slow: {
      kind: 'integer',
      default: 50,
      min: 50,
      max: 200,
      description: 'Length of the slow average, candles',
    },
  },
  // After five lengths the start has a weight of e^-10 in the average.
  startupCandles: ({ slow }) => 5 * slow,
  indicators: ({ close }, lengths) => {
    const [fast, slow] = emas(close, [lengths.fast, lengths.slow]);
    return { fast, slow };
  },
  signals: (_candles, { fast, slow }) => {
    const { above, below } = crossings(fast, slow);
    return { enterLong: above, exitLong: below, enterShort: below, exitShort: above };
  },
  canShort: true,
  stoploss: -0.08,
});
