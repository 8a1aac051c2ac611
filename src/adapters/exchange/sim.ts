import { MINUTE_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { SIMULATED } from '#contract/values/names.ts';
import { TRADING_MODES } from '#contract/values/trading-modes.ts';
import type { Exchange } from '#domain/data/exchange-ports.ts';
import type { Clock } from '#domain/ports.ts';
import { type Candles, createCandles } from '#engine/candles.ts';
import { resampleCandles } from '#engine/indicators/resample.ts';
import { hash32, mix32 } from '#engine/random.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import { ceilToGrid, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { addPath, BLOCK_MINUTES, levelAt, normalFrom, type Path } from './sim-path.ts';

/** Trading began on the first day of 2017; nothing is older. */
export const SIM_LISTED_MS = Date.UTC(2017, 0, 1);
/** Chunk of minutes for longer candles: 45 days, a multiple of every timeframe, 3 MB. */
const CHUNK_MS = 45 * TIMEFRAME_MS['1d'];

/** Parameters of one symbol of the simulated market. */
interface SimSymbol {
  readonly symbol: string;
  /** Central price, quote currency. */
  readonly price: number;
  /** Decimals of its prices. */
  readonly decimals: number;
  /** Sensitivity to the log return of the whole market. */
  readonly beta: number;
  /** Standard deviation per year of its own log return. */
  readonly volatility: number;
  /** Mean turnover per minute, quote currency. */
  readonly turnover: number;
}

type Row = readonly [
  base: string,
  price: number,
  decimals: number,
  beta: number,
  volatility: number,
  turnover: number,
];

const ROWS: readonly Row[] = [
  ['BTC', 60_000, 1, 1, 0.2, 8_000_000],
  ['ETH', 3_000, 2, 1.15, 0.35, 5_000_000],
  ['BNB', 550, 2, 0.9, 0.4, 600_000],
  ['SOL', 150, 3, 1.4, 0.6, 1_500_000],
  ['XRP', 0.6, 4, 1.05, 0.6, 700_000],
  ['DOGE', 0.14, 5, 1.3, 0.75, 600_000],
  ['ADA', 0.45, 4, 1.15, 0.6, 250_000],
  ['AVAX', 32, 3, 1.35, 0.65, 250_000],
  ['LINK', 15, 3, 1.15, 0.6, 250_000],
  ['DOT', 6.5, 3, 1.2, 0.55, 150_000],
  ['LTC', 80, 2, 0.95, 0.45, 200_000],
  ['BCH', 420, 2, 1.05, 0.6, 150_000],
  ['TRX', 0.12, 5, 0.6, 0.35, 120_000],
  ['UNI', 8, 3, 1.2, 0.7, 120_000],
  ['ATOM', 7.5, 3, 1.15, 0.55, 100_000],
  ['ETC', 25, 3, 1.15, 0.55, 100_000],
  ['FIL', 5, 3, 1.25, 0.65, 100_000],
  ['NEAR', 5, 3, 1.35, 0.75, 150_000],
  ['APT', 9, 3, 1.35, 0.75, 120_000],
  ['ARB', 0.9, 4, 1.3, 0.7, 120_000],
  ['OP', 1.8, 4, 1.35, 0.75, 100_000],
  ['SUI', 1.5, 4, 1.4, 0.85, 200_000],
  ['AAVE', 110, 2, 1.2, 0.7, 90_000],
  ['XLM', 0.11, 5, 1, 0.6, 60_000],
];

/** Symbols of the simulated market: perpetual futures settled in USDT. */
export const SIM_SYMBOLS: ReadonlyMap<string, SimSymbol> = new Map(
  ROWS.map(([base, price, decimals, beta, volatility, turnover]) => {
    const symbol = `${base}/USDT:USDT`;
    return [symbol, { symbol, price, decimals, beta, volatility, turnover }];
  }),
);

interface SimExchangeOptions {
  /** Candles end at its time. Default: the system clock. */
  readonly clock?: Clock;
  /** Another seed is another market. */
  readonly seed?: number;
}

/**
 * The simulated market `sim`. Prices, funding and volumes are a function of seed, symbol and time only, so every range is
 * available immediately and never changes. Candles of every timeframe are exact aggregates of the one-minute candles.
 * Unlike on a real exchange, the candle of the current minute exists and is final.
 */
export class SimExchange implements Exchange {
  readonly name = SIMULATED;
  readonly modes = TRADING_MODES;
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
    const from = ceilToGrid(Math.max(start, SIM_LISTED_MS), step);
    const to = ceilToGrid(Math.min(end, this.#clock.now() + 1), step);
    const candles = createCandles(Math.max(0, (to - from) / step));
    // A chunk holds whole candles.
    const chunkMs = Math.floor(CHUNK_MS / step) * step;
    for (let chunk = from; chunk < to; chunk += chunkMs) {
      const minutes = market.minutes(chunk / MINUTE_MS, Math.min(chunk + chunkMs, to) / MINUTE_MS);
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
    // Spot has the prices of the perpetual.
    const listed = SIM_SYMBOLS.get(symbol) ?? SIM_SYMBOLS.get(`${symbol}:USDT`);
    if (listed) return new SimMarket(listed, this.#seed);
    throw new CodedError('DATA003', {
      message: `${symbol} is not listed on sim`,
      context: { symbol, exchange: SIMULATED, listed: [...SIM_SYMBOLS.keys()] },
    });
  }
}

const MINUTES_PER_DAY = 1_440;
const FUNDING_MS = 8 * 3_600_000;

/** Standard deviation per year of the log return of the whole market. */
const MARKET_VOLATILITY = 0.5;
/** Standard deviation of the levels at year boundaries around the listed price, as a share of a year's. */
const YEARLY_SPREAD = 0.7;

/** Sums of multiples of a power of two are exact, so sums of volumes do not depend on order and grouping. */
const VOLUME_STEP = 1 / 256;
/** Price below which volumes are integers. */
const WHOLE_COINS_BELOW = 1;

const BASE_FUNDING = 0.0001;
const MAX_FUNDING = 0.0075;
/** Change of the funding rate per unit of the log return of the last eight hours. */
const FUNDING_SLOPE = 0.01;

/** One symbol of the simulated market: a pure function of seed, symbol and time. */
class SimMarket {
  readonly #symbol: SimSymbol;
  readonly #market: Path;
  readonly #own: Path;
  readonly #seed: number;
  /** Ticks of 1. */
  readonly #scale: number;

  constructor(symbol: SimSymbol, seed: number) {
    this.#symbol = symbol;
    this.#scale = 10 ** symbol.decimals;
    this.#seed = hash32(`${symbol.symbol} ${seed}`);
    this.#market = pathOf(hash32(`market ${seed}`), MARKET_VOLATILITY);
    this.#own = pathOf(this.#seed, symbol.volatility);
  }

  /** One-minute candles of minutes `[from, to)`, counted from 1970. A candle opens where the last one closed. */
  minutes(from: number, to: number): Candles {
    const count = to - from;
    const level = new Float64Array(count + 1).fill(Math.log(this.#symbol.price));
    const variance = new Float64Array(count);
    addPath(this.#market, this.#symbol.beta, { from, level, variance });
    addPath(this.#own, 1, { from, level, variance });
    const candles = createCandles(count);
    let close = this.#round(Math.exp(level[0]!));
    for (let i = 0; i < count; i++) {
      const open = close;
      close = this.#round(Math.exp(level[i + 1]!));
      candles.timestamp[i] = (from + i) * MINUTE_MS;
      candles.open[i] = open;
      candles.close[i] = close;
      this.#extremes(candles, i, from + i, level, variance[i]!);
      candles.volume[i] = this.#volume(from + i, open, variance[i]!);
    }
    return candles;
  }

  /** Funding events every eight hours in `[start, end]` ms. */
  funding(start: number, end: number): FundingEvents {
    const first = Math.ceil(start / FUNDING_MS);
    const count = Math.max(0, Math.floor(end / FUNDING_MS) - first + 1);
    const timestamp = new Float64Array(count);
    const rate = new Float64Array(count);
    const markPrice = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      timestamp[i] = (first + i) * FUNDING_MS;
      const now = this.#level(timestamp[i]! / MINUTE_MS);
      const before = this.#level((timestamp[i]! - FUNDING_MS) / MINUTE_MS);
      const noise = normalFrom(this.#draw(first + i, 3)) * BASE_FUNDING * 0.5;
      const raw = BASE_FUNDING + FUNDING_SLOPE * (now - before) + noise;
      rate[i] = Math.round(Math.min(MAX_FUNDING, Math.max(-MAX_FUNDING, raw)) * 1e8) / 1e8;
      markPrice[i] = this.#round(Math.exp(now));
    }
    return { timestamp, rate, markPrice };
  }

  /** Extremes of a Brownian bridge between two levels: maximum and minimum have exact inverse distributions. */
  #extremes(candles: Candles, i: number, minute: number, level: Float64Array, variance: number): void {
    const [a, b] = [level[i]!, level[i + 1]!];
    const reach = (stream: number) => {
      const uniform = (this.#draw(minute, stream) + 1) / 4_294_967_296;
      return Math.sqrt((b - a) * (b - a) - 2 * variance * Math.log(uniform));
    };
    // Opens and closes were rounded separately, so a rounded extreme can lie inside them.
    const { open, close } = candles;
    const high = this.#round(Math.exp((a + b + reach(0)) / 2));
    const low = this.#round(Math.exp((a + b - reach(1)) / 2));
    candles.high[i] = Math.max(high, open[i]!, close[i]!);
    candles.low[i] = Math.min(low, open[i]!, close[i]!);
  }

  /** Volume in base currency. It rises with the price move and is higher by day than by night, and on weekdays. */
  #volume(minute: number, price: number, variance: number): number {
    const { beta, volatility, turnover } = this.#symbol;
    const usual = ((beta * MARKET_VOLATILITY) ** 2 + volatility ** 2) / BLOCK_MINUTES;
    const minuteOfDay = minute % MINUTES_PER_DAY;
    // A triangle from 0.6 at 03:00 to 1.4 at 15:00 UTC.
    const hours = Math.abs(((minuteOfDay / 60 + 9) % 24) - 12);
    const day = Math.floor(minute / MINUTES_PER_DAY + 4) % 7;
    const season = (0.6 + (0.8 * hours) / 12) * (day === 0 || day === 6 ? 0.7 : 1);
    const noise = 0.4 + 1.2 * (this.#draw(minute, 2) / 4_294_967_296);
    const volume = (turnover / price) * Math.sqrt(variance / usual) * season * noise;
    const step = price < WHOLE_COINS_BELOW ? 1 : VOLUME_STEP;
    return Math.max(1, Math.round(volume / step)) * step;
  }

  #level(minute: number): number {
    const market = this.#symbol.beta * levelAt(this.#market, minute);
    return Math.log(this.#symbol.price) + market + levelAt(this.#own, minute);
  }

  #round(price: number): number {
    return Math.max(1, Math.round(price * this.#scale)) / this.#scale;
  }

  /** Hash of a minute (or event) and of the random stream. */
  #draw(index: number, stream: number): number {
    return mix32(mix32(this.#seed + stream * 0x3c6ef372) ^ mix32(index));
  }
}

function pathOf(seed: number, volatility: number): Path {
  return { seed, variance: volatility ** 2, spread: YEARLY_SPREAD * volatility };
}
