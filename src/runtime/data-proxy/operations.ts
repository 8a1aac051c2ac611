import type { ProxyOperationName } from '#contract/market-data/data-proxy.ts';
import { CodedError, type ErrorCode } from '#contract/values/errors.ts';
import { MAX_SYMBOL_LENGTH, OHLCV_DEFAULTS, OHLCV_LIMITS } from '#contract/values/market-data-limits.ts';
import { ACCEPTED_TIMES, parseTime } from '#domain/shared/iso-time.ts';
import { isJsonObject, type JsonObject } from './envelope.ts';

/** One named operation: how its parameters become GET requests and what its result looks like. */
export interface ProxyOperation {
  /** Paths with query, at least one. Throws a CodedError for parameters that must not be forwarded. */
  readonly paths: (params: JsonObject) => readonly string[];
  /** True if a response has the fields of the result. */
  readonly accepts: (reply: JsonObject) => boolean;
  /** The result without a usable response. */
  readonly empty: (params: JsonObject) => JsonObject;
  /** Joins the replies to several paths. Default: the only reply. */
  readonly merge?: (replies: readonly JsonObject[]) => JsonObject;
  /** The result always has its shape, so that a workflow can branch on it for any parameters. */
  readonly alwaysShaped?: boolean;
}

/** Symbols per request: about 2.5 KB of URL, far below the 16 KB of header that Node accepts. */
const SYMBOLS_PER_REQUEST = 100;
/** Maximum number of symbols. Requests are sequential, 12 ms each; more would exceed the gateway's time-out. */
const MAX_SYMBOLS = 10_000;
const { limit: LIMIT } = OHLCV_LIMITS;

/** The five operations by name. */
export const PROXY_OPERATIONS: Readonly<Record<string, ProxyOperation>> = {
  health: {
    paths: () => ['/api/v1/health'],
    accepts: () => true,
    empty: () => ({ status: 'unavailable' }),
  },
  fetch_ohlcv: {
    paths: (params) => [withQuery('/api/v1/ohlcv', ohlcvQuery(params))],
    accepts: (reply) => Array.isArray(reply.data),
    empty: (params) => ({
      symbol: params.symbol as string,
      timeframe: params.timeframe as string,
      data: [],
      count: 0,
    }),
  },
  symbols: {
    paths: (params) => [withQuery('/api/v1/symbols', forwarded(params, ['exchange']))],
    accepts: (reply) => Array.isArray(reply.symbols),
    empty: (params) => ({ exchange: params.exchange ?? null, symbols: [], count: 0 }),
  },
  status: {
    paths: (params) => [withQuery('/api/v1/status', forwarded(params, ['exchange']))],
    accepts: () => true,
    empty: () => ({ status: 'unavailable' }),
  },
  'check-freshness': {
    paths: freshnessPaths,
    accepts: (reply) => typeof reply.all_fresh === 'boolean' && isTextList(reply.stale_symbols),
    empty: () => ({ all_fresh: false, stale_symbols: [] }),
    merge: mergeFreshness,
    alwaysShaped: true,
  },
} satisfies Record<ProxyOperationName, ProxyOperation>;

function ohlcvQuery(params: JsonObject): [string, string][] {
  const symbol = required(params, 'symbol', 'VAL002', 'symbol must be text such as BTC/USDT:USDT');
  if (symbol.length > MAX_SYMBOL_LENGTH || !symbol.includes('/')) {
    throw new CodedError('VAL002', {
      message: `symbol must contain "/" and have at most ${MAX_SYMBOL_LENGTH} characters`,
      field: 'symbol',
    });
  }
  const timeframe = required(params, 'timeframe', 'VAL003', 'timeframe must be text such as 5m');
  if (!/^\d+[mhd]$/.test(timeframe)) {
    throw new CodedError('VAL003', {
      message: 'timeframe must be a number and m, h or d, such as 5m',
      field: 'timeframe',
    });
  }
  const limit = params.limit ?? OHLCV_DEFAULTS.limit;
  if (!Number.isInteger(limit) || (limit as number) < LIMIT.min || (limit as number) > LIMIT.max) {
    throw new CodedError('VAL005', {
      message: `limit must be an integer from ${LIMIT.min} to ${LIMIT.max}`,
      field: 'limit',
    });
  }
  checkRange(params);
  return [
    ['symbol', symbol],
    ['timeframe', timeframe],
    ['limit', String(limit)],
    ...forwarded(params, ['start', 'end', 'exchange', 'trading_mode']),
  ];
}

