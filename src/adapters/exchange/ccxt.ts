import { setTimeout as wait } from 'node:timers/promises';
import { CodedError } from '#contract/errors.ts';
import type { Exchange } from '#domain/exchange-ports.ts';
import type { Clock } from '#domain/ports.ts';
import { type Candles, createCandles } from '#engine/candles.ts';
import type { Instrument } from '#engine/instrument.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import {
  BadReply,
  type CcxtClient,
  type CcxtMarket,
  type CcxtOptions,
  openCcxtClient,
} from './ccxt-client.ts';
import { fetchFundingEvents } from './ccxt-funding.ts';
import { instrumentOf } from './ccxt-instrument.ts';
import { fetchPages } from './ccxt-pages.ts';
import { RetryingCaller, type RetryOptions } from './retry.ts';

export interface CcxtExchangeOptions extends CcxtOptions, Partial<RetryOptions> {}

type Markets = Readonly<Record<string, CcxtMarket>>;

/** A symbol that is not among markets so old may have been listed since. */
const MARKETS_AGE_MS = 10 * 60_000;
/** Within this time of now the exchange is asked for its own time: clocks of machines differ by less. */
const CLOCK_ERROR_MS = 10 * 60_000;

/** Any exchange with perpetual futures that ccxt knows, over its public endpoints. */
export class CcxtExchange implements Exchange {
  readonly name: string;
  readonly #client: CcxtClient;
  readonly #caller: RetryingCaller;
  readonly #clock: Clock;
  #markets: { readonly bySymbol: Markets; readonly at: number } | undefined;

  private constructor(name: string, client: CcxtClient, caller: RetryingCaller, clock: Clock) {
    this.name = name;
    this.#client = client;
    this.#caller = caller;
    this.#clock = clock;
  }

  /** Sends nothing. Throws CodedError VAL005 unless `key` is an exchange with perpetual futures. */
  static async open(key: string, options: CcxtExchangeOptions = {}): Promise<CcxtExchange> {
    const clock = options.clock ?? Date;
    const sleep = (ms: number, signal?: AbortSignal) => wait(ms, undefined, signal ? { signal } : {});
    const caller = new RetryingCaller(key, { sleep, random: Math.random, ...options, clock });
    return new CcxtExchange(key, await openCcxtClient(key, options, caller), caller, clock);
  }

  async symbols(): Promise<readonly string[]> {
    const markets = Object.values(await this.#load(undefined));
    const traded = markets.filter((market) => market.swap === true && market.active !== false);
    return traded.map((market) => market.symbol).sort();
  }

  async fetchCandles(
    symbol: string,
    timeframe: Timeframe,
    start: number,
    end: number,
    signal?: AbortSignal,
  ): Promise<Candles> {
    const market = await this.#market(symbol, signal);
    if (this.#client.timeframes[timeframe] === undefined) {
      throw new CodedError('DATA004', {
        message: `${this.name} has no ${timeframe} candles`,
        context: { exchange: this.name, timeframe },
      });
    }
    const step = TIMEFRAME_MS[timeframe];
    const from = Math.ceil(start / step) * step;
    const to = Math.ceil(Math.min(end, await this.#closedBefore(end, step, signal)) / step) * step;
    if (from >= to) return createCandles(0);
    return fetchPages(this.#client, this.#caller, { market, timeframe, start: from, end: to, signal });
  }

  async fetchFunding(
    symbol: string,
    start: number,
    end: number,
    signal?: AbortSignal,
  ): Promise<FundingEvents> {
    const market = await this.#market(symbol, signal);
    return fetchFundingEvents(this.#client, this.#caller, { market, start, end, signal });
  }

  async fetchInstrument(symbol: string, signal?: AbortSignal): Promise<Instrument> {
    // Markets as old as this client would tell rules that may have changed.
    await this.#reload(signal);
    const market = await this.#market(symbol, signal);
    try {
      return instrumentOf(market, this.#client.precisionMode);
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      const message = `The instrument ${symbol} of ${this.name} cannot be true: ${cause.message}`;
      throw new CodedError('SVC002', { message, context: { symbol, exchange: this.name }, cause });
    }
  }

  /** Start of the candle that is forming by the exchange's own clock: ours may be ahead, and its candle kept for ever. */
  async #closedBefore(end: number, step: number, signal: AbortSignal | undefined): Promise<number> {
    const now = this.#clock.now();
    if (end + step + CLOCK_ERROR_MS < now || !this.#client.has.fetchTime)
      return Math.floor(now / step) * step;
    const time = await this.#caller.call(async () => {
      const told = await this.#client.fetchTime();
      if (told === undefined) throw new BadReply('The reply tells no time');
      return told;
    }, signal);
    return Math.floor(time / step) * step;
  }

  async #market(symbol: string, signal: AbortSignal | undefined): Promise<CcxtMarket> {
    const listed = (await this.#load(signal))[symbol] ?? (await this.#reload(signal))[symbol];
    if (listed?.swap === true) return listed;
    throw new CodedError('DATA003', {
      message: `${symbol} is not listed on ${this.name}`,
      context: { symbol, exchange: this.name },
    });
  }

  async #load(signal: AbortSignal | undefined): Promise<Markets> {
    return this.#markets?.bySymbol ?? this.#reload(signal);
  }

  async #reload(signal: AbortSignal | undefined): Promise<Markets> {
    const now = this.#clock.now();
    if (this.#markets && now - this.#markets.at < MARKETS_AGE_MS) return this.#markets.bySymbol;
    const bySymbol = await this.#caller.call(async () => {
      // Without `true`, a load that failed once would be answered by its failure for ever.
      const markets = await this.#client.loadMarkets(true);
      if (!Object.values(markets).some((market) => market.swap))
        throw new BadReply('There are no perpetuals');
      return markets;
    }, signal);
    this.#markets = { bySymbol, at: now };
    return bySymbol;
  }
}
