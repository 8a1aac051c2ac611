import { CodedError } from '#contract/values/errors.ts';
import type { TradingMode } from '#contract/values/trading-modes.ts';
import { InvalidResponse, type RawResponse, readBody } from './ccxt-body.ts';
import { ccxtFile } from './ccxt-files.ts';

/** A market as ccxt describes it. */
export interface CcxtMarket {
  readonly symbol: string;
  /** A perpetual. */
  readonly swap?: boolean;
  readonly spot?: boolean;
  readonly linear?: boolean;
  readonly active?: boolean;
  /** Steps of amount and price. Any value may be absent or not a number. */
  readonly precision?: { readonly amount?: unknown; readonly price?: unknown } | null;
  readonly limits?: { readonly amount?: CcxtLimit; readonly cost?: CcxtLimit } | null;
  readonly contractSize?: unknown;
}

type CcxtLimit = { readonly min?: unknown; readonly max?: unknown } | null;

/** `[open time, open, high, low, close, volume]`; undefined for a value that the exchange did not send. */
export type CcxtCandle = readonly (number | undefined)[];

export interface CcxtFunding {
  readonly timestamp: number | undefined;
  readonly fundingRate: number | undefined;
  /** As sent by the exchange; for some it has the mark price. */
  readonly info?: { readonly markPrice?: unknown };
}

/** The used part of a ccxt exchange: its public calls, and the functions through which its responses pass. */
export interface CcxtClient {
  readonly has: Readonly<Record<string, unknown>>;
  readonly timeframes: Readonly<Record<string, unknown>>;
  readonly features?: {
    readonly spot?: MarketFeatures;
    readonly swap?: Readonly<Record<'linear' | 'inverse', MarketFeatures | undefined>>;
  };
  readonly urls: { api: unknown };
  /** Longest wait for the headers of a response, ms; read with every request. */
  timeout: number;
  fetch(url: string, ...rest: unknown[]): Promise<unknown>;
  /** Unit of a market's `precision`, a constant of ccxt. */
  readonly precisionMode?: unknown;
  loadMarkets(reload: boolean): Promise<Readonly<Record<string, CcxtMarket>>>;
  fetchTime(): Promise<number | undefined>;
  fetchMarketLeverageTiers(symbol: string): Promise<unknown>;
  fetchOHLCV(
    symbol: string,
    timeframe: string,
    since: number,
    limit: number,
    params: Readonly<Record<string, unknown>>,
  ): Promise<readonly CcxtCandle[]>;
  fetchFundingRateHistory(
    symbol: string,
    since: number,
    limit: number,
    params: Readonly<Record<string, unknown>>,
  ): Promise<readonly CcxtFunding[]>;
  onRestResponse(status: number, ...rest: unknown[]): string;
  parseJson(body: string): unknown;
  getDispatcherOptions(plainAgent: boolean): Record<string, unknown>;
  /** Reads the body of a response. */
  undiciBody(response: RawResponse, binary?: boolean): Promise<Buffer | string>;
}

interface MarketFeatures {
  readonly fetchOHLCV?: { readonly limit?: number };
  readonly fetchFundingRateHistory?: { readonly limit?: number };
}

export interface CcxtOptions {
  /** Replaces scheme and host of every address of the exchange. Default: the exchange's addresses. */
  readonly url?: string | undefined;
  /** Minimum interval between requests, ms. Default: ccxt's `rateLimit` of the exchange. */
  readonly intervalMs?: number | undefined;
  /** Longest wait for the headers of a response, and for each further part, ms. Default 10 000. */
  readonly timeoutMs?: number | undefined;
}

/** Observer of a client's requests. */
interface RequestObserver {
  /** Called for a response of any status. */
  noteResponse(): void;
  /** Called with the header Retry-After of a rejected request. */
  noteRetryAfter(value: string): void;
  /** Longest wait of the next request for its response, ms. */
  readonly responseTimeoutMs: number;
}

const TIMEOUT_MS = 10_000;
/** Longest decoded body, bytes: the longest list of markets has about 20 MB. */
const MAX_BODY = 64 * 1024 * 1024;
const KEY = /^[a-z0-9]{1,40}$/;

/**
 * Client of an exchange for public calls, limited to the exchange's request rate.
 *
 * @throws CodedError VAL005 for an unknown key, or for an exchange without candles of perpetual futures or spot
 */
