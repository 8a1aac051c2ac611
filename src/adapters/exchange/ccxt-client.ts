import { CodedError } from '#contract/errors.ts';
import { ccxtFile } from './ccxt-files.ts';

/** A market as ccxt describes it. */
export interface CcxtMarket {
  readonly symbol: string;
  /** A perpetual. */
  readonly swap?: boolean;
  readonly linear?: boolean;
  readonly active?: boolean;
  /** What may be ordered of it: nothing in there is sure to be given, or to be a number. */
  readonly precision?: { readonly amount?: unknown; readonly price?: unknown } | null;
  readonly limits?: { readonly amount?: CcxtLimit; readonly cost?: CcxtLimit } | null;
  readonly contractSize?: unknown;
}

type CcxtLimit = { readonly min?: unknown; readonly max?: unknown } | null;

/** `[open time, open, high, low, close, volume]`: what the exchange did not tell is undefined. */
export type CcxtCandle = readonly (number | undefined)[];

export interface CcxtFunding {
  readonly timestamp: number | undefined;
  readonly fundingRate: number | undefined;
  /** As the exchange gave it; some tell the mark price there. */
  readonly info?: { readonly markPrice?: unknown };
}

/** What is used of a ccxt exchange: its public calls, and the places where its replies pass. */
export interface CcxtClient {
  readonly has: Readonly<Record<string, unknown>>;
  readonly timeframes: Readonly<Record<string, unknown>>;
  readonly features?: { readonly swap?: Readonly<Record<'linear' | 'inverse', SwapFeatures | undefined>> };
  readonly urls: { api: unknown };
  /** Longest wait for a reply's headers, ms; read with every request. */
  timeout: number;
  fetch(url: string, ...rest: unknown[]): Promise<unknown>;
  /** What the numbers of a market's `precision` are. */
  readonly precisionMode?: unknown;
  loadMarkets(reload: boolean): Promise<Readonly<Record<string, CcxtMarket>>>;
  fetchTime(): Promise<number | undefined>;
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
  parseJson(text: string): unknown;
  getDispatcherOptions(plainAgent: boolean): Record<string, unknown>;
}

interface SwapFeatures {
  readonly fetchOHLCV?: { readonly limit?: number };
  readonly fetchFundingRateHistory?: { readonly limit?: number };
}

export interface CcxtOptions {
  /** Replaces scheme and host of every address of the exchange. Default: the exchange's own. */
  readonly url?: string | undefined;
  /** Milliseconds between two requests. Default: what ccxt knows of the exchange. */
  readonly intervalMs?: number | undefined;
  /** Longest wait for a reply's headers, and for each of its further parts. Default 10 s. */
  readonly timeoutMs?: number | undefined;
}

/** What hears of a client's requests. */
interface Listener {
  /** A reply has come, of any status. */
  noteReply(): void;
  /** A refused request asks for a pause, in header Retry-After. */
  noteRetryAfter(text: string): void;
  /** Milliseconds that the next request may wait for its reply. */
  readonly patienceMs: number;
}

/** A reply without the content that was asked for: cut off, of another format, or empty where it cannot be. */
export class BadReply extends Error {
  override readonly name = 'BadResponse';
}

const TIMEOUT_MS = 10_000;
const KEY = /^[a-z0-9]{1,40}$/;

/**
 * The client of an exchange, set to public calls at the exchange's own pace.
 * @throws CodedError VAL005 for a key that no exchange has, or whose exchange has no perpetuals with candles
 */
export async function openCcxtClient(
  key: string,
  options: CcxtOptions,
  listener: Listener,
): Promise<CcxtClient> {
  const Client = await loadClass(key);
  const timeout = options.timeoutMs ?? TIMEOUT_MS;
  const client = new Client({
    timeout,
    ...(options.intervalMs === undefined ? {} : { rateLimit: options.intervalMs }),
  });
  if (client.has.swap !== true || !client.has.fetchOHLCV) {
    throw unknownExchange(key, `${key} has no perpetual futures whose candles could be collected`);
  }
  // Nothing here needs currencies, and some exchanges give them to signed requests only.
  Object.assign(client.has, { fetchCurrencies: false });
  if (options.url) client.urls.api = withHost(client.urls.api, new URL(options.url).origin);
  watchReplies(client, listener);
  limitWaits(client, timeout, listener);
  return client;
}

async function loadClass(key: string): Promise<new (config: object) => CcxtClient> {
  const unknown = () => unknownExchange(key, `There is no exchange ${JSON.stringify(key.slice(0, 100))}`);
  if (!KEY.test(key)) throw unknown();
  try {
    return (await import(ccxtFile(key).href)).default;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw unknown();
  }
}

function unknownExchange(key: string, problem: string): CodedError {
  return new CodedError('VAL005', {
    message: `${problem}: use sim, or the key by which ccxt knows an exchange with perpetual futures, such as binanceusdm, bybit or okx`,
    field: 'exchange',
    context: { value: key.slice(0, 100) },
  });
}

/** Addresses in any nesting, with another scheme and host. */
function withHost(addresses: unknown, origin: string): unknown {
  if (typeof addresses === 'string') return addresses.replace(/^[a-z]+:\/\/[^/]+/, origin);
  if (typeof addresses !== 'object' || addresses === null) return addresses;
  return Object.fromEntries(Object.entries(addresses).map(([name, each]) => [name, withHost(each, origin)]));
}

/** ccxt takes a text that is no JSON for an empty result, and tells nobody of Retry-After. */
function watchReplies(client: CcxtClient, listener: Listener): void {
  const [onRestResponse, parseJson] = [client.onRestResponse.bind(client), client.parseJson.bind(client)];
  // One reply passes through both without a pause, so that the status is that of the text.
  let refused = false;
  client.onRestResponse = (status, ...rest) => {
    listener.noteReply();
    refused = status >= 400;
    const headers = rest[3] as Readonly<Record<string, string>> | undefined;
    const retryAfter = headers?.['Retry-After'];
    if (refused && retryAfter !== undefined) listener.noteRetryAfter(retryAfter);
    return onRestResponse(status, ...rest);
  };
  client.parseJson = (text) => {
    const parsed = parseJson(text);
    if (parsed === undefined && !refused) throw new BadReply('The reply is not JSON');
    return parsed;
  };
}

/** ccxt's time-out ends with the headers: a body that stops half-way would be waited for for five minutes. */
function limitWaits(client: CcxtClient, timeout: number, listener: Listener): void {
  const dispatcherOptions = client.getDispatcherOptions.bind(client);
  client.getDispatcherOptions = (plainAgent) => ({ ...dispatcherOptions(plainAgent), bodyTimeout: timeout });
  const fetchReply = client.fetch.bind(client);
  client.fetch = (url, ...rest) => {
    client.timeout = Math.min(timeout, listener.patienceMs);
    return fetchReply(url, ...rest);
  };
}
