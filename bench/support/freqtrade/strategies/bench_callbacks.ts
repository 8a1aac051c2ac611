import { crossings, emas } from '#engine/indicators/index.ts';
import { defineStrategy } from '#engine/strategy.ts';

const TWO_DAYS_MS = 2 * 86_400_000;

/** `BenchCallbacks` of twins.py. */
export default defineStrategy({
  name: 'bench_callbacks',
  description: 'Long while the fast average is above the slow one, with additions and a stop of its own.',
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
  stoploss: -0.1,
  maxAdjustments: 2,
  callbacks: {
    customStoploss: (_context, _trade, _best, profit) =>
      profit > 0.04 ? -0.01 : profit > 0.02 ? -0.02 : null,
    customExit: ({ time }, trade) => (time - trade.openedAt >= TWO_DAYS_MS ? 'too_old' : null),
    adjustPosition: (_context, trade, _price, profit) => (profit < -0.015 * trade.entries ? 500 : null),
  },
});
