import { setTimeout as wait } from 'node:timers/promises';
import { HOUR_MS, MINUTE_MS } from '#contract/values/durations.ts';
import { CodedError } from '#contract/values/errors.ts';
import { TRADING_MODES, type TradingMode } from '#contract/values/trading-modes.ts';
import type { Exchange } from '#domain/data/exchange-ports.ts';
import type { Clock } from '#domain/ports.ts';
import { tradingModeOf } from '#domain/shared/validate.ts';
import { type Candles, createCandles } from '#engine/candles.ts';
import type { Instrument } from '#engine/instrument.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import { ceilToGrid, floorToGrid, TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import { InvalidResponse } from './ccxt-body.ts';
import {
  type CcxtClient,
  type CcxtFunding,
  type CcxtMarket,
  type CcxtOptions,
  openCcxtClient,
} from './ccxt-client.ts';
import { fetchPages } from './ccxt-pages.ts';
import { fetchLeverageTiers } from './ccxt-tiers.ts';
import { RetryingCaller, type RetryOptions } from './retry.ts';

export interface CcxtExchangeOptions extends CcxtOptions, Partial<RetryOptions> {}

/** ccxt's names. */
const MARKET_TYPES = { futures: 'swap', spot: 'spot' } as const satisfies Readonly<
  Record<TradingMode, string>
>;

type Markets = Readonly<Record<string, CcxtMarket>>;

/** Older markets are loaded again when a symbol is missing from them: it may have been listed since. */
const MARKETS_AGE_MS = 10 * 60_000;
/** For candles within this time of now, the exchange's own clock is used: machines' clocks differ by less. */
const CLOCK_ERROR_MS = 10 * 60_000;

/** Public endpoints of any exchange with perpetual futures or spot markets that ccxt supports. */
export class CcxtExchange implements Exchange {
  readonly name: string;
  readonly modes: readonly TradingMode[];
  readonly #client: CcxtClient;
  readonly #caller: RetryingCaller;
  readonly #clock: Clock;
  #markets: { readonly bySymbol: Markets; readonly at: number } | undefined;

  private constructor(name: string, client: CcxtClient, caller: RetryingCaller, clock: Clock) {
    this.name = name;
    this.modes = TRADING_MODES.filter((mode) => client.has[MARKET_TYPES[mode]] === true);
    this.#client = client;
    this.#caller = caller;
    this.#clock = clock;
  }

  /**
   * Sends no request.
   *
   * @throws CodedError VAL005 unless `key` is an exchange with perpetual futures or spot markets
   */
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
    const from = ceilToGrid(start, step);
    const to = ceilToGrid(Math.min(end, await this.#closedBefore(end, step, signal)), step);
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
    // Loaded again, because rules may have changed since the client was opened.
    await this.#reload(signal);
    const market = await this.#market(symbol, signal);
    try {
      const instrument = instrumentOf(market, this.#client.precisionMode);
      const leverageTiers = await fetchLeverageTiers(this.#client, this.#caller, this.name, symbol, signal);
      return leverageTiers ? { ...instrument, leverageTiers } : instrument;
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      const message = `Invalid instrument ${symbol} from ${this.name}: ${cause.message}`;
      throw new CodedError('SVC002', { message, context: { symbol, exchange: this.name }, cause });
    }
  }

  /**
   * Open time of the forming candle by the exchange's clock. With a local clock that is ahead, an unfinished candle would
   * be stored permanently.
   */
  async #closedBefore(end: number, step: number, signal: AbortSignal | undefined): Promise<number> {
    const now = this.#clock.now();
    if (end + step + CLOCK_ERROR_MS < now || !this.#client.has.fetchTime) return floorToGrid(now, step);
    const time = await this.#caller.call(async () => {
      const serverTime = await this.#client.fetchTime();
      if (serverTime === undefined) throw new InvalidResponse('The response has no time');
      return serverTime;
    }, signal);
    return floorToGrid(time, step);
  }

  async #market(symbol: string, signal: AbortSignal | undefined): Promise<CcxtMarket> {
    const listed = (await this.#load(signal))[symbol] ?? (await this.#reload(signal))[symbol];
    if (listed?.[MARKET_TYPES[tradingModeOf(symbol)]] === true) return listed;
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
      // Without `true`, ccxt returns the error of a failed load again for every later call.
      const markets = await this.#client.loadMarkets(true);
      if (!Object.values(markets).some(({ swap, spot }) => swap || spot))
        throw new InvalidResponse('The response lists no perpetual futures and no spot markets');
      return markets;
    }, signal);
    this.#markets = { bySymbol, at: now };
    return bySymbol;
  }
}

interface FundingRow {
  /** Time as sent by the exchange, ms. */
  readonly stamp: number;
  readonly time: number;
  readonly rate: number;
  readonly price?: number;
}

/** Page size of an exchange without a known limit, events. */
const PAGE_EVENTS = 100;

