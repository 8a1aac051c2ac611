import { bollinger, crossedAbove, crossedBelow, sma, where } from '../indicators/index.ts';
import { defineStrategy } from '../strategy.ts';
import { DEFAULT_PAIRS, DEFAULT_STAKE } from './default-pairs.ts';

const SQUEEZE = 1;
const BREAKOUT = 2;

/**
 * Trades the close beyond a Bollinger band in its direction, until the price is back at the average. The tag `squeeze` marks
 * breakouts after a candle with bands narrower than usual. A trailing stop secures profits above its offset.
 */
export const bollingerBreakout = defineStrategy({
  name: 'bollinger_breakout',
  description: 'Trades closes beyond the Bollinger bands in their direction, with a trailing stop.',
  timeframe: '1h',
  pairs: DEFAULT_PAIRS,
  stakeAmount: DEFAULT_STAKE,
  parameters: {
    period: { kind: 'integer', default: 20, min: 10, max: 60, description: 'Length of the average, candles' },
    deviations: {
      kind: 'number',
      default: 2,
      min: 1,
      max: 3.5,
      description: 'Half width, standard deviations',
    },
    squeeze_period: {
      kind: 'integer',
      default: 100,
      min: 20,
      max: 300,
      description: 'Candles over which the usual width is averaged',
    },
  },
  startupCandles: ({ period, squeeze_period }) => period + squeeze_period,
  indicators: ({ close }, { period, deviations, squeeze_period }) => {
    const { upper, middle, lower } = bollinger(close, period, deviations);
    const width = middle.map((average, row) => (upper[row]! - lower[row]!) / average);
    return { upper, middle, lower, width, usualWidth: sma(width, squeeze_period) };
  },
  signals: ({ close }, columns) => {
    const { upper, middle, lower, width, usualWidth } = columns;
    const isNarrow = where(close.length, (row) => row > 0 && width[row - 1]! < usualWidth[row - 1]!);
    return {
      enterLong: crossedAbove(close, upper),
      exitLong: crossedBelow(close, middle),
      enterShort: crossedBelow(close, lower),
      exitShort: crossedAbove(close, middle),
      enterTag: isNarrow.map((narrow) => (narrow ? SQUEEZE : BREAKOUT)),
      tags: ['', 'squeeze', 'breakout'],
    };
  },
  canShort: true,
  stoploss: -0.06,
  trailing: { positive: 0.02, offset: 0.04, only_offset_is_reached: true },
});
