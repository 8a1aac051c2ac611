import { CodedError } from '#contract/errors.ts';
import type { Exchange } from '#domain/exchange-ports.ts';
import type { Clock } from '#domain/ports.ts';
import { type Candles, createCandles } from '#engine/candles.ts';
import { resampleCandles } from '#engine/indicators/resample.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { SimMarket } from './sim-market.ts';
import { SIM_SYMBOLS } from './sim-symbols.ts';

const MINUTE_MS = TIMEFRAME_MS['1m'];
/** Trading began on the first day of 2017; nothing is older. */
export const SIM_LISTED_MS = Date.UTC(2017, 0, 1);
/** Minutes made at once for longer candles: 45 days, a multiple of every timeframe, 3 MB. */
const CHUNK_MS = 45 * TIMEFRAME_MS['1d'];

export interface SimExchangeOptions {
  /** There are no candles after its time. Default: the system's. */
  readonly clock?: Clock;
  /** Another seed is another market. */
  readonly seed?: number;
}

/**
 * The simulated market `sim`: prices, funding and volumes are a function of seed, symbol and time alone, so any range
 * can be had at once and is the same for ever. Candles of every timeframe are exact aggregates of the one-minute ones.
 * The candle of the running minute is there already and final, unlike on a real exchange.
 */
export class SimExchange implements Exchange {
  readonly name = 'sim';
  readonly #clock: Clock;
  readonly #seed: number;

  constructor({ clock = Date, seed = 1 }: SimExchangeOptions = {}) {
    this.#clock = clock;
    this.#seed = seed;
  }

  async symbols(): Promise<readonly string[]> {
    return [...SIM_SYMBOLS.keys()];
  }

  async fetchCandles(symbol: string, timeframe: Timeframe, start: number, end: number): Promise<Candles> {
    const market = this.#market(symbol);
    const step = TIMEFRAME_MS[timeframe];
    const from = Math.ceil(Math.max(start, SIM_LISTED_MS) / step) * step;
    const to = Math.ceil(Math.min(end, this.#clock.now() + 1) / step) * step;
    const candles = createCandles(Math.max(0, (to - from) / step));
    for (let chunk = from; chunk < to; chunk += CHUNK_MS) {
      const minutes = market.minutes(chunk / MINUTE_MS, Math.min(chunk + CHUNK_MS, to) / MINUTE_MS);
      const part = resampleCandles(minutes, MINUTE_MS, step);
      for (const name of Object.keys(candles) as (keyof Candles)[]) {
        candles[name].set(part[name], (chunk - from) / step);
      }
    }
    return candles;
  }

  async fetchFunding(symbol: string, start: number, end: number): Promise<FundingEvents> {
    const from = Math.max(start, SIM_LISTED_MS);
    return this.#market(symbol).funding(from, Math.min(end, this.#clock.now()));
  }

  /** Any price and any amount may be ordered. */
  async fetchInstrument(): Promise<undefined> {
    return undefined;
  }

  #market(symbol: string): SimMarket {
    const listed = SIM_SYMBOLS.get(symbol);
    if (listed) return new SimMarket(listed, this.#seed);
    throw new CodedError('DATA003', {
      message: `${symbol} is not listed on sim`,
      context: { symbol, exchange: 'sim', listed: [...SIM_SYMBOLS.keys()] },
    });
  }
}
