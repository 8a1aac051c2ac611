import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { SIM_SYMBOLS, SimExchange } from '#adapters/exchange/sim.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';

/** Path after `/fapi/v1/`; for spot after `/api/v3/`. */
type Endpoint = 'exchangeInfo' | 'klines' | 'markPriceKlines' | 'fundingRate' | 'time';

/** Failure of one response. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfter?: string; readonly body?: string }
  /** Valid HTTP around half of the JSON. */
  | { readonly kind: 'truncated' }
  /** Status 200 with an HTML page. */
  | { readonly kind: 'html' }
  /** The connection closes within the body. */
  | { readonly kind: 'cut' }
  /** No response. */
  | { readonly kind: 'silent' }
  /** Half of the body, then silence. */
  | { readonly kind: 'stalled' }
  /** Text of so many megabytes in gzip. */
  | { readonly kind: 'bomb'; readonly megabytes: number }
  /** Half of a body in gzip, then silence. */
  | { readonly kind: 'stalled gzip' }
  | { readonly kind: 'rows'; readonly change: (rows: unknown[]) => unknown };

interface Request {
  readonly endpoint: Endpoint;
  readonly symbol: string | null;
  readonly interval: string | null;
  readonly start: number;
  readonly end: number;
  readonly limit: number;
}

export interface ExchangeServer {
  /** Value of EXCHANGE_URL. */
  readonly url: string;
  /** Recorded requests; tests clear the list. */
  readonly requests: Request[];
  /** Current time of the exchange, Unix milliseconds. */
  now: () => number;
  /** Listing time of each symbol, Unix milliseconds; default: 2017. */
  readonly listed: Map<string, number>;
  /** Symbols in addition to those of sim, with the prices of BTC. */
  readonly aliases: string[];
  /** Times of missing candles. */
  readonly missing: Set<number>;
  /** Funding events contain mark prices, as at Binance since the end of 2023. */
  hasMarkPrice: boolean;
  /** Applies failures to the next requests of an endpoint, in order. */
  fail(endpoint: Endpoint, ...faults: Fault[]): void;
  /** If set, decides the failure of every request; undefined means a normal response. */
  failing: ((request: Request) => Fault | undefined) | undefined;
  stop(): Promise<void>;
}

/** Response that is not JSON: exchanges send it while their gateway restarts. */
const HTML = '<html><head><title>502 Bad Gateway</title></head></html>';

/**
 * Exchange on loopback with the public REST format of Binance's USD-M futures and spot markets: recorded shapes with the numbers
 * of the simulated market, the same for both. Limits as at Binance: 1500 candles and 1000 funding rates per page, from the interval's start.
 */
