import { type Candles, createCandles } from '#engine/candles.ts';
import { createRandom } from '#engine/random.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';

/** Open time of the first candle, ms. */
export const CANDLES_START = Date.UTC(2024, 0, 1);

/** Standard deviation of one minute's logarithmic return: about 70 % per year. */
const MINUTE_VOLATILITY = 0.001;

/**
 * A seeded geometric random walk without gaps: every candle opens at the previous close.
 * The same arguments give the same candles.
 */
export function randomCandles(seed: number, length: number, timeframe: Timeframe): Candles {
  const random = createRandom(seed);
  const step = TIMEFRAME_MS[timeframe];
  const sigma = MINUTE_VOLATILITY * Math.sqrt(step / TIMEFRAME_MS['1m']);
  // The sum of three uniforms on (-1, 1) has variance 1 and is close enough to a normal for a benchmark.
  const normal = () => 2 * (random() + random() + random()) - 3;
  const candles = createCandles(length);
  let price = 100;
  for (let i = 0; i < length; i++) {
    const close = price * Math.exp(sigma * normal());
    const wick = sigma * 0.5;
    candles.timestamp[i] = CANDLES_START + i * step;
    candles.open[i] = price;
    candles.high[i] = Math.max(price, close) * (1 + wick * random());
    candles.low[i] = Math.min(price, close) * (1 - wick * random());
    candles.close[i] = close;
    candles.volume[i] = 1 + 99 * random();
    price = close;
  }
  return candles;
}