export async function openCcxtClient(
  key: string,
  options: CcxtOptions,
  observer: RequestObserver,
): Promise<CcxtClient> {
  const Client = await loadClass(key);
  const timeout = options.timeoutMs ?? TIMEOUT_MS;
  const client = new Client({
    timeout,
    ...(options.intervalMs === undefined ? {} : { rateLimit: options.intervalMs }),
  });
  if ((client.has.swap !== true && client.has.spot !== true) || !client.has.fetchOHLCV) {
    throw unknownExchange(key, `${key} does not provide candles of perpetual futures`);
  }
  // Currencies are not needed, and some exchanges send them only to signed requests.
  Object.assign(client.has, { fetchCurrencies: false });
  if (options.url) client.urls.api = withHost(client.urls.api, new URL(options.url).origin);
  observeResponses(client, observer);
  limitBodies(client);
  limitWaits(client, timeout, observer);
  return client;
}

async function loadClass(key: string): Promise<new (config: object) => CcxtClient> {
  const unknown = () => unknownExchange(key, `Unknown exchange ${JSON.stringify(key.slice(0, 100))}`);
  if (!KEY.test(key)) throw unknown();
  try {
    return (await import(ccxtFile(key).href)).default;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw unknown();
  }
}

/** Exchanges that the error names, by what they must have. */
const NAMED = {
  futures: 'perpetual futures, such as binanceusdm, bybit or okx',
  spot: 'spot markets, such as binance, kraken or okx',
} as const satisfies Readonly<Record<TradingMode, string>>;

export function unknownExchange(key: string, problem: string, mode: TradingMode = 'futures'): CodedError {
  return new CodedError('VAL005', {
    message: `${problem}. Use sim, or the ccxt key of an exchange with ${NAMED[mode]}.`,
    field: 'exchange',
    context: { value: key.slice(0, 100) },
  });
}

/** Nested addresses with another scheme and host. */
function withHost(addresses: unknown, origin: string): unknown {
  if (typeof addresses === 'string') return addresses.replace(/^[a-z]+:\/\/[^/]+/, origin);
  if (typeof addresses !== 'object' || addresses === null) return addresses;
  return Object.fromEntries(Object.entries(addresses).map(([name, each]) => [name, withHost(each, origin)]));
}

/** ccxt returns an empty result for a response that is not JSON, and ignores Retry-After. */
function observeResponses(client: CcxtClient, observer: RequestObserver): void {
  const [onRestResponse, parseJson] = [client.onRestResponse.bind(client), client.parseJson.bind(client)];
  // A response passes through both functions synchronously, so the status belongs to the parsed body.
  let rejected = false;
  client.onRestResponse = (status, ...rest) => {
    observer.noteResponse();
    rejected = status >= 400;
    const headers = rest[3] as Readonly<Record<string, string>> | undefined;
    const retryAfter = headers?.['Retry-After'];
    if (rejected && retryAfter !== undefined) observer.noteRetryAfter(retryAfter);
    return onRestResponse(status, ...rest);
  };
  client.parseJson = (body) => {
    const parsed = parseJson(body);
    if (parsed === undefined && !rejected) throw new InvalidResponse('The response is not JSON');
    return parsed;
  };
}

/**
 * ccxt reads a response whatever its length, of which 400 KB of gzip can hold 400 MB, and waits for ever for the rest of a compressed body
 * that breaks off.
 */
function limitBodies(client: CcxtClient): void {
  client.undiciBody = async (response, binary) => {
    const body = await readBody(response, MAX_BODY);
    return binary ? body : body.toString();
  };
}

/** ccxt's timeout covers only the headers: a body that stops half-way would block for five minutes. */
function limitWaits(client: CcxtClient, timeout: number, observer: RequestObserver): void {
  const dispatcherOptions = client.getDispatcherOptions.bind(client);
  client.getDispatcherOptions = (plainAgent) => ({ ...dispatcherOptions(plainAgent), bodyTimeout: timeout });
  const fetchResponse = client.fetch.bind(client);
  client.fetch = (url, ...rest) => {
    client.timeout = Math.min(timeout, observer.responseTimeoutMs);
    return fetchResponse(url, ...rest);
  };
}
