import { defineStrategy } from '../strategy.ts';
import { ALL_TIMEFRAMES } from '../timeframe.ts';
import { DEFAULT_PAIRS, DEFAULT_STAKE } from './default-pairs.ts';

/** The baseline: buys each pair on the first candle it can and holds it to the end of the run. */
export const buyAndHold = defineStrategy({
  name: 'buy_and_hold',
  description: 'Buys on the first candle and holds to the end: what the others must beat.',
  timeframe: '1h',
  timeframes: ALL_TIMEFRAMES,
  pairs: DEFAULT_PAIRS,
  stakeAmount: DEFAULT_STAKE,
  parameters: {},
  startupCandles: () => 0,
  indicators: () => ({}),
  signals: (candles) => ({ enterLong: new Uint8Array(candles.timestamp.length).fill(1) }),
  stoploss: -0.99,
});
