import { atr, donchian, shift, where } from '../indicators/index.ts';
import { defineStrategy } from '../strategy.ts';
import { DEFAULT_PAIRS, DEFAULT_STAKE } from './default-pairs.ts';

/**
 * The Turtles' system. Enters on a close beyond the extreme of the last weeks; exits on a close beyond the opposite extreme of
 * fewer candles. The stop is a few average true ranges behind the best price.
 */
export const donchianTrend = defineStrategy({
  name: 'donchian_trend',
  description: 'Turtle-style: trades new highs and lows of a channel, with a stop by average true range.',
  timeframe: '4h',
  pairs: DEFAULT_PAIRS,
  stakeAmount: DEFAULT_STAKE,
  parameters: {
    entry_period: { kind: 'integer', default: 20, min: 10, max: 80, description: 'Entry channel, candles' },
    exit_period: { kind: 'integer', default: 10, min: 5, max: 40, description: 'Exit channel, candles' },
    atr_period: { kind: 'integer', default: 20, min: 5, max: 50, description: 'Average true range, candles' },
    stop_ranges: {
      kind: 'number',
      default: 3,
      min: 1,
      max: 8,
      description: 'Distance of the stop from the best price, average true ranges',
    },
  },
  startupCandles: ({ entry_period, exit_period, atr_period }) =>
    Math.max(entry_period, exit_period, 15 * atr_period) + 1,
  indicators: (candles, { entry_period, exit_period, atr_period, stop_ranges }) => {
    const entry = donchian(candles, entry_period);
    const exit = donchian(candles, exit_period);
    const range = atr(candles, atr_period);
    return {
      // The channel of the candles before: a candle cannot break a channel that includes it.
      entryHigh: shift(entry.upper, 1),
      entryLow: shift(entry.lower, 1),
      exitHigh: shift(exit.upper, 1),
      exitLow: shift(exit.lower, 1),
      stopDistance: range.map((value, row) => (stop_ranges * value) / candles.close[row]!),
    };
  },
  signals: ({ close }, { entryHigh, entryLow, exitHigh, exitLow }) => ({
    enterLong: where(close.length, (row) => close[row]! > entryHigh[row]!),
    exitLong: where(close.length, (row) => close[row]! < exitLow[row]!),
    enterShort: where(close.length, (row) => close[row]! < entryLow[row]!),
    exitShort: where(close.length, (row) => close[row]! > exitHigh[row]!),
  }),
  canShort: true,
  stoploss: -0.15,
  callbacks: {
    customStoploss: ({ columns, index }, trade) => {
      const distance = columns['stopDistance']?.[index - 1];
      return distance !== undefined && distance > 0 ? distance * trade.leverage : null;
    },
  },
});