interface FundingRequest {
  readonly market: CcxtMarket;
  /** Events in `[start, end]` ms. */
  readonly start: number;
  readonly end: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Funding events, ascending, with the mark prices at which they were paid. Fallback for a missing price: the open of that
 * hour's mark price candle, or of its trade candle on an exchange without mark price candles. Events without any price
 * are omitted. Empty if the exchange publishes no history.
 */
async function fetchFundingEvents(
  client: CcxtClient,
  caller: RetryingCaller,
  request: FundingRequest,
): Promise<FundingEvents> {
  const rows = client.has.fetchFundingRateHistory === true ? await fetchRows(client, caller, request) : [];
  const prices = await missingPrices(client, caller, request, rows);
  const events = rows.flatMap(({ time, rate, price = prices.get(Math.floor(time / HOUR_MS)) }) =>
    price === undefined ? [] : [[time, rate, price] as const],
  );
  events.sort((a, b) => a[0] - b[0]);
  return {
    timestamp: Float64Array.from(events, (event) => event[0]),
    rate: Float64Array.from(events, (event) => event[1]),
    markPrice: Float64Array.from(events, (event) => event[2]),
  };
}

/** Each request covers `limit` hours: funding events are at least one hour apart, so a page holds all of them. */
async function fetchRows(
  client: CcxtClient,
  caller: RetryingCaller,
  { market, start, end, signal }: FundingRequest,
): Promise<FundingRow[]> {
  const limit = client.features?.swap?.linear?.fetchFundingRateHistory?.limit ?? PAGE_EVENTS;
  const rows: FundingRow[] = [];
  // The timestamp of an event at `end` may be later than `end`.
  const last = end + MINUTE_MS - 1;
  for (let at = start; at <= last; at += limit * HOUR_MS) {
    const until = Math.min(last, at + limit * HOUR_MS - 1);
    const page = await caller.call(async () => {
      const events = await client.fetchFundingRateHistory(market.symbol, at, limit, { until });
      return events.flatMap(readRow).filter(({ stamp }) => stamp >= at && stamp <= until);
    }, signal);
    rows.push(...page.filter(({ time }) => time <= end));
  }
  return rows;
}

function readRow({ timestamp: stamp, fundingRate: rate, info }: CcxtFunding): FundingRow[] {
  if (stamp === undefined || rate === undefined) return [];
  const price = Number(info?.markPrice ?? Number.NaN);
  // Timestamps are up to some milliseconds late.
  const time = Math.floor(stamp / MINUTE_MS) * MINUTE_MS;
  return [{ stamp, time, rate, ...(price > 0 ? { price } : {}) }];
}

/** Prices by hour since the epoch, for the interval of the events without a price. */
async function missingPrices(
  client: CcxtClient,
  caller: RetryingCaller,
  { market, signal }: FundingRequest,
  rows: readonly FundingRow[],
): Promise<ReadonlyMap<number, number>> {
  const hours = rows.filter((row) => row.price === undefined).map((row) => Math.floor(row.time / HOUR_MS));
  const [first, last] = [hours[0] ?? 0, hours.at(-1) ?? -1];
  const mark = Boolean(client.has.fetchMarkOHLCV);
  const request = { market, timeframe: '1h' as const, mark, signal };
  const range = { start: first * HOUR_MS, end: (last + 1) * HOUR_MS };
  const { timestamp, open } =
    hours.length > 0 ? await fetchPages(client, caller, { ...request, ...range }) : createCandles(0);
  return new Map(Array.from(timestamp, (time, i) => [time / HOUR_MS, open[i]!]));
}

/** ccxt's constants for the unit of a market's `precision`. With significant digits (3) the step depends on the amount. */
const DECIMAL_PLACES = 2;
const TICK_SIZE = 4;
/** Beyond these bounds, division by a step loses all digits. */
const SMALLEST = 1e-18;
const LARGEST = 1e18;

/**
 * The instrument of a market as ccxt describes it. Invalid values (0, negative, not a number) count as absent.
 *
 * @param precisionMode of the exchange's class
 * @throws RangeError for an invalid contract size, or a minimum above its maximum: every amount would be wrong
 */
export function instrumentOf(market: CcxtMarket, precisionMode: unknown): Instrument {
  const { limits, precision, contractSize } = market;
  const size = contractSize === undefined || contractSize === null ? 1 : positive(contractSize);
  if (size === null)
    throw new RangeError(`contract size ${JSON.stringify(contractSize)} is not a positive number`);
  const instrument = {
    amountStep: stepOf(precision?.amount, precisionMode),
    minAmount: positive(limits?.amount?.min),
    maxAmount: positive(limits?.amount?.max),
    minCost: positive(limits?.cost?.min),
    maxCost: positive(limits?.cost?.max),
    contractSize: size,
    priceTick: stepOf(precision?.price, precisionMode),
  };
  rejectCrossed('amount', instrument.minAmount, instrument.maxAmount);
  rejectCrossed('cost', instrument.minCost, instrument.maxCost);
  return instrument;
}

function rejectCrossed(name: string, min: number | null, max: number | null): void {
  if (min === null || max === null || min <= max) return;
  throw new RangeError(`minimum ${name} ${min} is above maximum ${max}`);
}

function stepOf(value: unknown, mode: unknown): number | null {
  if (mode === TICK_SIZE) return positive(value);
  if (mode !== DECIMAL_PLACES) return null;
  const places = numberOf(value);
  return Number.isInteger(places) ? positive(Number(`1e${-places}`)) : null;
}

function positive(value: unknown): number | null {
  const number = numberOf(value);
  return number >= SMALLEST && number <= LARGEST ? number : null;
}

/** NaN for a value that is neither a number nor a numeric string. */
function numberOf(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
}
