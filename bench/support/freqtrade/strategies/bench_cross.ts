import { crossings, emas } from '#engine/indicators/index.ts';
import { defineStrategy } from '#engine/strategy.ts';

/** `BenchCross` of twins.py. */
export default defineStrategy({
  name: 'bench_cross',
  description: 'Long while the fast average is above the slow one.',
  timeframe: '5m',
  pairs: ['BTC/USDT:USDT'],
  stakeAmount: 1000,
  parameters: {},
  startupCandles: () => 250,
  indicators: ({ close }) => {
    const [fast, slow] = emas(close, [20, 50]);
    return { fast, slow };
  },
  signals: (_candles, { fast, slow }) => {
    const { above, below } = crossings(fast, slow);
    return { enterLong: above, exitLong: below };
  },
  stoploss: -0.08,
});