export async function startExchangeServer(): Promise<ExchangeServer> {
  const pending: { endpoint: Endpoint; fault: Fault }[] = [];
  const server = createServer((request, response) => {
    answer(exchange, pending, request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const exchange: ExchangeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    now: Date.now,
    listed: new Map(),
    aliases: [],
    missing: new Set(),
    hasMarkPrice: true,
    failing: undefined,
    fail: (endpoint, ...faults) => {
      pending.push(...faults.map((fault) => ({ endpoint, fault })));
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return exchange;
}

async function answer(
  exchange: ExchangeServer,
  pending: { endpoint: Endpoint; fault: Fault }[],
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(incoming.url!, exchange.url);
  const [, api, name] = /^\/(fapi\/v1|dapi\/v1|api\/v3)\/(\w+)$/.exec(pathname) ?? [];
  const endpoint = (name ?? pathname) as Endpoint;
  const number = (name: string, otherwise: number) => Number(searchParams.get(name) ?? otherwise);
  const request: Request = {
    endpoint,
    symbol: searchParams.get('symbol'),
    interval: searchParams.get('interval'),
    start: number('startTime', 0),
    end: number('endTime', exchange.now()),
    limit: number('limit', endpoint === 'fundingRate' ? 100 : 500),
  };
  exchange.requests.push(request);
  const index = pending.findIndex((each) => each.endpoint === endpoint);
  const fault = exchange.failing?.(request) ?? (index < 0 ? undefined : pending.splice(index, 1)[0]!.fault);
  if (fault?.kind === 'silent') return;
  if (fault?.kind === 'status') {
    const headers = fault.retryAfter === undefined ? {} : { 'Retry-After': fault.retryAfter };
    response.writeHead(fault.status, headers).end(fault.body ?? HTML);
    return;
  }
  const result = await resultOf(exchange, request, api);
  const body = JSON.stringify(fault?.kind === 'rows' ? fault.change(result.body as unknown[]) : result.body);
  send(response, result.status, body, fault);
}

function send(response: ServerResponse, status: number, body: string, fault: Fault | undefined): void {
  const half = body.slice(0, Math.floor(body.length / 2));
  const json = { 'Content-Type': 'application/json' };
  if (fault?.kind === 'html') response.writeHead(200, { 'Content-Type': 'text/html' }).end(HTML);
  else if (fault?.kind === 'truncated') response.writeHead(status, json).end(half);
  else if (fault?.kind === 'bomb' || fault?.kind === 'stalled gzip') {
    const text = fault.kind === 'bomb' ? `["${'0'.repeat(fault.megabytes * 1e6)}"]` : body;
    const packed = gzipSync(text);
    response.writeHead(status, { ...json, 'Content-Encoding': 'gzip', 'Content-Length': packed.length });
    if (fault.kind === 'bomb') response.end(packed);
    else response.write(packed.subarray(0, packed.length / 2));
  } else if (fault?.kind === 'stalled' || fault?.kind === 'cut') {
    response.writeHead(status, { ...json, 'Content-Length': String(body.length) });
    response.write(half, () => fault.kind === 'cut' && response.destroy());
  } else response.writeHead(status, json).end(body);
}

type Result = { readonly status: number; readonly body: unknown };

const MAX_LIMIT = { klines: 1500, markPriceKlines: 1500, fundingRate: 1000 } as const;

async function resultOf(
  exchange: ExchangeServer,
  request: Request,
  api: string | undefined,
): Promise<Result> {
  const { endpoint, symbol: id } = request;
  if (endpoint === 'time') return { status: 200, body: { serverTime: exchange.now() } };
  if (endpoint === 'exchangeInfo') {
    const spot = { symbols: [...idsOf(exchange)].map(([id, symbol]) => spotMarket(id, symbol)) };
    const coinMargined = { symbols: [] };
    const body = api === 'api/v3' ? spot : api === 'dapi/v1' ? coinMargined : exchangeInfo(exchange);
    return { status: 200, body };
  }
  if (!Object.hasOwn(MAX_LIMIT, endpoint)) return { status: 404, body: {} };
  const symbol = idsOf(exchange).get(id ?? '');
  if (!symbol) return { status: 400, body: { code: -1121, msg: 'Invalid symbol.' } };
  if (request.limit > (api === 'api/v3' ? 1000 : MAX_LIMIT[endpoint])) {
    return { status: 400, body: { code: -1130, msg: "Data sent for parameter 'limit' is not valid." } };
  }
  const listed = exchange.listed.get(symbol) ?? 0;
  const market = new SimExchange({ clock: { now: exchange.now } });
  const name = SIM_SYMBOLS.has(symbol) ? symbol : 'BTC/USDT:USDT';
  // The first candle of a timeframe contains the listing time.
  const step = request.interval ? TIMEFRAME_MS[request.interval as Timeframe] : 1;
  const from = Math.max(request.start, Math.floor(listed / step) * step);
  const body =
    endpoint === 'fundingRate'
      ? await fundingRates(exchange, market, name, { ...request, start: from })
      : await klines(exchange, market, name, { ...request, start: from });
  return { status: 200, body };
}

async function klines(exchange: ExchangeServer, market: SimExchange, symbol: string, request: Request) {
  const timeframe = request.interval as Timeframe;
  const step = TIMEFRAME_MS[timeframe];
  const from = Math.ceil(request.start / step) * step;
  // The first `limit` candles of the interval, not counting missing ones.
  const room = (request.limit + exchange.missing.size) * step;
  const { timestamp, open, high, low, close, volume } = await market.fetchCandles(
    symbol,
    timeframe,
    from,
    Math.min(request.end + 1, exchange.now() + 1, from + room),
  );
  const rows: unknown[] = [];
  for (let i = 0; i < timestamp.length && rows.length < request.limit; i++) {
    const time = timestamp[i]!;
    if (exchange.missing.has(time)) continue;
    const prices = [open[i]!, high[i]!, low[i]!, close[i]!].map(String);
    const base = String(volume[i]!);
    rows.push([time, ...prices, base, time + step - 1, '0', 100, '0', '0', '0']);
  }
  return rows;
}

async function fundingRates(
  exchange: ExchangeServer,
  market: SimExchange,
  symbol: string,
  request: Request,
): Promise<unknown[]> {
  const events = await market.fetchFunding(symbol, request.start, request.end);
  return Array.from(events.timestamp.subarray(0, request.limit), (time, i) => ({
    symbol: request.symbol,
    // A few milliseconds late, as in the recordings.
    fundingTime: time + (i % 3),
    fundingRate: events.rate[i]!.toFixed(8),
    markPrice: exchange.hasMarkPrice ? events.markPrice[i]!.toFixed(8) : '',
  }));
}

/** `BTCUSDT` -> `BTC/USDT:USDT`. */
function idsOf(exchange: ExchangeServer): ReadonlyMap<string, string> {
  const symbols = [...SIM_SYMBOLS.keys(), ...exchange.aliases];
  return new Map(symbols.map((symbol) => [symbol.split(':')[0]!.replace('/', ''), symbol]));
}

function exchangeInfo(exchange: ExchangeServer) {
  const symbols = [...idsOf(exchange)].map(([id, symbol]) => market(id, symbol, 'PERPETUAL'));
  return {
    timezone: 'UTC',
    serverTime: exchange.now(),
    futuresType: 'U_MARGINED',
    rateLimits: [
      { rateLimitType: 'REQUEST_WEIGHT', interval: 'MINUTE', intervalNum: 1, limit: 2400 },
      { rateLimitType: 'ORDERS', interval: 'MINUTE', intervalNum: 1, limit: 1200 },
    ],
    exchangeFilters: [],
    assets: [{ asset: 'USDT', marginAvailable: true, autoAssetExchange: '-10000' }],
    symbols: [...symbols, market('BTCUSDT_301227', 'BTC/USDT:USDT', 'CURRENT_QUARTER')],
  };
}

function market(id: string, symbol: string, contractType: 'PERPETUAL' | 'CURRENT_QUARTER') {
  const base = symbol.split('/')[0]!;
  return {
    symbol: id,
    pair: `${base}USDT`,
    contractType,
    deliveryDate: contractType === 'PERPETUAL' ? 4_133_404_800_000 : Date.UTC(2030, 11, 27, 8),
    onboardDate: 1_569_398_400_000,
    status: 'TRADING',
    maintMarginPercent: '2.5000',
    requiredMarginPercent: '5.0000',
    baseAsset: base,
    quoteAsset: 'USDT',
    marginAsset: 'USDT',
    pricePrecision: 2,
    quantityPrecision: 3,
    baseAssetPrecision: 8,
    quotePrecision: 8,
    underlyingType: 'COIN',
    underlyingSubType: ['PoW'],
    triggerProtect: '0.0500',
    liquidationFee: '0.012500',
    marketTakeBound: '0.05',
    filters: [
      { filterType: 'PRICE_FILTER', minPrice: '556.80', maxPrice: '4529764', tickSize: '0.10' },
      { filterType: 'LOT_SIZE', minQty: '0.001', maxQty: '1000', stepSize: '0.001' },
      { filterType: 'MARKET_LOT_SIZE', minQty: '0.001', maxQty: '120', stepSize: '0.001' },
      { filterType: 'MAX_NUM_ORDERS', limit: 200 },
      { filterType: 'MAX_NUM_ALGO_ORDERS', limit: 10 },
      { filterType: 'MIN_NOTIONAL', notional: '100' },
      {
        filterType: 'PERCENT_PRICE',
        multiplierUp: '1.0500',
        multiplierDown: '0.9500',
        multiplierDecimal: '4',
      },
    ],
    orderTypes: ['LIMIT', 'MARKET', 'STOP', 'STOP_MARKET', 'TAKE_PROFIT', 'TAKE_PROFIT_MARKET'],
    timeInForce: ['GTC', 'IOC', 'FOK', 'GTX', 'GTD'],
  };
}

function spotMarket(id: string, symbol: string) {
  return {
    symbol: id,
    status: 'TRADING',
    baseAsset: symbol.split('/')[0]!,
    baseAssetPrecision: 8,
    quoteAsset: 'USDT',
    quotePrecision: 8,
    quoteAssetPrecision: 8,
    orderTypes: ['LIMIT', 'LIMIT_MAKER', 'MARKET', 'STOP_LOSS_LIMIT', 'TAKE_PROFIT_LIMIT'],
    isSpotTradingAllowed: true,
    isMarginTradingAllowed: true,
    filters: [
      {
        filterType: 'PRICE_FILTER',
        minPrice: '0.01000000',
        maxPrice: '1000000.00000000',
        tickSize: '0.01000000',
      },
      { filterType: 'LOT_SIZE', minQty: '0.00001000', maxQty: '9000.00000000', stepSize: '0.00001000' },
      {
        filterType: 'NOTIONAL',
        minNotional: '5.00000000',
        applyMinToMarket: true,
        maxNotional: '9000000.00000000',
      },
    ],
    permissions: [],
    permissionSets: [['SPOT', 'MARGIN']],
  };
}