function required(params: JsonObject, name: string, code: ErrorCode, message: string): string {
  const value = params[name] ?? undefined;
  if (value === undefined)
    throw new CodedError('VAL004', { message: `params.${name} is required`, field: name });
  if (typeof value !== 'string') throw new CodedError(code, { message, field: name });
  return value;
}

function checkRange(params: JsonObject): void {
  const times = ['start', 'end'].map((name) => {
    const value = params[name] ?? undefined;
    if (value === undefined) return undefined;
    const time = typeof value === 'string' ? parseTime(value) : undefined;
    if (time === undefined)
      throw new CodedError('VAL001', { message: `${name} must be ${ACCEPTED_TIMES}`, field: name });
    return time;
  });
  if (times[0] !== undefined && times[1] !== undefined && times[0] >= times[1]) {
    throw new CodedError('VAL001', { message: 'start must be before end', field: 'start' });
  }
}

const FRESHNESS_EXTRAS = ['timeframe', 'exchange', 'trading_mode', 'stale_threshold_hours', 'start', 'end'];

function freshnessPaths(params: JsonObject): string[] {
  if (!isTextList(params.symbols) || params.symbols.length === 0 || params.symbols.includes('')) {
    throw new CodedError(params.symbols === undefined || params.symbols === null ? 'VAL004' : 'VAL005', {
      message: 'params.symbols must be a list of at least one symbol',
      field: 'symbols',
    });
  }
  if (params.symbols.length > MAX_SYMBOLS) {
    throw new CodedError('VAL005', {
      message: `params.symbols must hold at most ${MAX_SYMBOLS} symbols`,
      field: 'symbols',
    });
  }
  // The service removes duplicates within one request; this removes them across requests.
  const symbols = [...new Set(params.symbols)];
  const extras = forwarded(params, FRESHNESS_EXTRAS);
  const paths: string[] = [];
  for (let from = 0; from < symbols.length; from += SYMBOLS_PER_REQUEST) {
    const chunk = symbols.slice(from, from + SYMBOLS_PER_REQUEST);
    const query = [...chunk.map((symbol): [string, string] => ['symbols', symbol]), ...extras];
    paths.push(withQuery('/api/v1/freshness', query));
  }
  return paths;
}

/** Joins the lists of all replies in order; other fields come from the first reply. */
function mergeFreshness(replies: readonly JsonObject[]): JsonObject {
  const merged: Record<string, unknown> = { ...replies[0] };
  for (const reply of replies.slice(1)) {
    for (const [name, value] of Object.entries(reply)) {
      const before = merged[name];
      if (Array.isArray(before) && Array.isArray(value)) merged[name] = [...before, ...value];
    }
  }
  merged.all_fresh = replies.every((reply) => reply.all_fresh === true);
  return merged;
}

/** The named parameters that are present, as strings; the service validates their values. */
function forwarded(params: JsonObject, names: readonly string[]): [string, string][] {
  return names.flatMap((name): [string, string][] => {
    const value = params[name] ?? undefined;
    if (value === undefined) return [];
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new CodedError('VAL005', { message: `params.${name} must be text or a number`, field: name });
    }
    return [[name, String(value)]];
  });
}

function withQuery(path: string, query: readonly [string, string][]): string {
  return query.length === 0 ? path : `${path}?${new URLSearchParams(query.map((pair) => [...pair]))}`;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Parameters of a request; absent and null mean no parameters. Throws VAL005 for any other value than an object. */
export function readParams(value: unknown): JsonObject {
  if (value === undefined || value === null) return {};
  if (isJsonObject(value)) return value;
  throw new CodedError('VAL005', { message: 'params must be an object', field: 'params' });
}
