import { allOf, crossedAbove, crossedBelow, defineStrategy, ema, rsi, sma, where } from 'touchstone/engine';

/** Older trades are closed at the next open. */
const MAX_HOURS = 48;

/**
 * Example strategy. It buys the end of a pullback on 1h candles while the 4h trend is up and the volume is above half its
 * average. Optionally it shorts the reverse. Not investment advice.
 */
export default defineStrategy({
  name: 'my_pullback',
  description: 'Example: joins the 4h trend at the end of a 1h pullback.',
  timeframe: '1h',
  pairs: ['BTC/USDT:USDT', 'ETH/USDT:USDT'],
  stakeAmount: 100,
  parameters: {
    rsi_period: { kind: 'integer', default: 10, min: 5, max: 30, description: 'Length of the RSI, candles' },
    pullback: {
      kind: 'number',
      default: 40,
      min: 20,
      max: 50,
      description: 'RSI level that ends a pullback',
    },
    trend_period: {
      kind: 'integer',
      default: 30,
      min: 10,
      max: 100,
      description: 'Trend average, 4h candles',
    },
    shorts: {
      kind: 'choice',
      default: true,
      choices: [true, false],
      description: 'Whether to trade downtrends',
    },
  },

  // Exponential averages need about five lengths, and this counts for each timeframe that indicators() runs on.
  startupCandles: ({ rsi_period, trend_period }) => Math.max(15 * rsi_period, 5 * trend_period),

  informativeTimeframes: ['4h'],

  // Runs once on the 1h candles and once on the 4h candles. Return the columns that either timeframe needs.
  indicators: ({ close, volume }, { rsi_period, trend_period }) => ({
    close,
    rsi: rsi(close, rsi_period),
    trend: ema(close, trend_period),
    usualVolume: sma(volume, 50),
  }),

  // A signal on row i may use rows 0..i; it is acted on at the open of candle i + 1.
  signals: ({ volume }, columns, { pullback, shorts }, informative) => {
    const length = volume.length;
    const { rsi: index, usualVolume } = columns;
    const { close, trend } = informative['4h'];
    const traded = where(length, (i) => volume[i]! > 0.5 * usualVolume[i]!);
    const up = where(length, (i) => close[i]! > trend[i]!);
    const down = where(length, (i) => shorts && close[i]! < trend[i]!);
    return {
      enterLong: allOf(crossedAbove(index, pullback), up, traded),
      exitLong: crossedAbove(index, 75),
      enterShort: allOf(crossedBelow(index, 100 - pullback), down, traded),
      exitShort: crossedBelow(index, 25),
    };
  },

  canShort: true,
  stoploss: -0.05,
  trailing: { positive: 0.015, offset: 0.03, only_offset_is_reached: true },
  minimalRoi: { 0: 0.08, 1440: 0.03 },

  callbacks: {
    customExit: ({ time }, trade) => (time - trade.openedAt >= MAX_HOURS * 3_600_000 ? 'too_old' : null),
  },
});
