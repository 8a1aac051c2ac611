import { allOf, crossedAbove, crossedBelow, ema, rsi, where } from '../indicators/index.ts';
import { defineStrategy } from '../strategy.ts';
import { DEFAULT_PAIRS, DEFAULT_STAKE } from './default-pairs.ts';

/**
 * Buys dips of an uptrend and sells rallies of a downtrend. The trend is the hourly close relative to its exponential average.
 * A dip ends when the relative strength index crosses its lower level upwards. Exits when the index is back beyond the middle,
 * or at targets that fall with time.
 */
export const rsiMeanReversion = defineStrategy({
  name: 'rsi_mean_reversion',
  description: 'Buys when the RSI leaves the oversold zone in an hourly uptrend; shorts the mirror image.',
  timeframe: '15m',
  pairs: DEFAULT_PAIRS,
  stakeAmount: DEFAULT_STAKE,
  parameters: {
    rsi_period: { kind: 'integer', default: 14, min: 5, max: 30, description: 'Length of the RSI, candles' },
    // In a trend the index rarely reaches the textbook's 30.
    oversold: {
      kind: 'number',
      default: 35,
      min: 15,
      max: 45,
      description: 'RSI level that ends a dip when crossed upwards; a rally ends at 100 less it',
    },
    exit_level: {
      kind: 'number',
      default: 55,
      min: 50,
      max: 75,
      description: 'RSI level at which a long is closed; a short at 100 less it',
    },
    trend_period: {
      kind: 'integer',
      default: 50,
      min: 20,
      max: 200,
      description: 'Length of the trend average, hours',
    },
  },
  startupCandles: ({ rsi_period, trend_period }) => Math.max(15 * rsi_period, 5 * trend_period),
  informativeTimeframes: ['1h'],
  indicators: ({ close }, { rsi_period, trend_period }) => ({
    close,
    rsi: rsi(close, rsi_period),
    trend: ema(close, trend_period),
  }),
  signals: (candles, columns, { oversold, exit_level }, informative) => {
    const length = candles.timestamp.length;
    const index = columns.rsi;
    const { close, trend } = informative['1h'];
    const uptrend = where(length, (row) => close[row]! > trend[row]!);
    const downtrend = where(length, (row) => close[row]! < trend[row]!);
    return {
      enterLong: allOf(crossedAbove(index, oversold), uptrend),
      exitLong: crossedAbove(index, exit_level),
      enterShort: allOf(crossedBelow(index, 100 - oversold), downtrend),
      exitShort: crossedBelow(index, 100 - exit_level),
    };
  },
  canShort: true,
  stoploss: -0.04,
  minimalRoi: { 0: 0.04, 240: 0.02, 720: 0.01, 1440: 0 },
});
