import { type Candles, createCandles } from '#engine/candles.ts';
import { createRandom, type Random } from '#engine/random.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';

/** Drift per candle and volatility of a regime. A market changes between trends, ranges and crashes. */
const REGIMES = [
  { drift: 0.0012, volatility: 0.006 },
  { drift: -0.0012, volatility: 0.007 },
  { drift: 0, volatility: 0.003 },
  { drift: 0, volatility: 0.015 },
  { drift: 0.004, volatility: 0.01 },
  { drift: -0.005, volatility: 0.02 },
] as const;

/** Seeded candles with trends and regimes of 50 to 300 candles, starting on 1 January 2024. */
export function marketCandles(seed: number, length: number, timeframe: Timeframe = '1h'): Candles {
  const random = createRandom(seed);
  const candles = createCandles(length);
  let price = 100;
  let left = 0;
  let regime: (typeof REGIMES)[number] = REGIMES[0];
  for (let row = 0; row < length; row++) {
    if (left-- <= 0) {
      regime = REGIMES[Math.floor(random() * REGIMES.length)]!;
      left = 50 + Math.floor(random() * 250);
    }
    const close = price * Math.exp(regime.drift + regime.volatility * normal(random));
    candles.timestamp[row] = Date.UTC(2024, 0, 1) + row * TIMEFRAME_MS[timeframe];
    candles.open[row] = price;
    candles.high[row] = Math.max(price, close) * (1 + regime.volatility * 0.5 * random());
    candles.low[row] = Math.min(price, close) * (1 - regime.volatility * 0.5 * random());
    candles.close[row] = close;
    candles.volume[row] = random() < 0.02 ? 0 : 1 + 1000 * random() ** 3;
    price = close;
  }
  return candles;
}

function normal(random: Random): number {
  return 2 * (random() + random() + random()) - 3;
}
