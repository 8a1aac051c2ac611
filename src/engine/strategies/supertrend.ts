import { crossedAbove, crossedBelow, supertrend } from '../indicators/index.ts';
import { defineStrategy } from '../strategy.ts';
import { DEFAULT_PAIRS, DEFAULT_STAKE } from './default-pairs.ts';

/** Long in an uptrend, short in a downtrend of the Supertrend line; always in the market after its first turn. */
export const supertrendFollower = defineStrategy({
  name: 'supertrend',
  description: 'Long while the Supertrend line is below the price, short while it is above.',
  timeframe: '1h',
  pairs: DEFAULT_PAIRS,
  stakeAmount: DEFAULT_STAKE,
  parameters: {
    period: { kind: 'integer', default: 10, min: 5, max: 50, description: 'Average true range, candles' },
    multiplier: {
      kind: 'number',
      default: 3,
      min: 1,
      max: 8,
      description: 'Distance of the line, average true ranges',
    },
  },
  startupCandles: ({ period }) => 20 * period,
  indicators: (candles, { period, multiplier }) => ({ ...supertrend(candles, period, multiplier) }),
  signals: (_candles, columns) => {
    const turnsUp = crossedAbove(columns.direction, 0);
    const turnsDown = crossedBelow(columns.direction, 0);
    return { enterLong: turnsUp, exitLong: turnsDown, enterShort: turnsDown, exitShort: turnsUp };
  },
  canShort: true,
  stoploss: -0.1,
});
