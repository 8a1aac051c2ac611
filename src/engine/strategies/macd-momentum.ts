import { adx, allOf, crossedAbove, crossedBelow, macd, where } from '../indicators/index.ts';
import { defineStrategy } from '../strategy.ts';
import { DEFAULT_PAIRS, DEFAULT_STAKE } from './default-pairs.ts';

/**
 * Follows turns of momentum: enters when the MACD line crosses its signal line while the directional index shows a trend. The
 * opposite crossing closes the trade, regardless of the index.
 */
export const macdMomentum = defineStrategy({
  name: 'macd_momentum',
  description: 'Trades MACD crossings while the ADX shows a trend; targets sink with time.',
  timeframe: '1h',
  pairs: DEFAULT_PAIRS,
  stakeAmount: DEFAULT_STAKE,
  parameters: {
    fast: { kind: 'integer', default: 12, min: 5, max: 20, description: 'Fast average, candles' },
    slow: { kind: 'integer', default: 26, min: 21, max: 60, description: 'Slow average, candles' },
    signal: { kind: 'integer', default: 9, min: 3, max: 20, description: 'Signal average, candles' },
    adx_period: { kind: 'integer', default: 14, min: 5, max: 30, description: 'Directional index, candles' },
    adx_least: { kind: 'number', default: 20, min: 0, max: 45, description: 'Least ADX for an entry' },
  },
  startupCandles: ({ slow, signal, adx_period }) => Math.max(5 * (slow + signal), 20 * adx_period),
  indicators: (candles, { fast, slow, signal, adx_period }) => {
    const lines = macd(candles.close, fast, slow, signal);
    return { macd: lines.macd, signal: lines.signal, adx: adx(candles, adx_period).adx };
  },
  signals: (candles, columns, { adx_least }) => {
    const strength = columns.adx;
    const trending = where(candles.timestamp.length, (row) => strength[row]! >= adx_least);
    const rising = crossedAbove(columns.macd, columns.signal);
    const falling = crossedBelow(columns.macd, columns.signal);
    return {
      enterLong: allOf(rising, trending),
      exitLong: falling,
      enterShort: allOf(falling, trending),
      exitShort: rising,
    };
  },
  canShort: true,
  stoploss: -0.06,
  minimalRoi: { 0: 0.12, 720: 0.06, 2880: 0.02 },
});
