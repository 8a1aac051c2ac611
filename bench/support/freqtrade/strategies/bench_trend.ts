import { allOf, crossedAbove, ema, rsi, where } from '#engine/indicators/index.ts';
import { defineStrategy } from '#engine/strategy.ts';

/** `BenchTrend` of twins.py. */
export default defineStrategy({
  name: 'bench_trend',
  description: 'Buys the end of a pullback while the hourly trend is up.',
  timeframe: '5m',
  pairs: ['BTC/USDT:USDT'],
  stakeAmount: 1000,
  parameters: {},
  // 250 hours.
  startupCandles: () => 250,
  informativeTimeframes: ['1h'],
  indicators: ({ close }) => ({ rsi: rsi(close, 14), fast: ema(close, 20), slow: ema(close, 50) }),
  signals: ({ close }, { rsi: index }, _params, informative) => {
    const { fast, slow } = informative['1h'];
    const up = where(close.length, (i) => fast[i]! > slow[i]!);
    return {
      enterLong: allOf(crossedAbove(index, 35), up),
      exitLong: where(close.length, (i) => index[i]! > 75),
    };
  },
  stoploss: -0.04,
  minimalRoi: { 0: 0.03, 120: 0.02, 480: 0.01 },
  trailing: { positive: 0.005, offset: 0.01, only_offset_is_reached: true },
  protections: [
    { method: 'CooldownPeriod', stop_duration_candles: 3 },
    { method: 'StoplossGuard', lookback_period_candles: 288, trade_limit: 3, stop_duration_candles: 72 },
  ],
});
