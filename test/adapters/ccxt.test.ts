import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CcxtExchange, type CcxtExchangeOptions, instrumentOf } from '#adapters/exchange/ccxt.ts';
import { openExchanges } from '#adapters/exchange/exchanges.ts';
import type { RetriedCall } from '#adapters/exchange/retry.ts';
import { SimExchange } from '#adapters/exchange/sim.ts';
import { cleanCandles } from '#domain/data/fill-chunk.ts';
import type { Candles } from '#engine/candles.ts';
import type { Timeframe } from '#engine/timeframe.ts';
import { at, BTC, DAY, ETH, grid, HOUR, INSTRUMENT } from '../domain/data/market.ts';
import { type ExchangeServer, type Fault, startExchangeServer } from '../support/exchange-server.ts';

const MINUTE = 60_000;
const NOW = at('2024-06-01T12:00:30');

/** ccxt's client against a server with Binance's format. Pauses advance the test's clock immediately. */
let server: ExchangeServer;
let now: number;
let pauses: number[];
let repeats: RetriedCall[];
beforeEach(async () => {
  server = await startExchangeServer();
  now = NOW;
  server.now = () => now;
  pauses = [];
  repeats = [];
  return () => {
    vi.useRealTimers();
    return server.stop();
  };
});

function options(changes: Partial<CcxtExchangeOptions> = {}): CcxtExchangeOptions {
  return {
    url: server.url,
    intervalMs: 1,
    timeoutMs: 60_000,
    clock: { now: () => now },
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      pauses.push(ms);
      now += ms;
    },
    random: () => 1,
    onRetry: (call) => repeats.push(call),
    ...changes,
  };
}
const open = (changes?: Partial<CcxtExchangeOptions>) => CcxtExchange.open('binanceusdm', options(changes));

async function expected(timeframe: Timeframe, start: number, end: number, symbol = BTC): Promise<Candles> {
  return new SimExchange({ clock: { now: () => now } }).fetchCandles(symbol, timeframe, start, end);
}
const asked = (endpoint = 'klines') =>
  server.requests
    .splice(0)
    .filter((request) => request.endpoint === endpoint)
    .map(({ symbol, interval, start, end, limit }) => {
      const [from, to] = [start, end].map((time) => new Date(time).toISOString().slice(0, 19));
      return `${symbol} ${interval} ${from} ${to} ${limit}`;
    });

describe('CcxtExchange candles', () => {
  it("fetchCandles returns the server's exact numbers in the fewest pages", async () => {
    const exchange = await open();
    const [start, end] = [at('2024-03-01T00:00'), at('2024-03-02T00:00')];
    expect(await exchange.fetchCandles(BTC, '1m', start, end)).toEqual(await expected('1m', start, end));
    expect(asked()).toEqual([
      'BTCUSDT 1m 2024-03-01T00:00:00 2024-03-01T08:18:59 499',
      'BTCUSDT 1m 2024-03-01T08:19:00 2024-03-01T16:37:59 499',
      'BTCUSDT 1m 2024-03-01T16:38:00 2024-03-01T23:59:59 442',
    ]);
    const hours = await exchange.fetchCandles(ETH, '1h', start + 1, end + 1);
    expect(hours).toEqual(await expected('1h', start + HOUR, end + HOUR, ETH));
  });

  it("fetchCandles omits the open candle by the exchange's clock", async () => {
    const exchange = await open();
    // The local clock is one minute ahead: the candle of 12:00 has not closed.
    server.now = () => now - MINUTE;
    const { timestamp } = await exchange.fetchCandles(BTC, '1m', at('2024-06-01T11:50'), now + DAY);
    expect([...timestamp]).toEqual(grid(at('2024-06-01T11:50'), at('2024-06-01T11:59'), MINUTE));
    expect(await exchange.fetchCandles(BTC, '1h', now, now + DAY)).toEqual(
      await expected('1h', now + DAY, now),
    );
  });

  it('fetchCandles retries the clock request when the response lacks the time', async () => {
    const exchange = await open();
    server.fail('time', { kind: 'rows', change: () => ({}) }, { kind: 'status', status: 502 });
    expect((await exchange.fetchCandles(BTC, '1h', now - DAY, now)).timestamp).toHaveLength(23);
    expect(repeats).toHaveLength(2);
  });

  it('range before the listing costs one extra page of daily candles', async () => {
    server.listed.set(ETH, at('2024-02-10T06:30'));
    const exchange = await open();
    const end = at('2024-02-10T12:00');
    const candles = await exchange.fetchCandles(ETH, '1m', at('2023-06-01'), end);
    expect(candles).toEqual(await expected('1m', at('2024-02-10T06:30'), end, ETH));
    expect(asked()).toHaveLength(4);
    const none = await exchange.fetchCandles(ETH, '1m', at('2023-01-01'), at('2023-02-01'));
    expect(none.timestamp).toHaveLength(0);
    expect(asked()).toHaveLength(2);
  });

  it('fetchCandles continues after a gap wider than a page', async () => {
    const exchange = await open();
    const [start, end] = [at('2024-03-01T00:00'), at('2024-03-03T00:00')];
    const gap = grid(start + 30 * MINUTE, start + DAY, MINUTE);
    for (const time of gap) server.missing.add(time);
    const { timestamp } = await exchange.fetchCandles(BTC, '1m', start, end);
    expect([...timestamp]).toEqual(grid(start, end, MINUTE).filter((time) => !server.missing.has(time)));
  });

  it('fetchCandles handles repeated, unordered and missing rows within a page', async () => {
    const exchange = await open();
    const [start, end] = [at('2024-03-01T00:00'), at('2024-03-02T00:00')];
    server.fail(
      'klines',
      { kind: 'rows', change: (rows) => [...rows.slice(0, 50), ...rows.slice(40)] },
      { kind: 'rows', change: (rows) => [...rows].reverse() },
      // Shorter than requested: the rest comes with another page.
      { kind: 'rows', change: (rows) => rows.slice(0, 7) },
    );
    const raw = await exchange.fetchCandles(BTC, '1m', start, end);
    const { candles, rejected } = cleanCandles(raw, { start, end, step: MINUTE });
    expect(candles).toEqual(await expected('1m', start, end));
    expect(rejected).toBe(0);
    server.fail('klines', { kind: 'rows', change: (rows) => rows.filter((_, i) => i < 10 || i > 19) });
    const withGaps = await exchange.fetchCandles(BTC, '1m', start, start + 3 * HOUR);
    expect(withGaps.timestamp).toHaveLength(170);
  });
});

describe('CcxtExchange symbols', () => {
  it("symbols returns the perpetuals in Touchstone's format", async () => {
    const symbols = await (await open()).symbols();
    expect(symbols).toContain(BTC);
    expect(symbols.every((symbol) => /^[A-Z0-9]+\/USDT:USDT$/.test(symbol))).toBe(true);
  });

  it('unlisted symbol is DATA003 without a request; markets reload after 10 minutes', async () => {
    const exchange = await open();
    const fetch = () => exchange.fetchCandles('NEW/USDT:USDT', '1h', at('2024-05-01'), at('2024-05-02'));
    const unknown = { code: 'DATA003', message: 'NEW/USDT:USDT is not listed on binanceusdm' };
    await expect(fetch()).rejects.toMatchObject(unknown);
    server.aliases.push('NEW/USDT:USDT');
    await expect(fetch()).rejects.toMatchObject(unknown);
    expect(server.requests.map((request) => request.endpoint)).toEqual(['exchangeInfo']);
    now += 10 * MINUTE;
    expect((await fetch()).timestamp).toHaveLength(24);
  });

  it('delisted symbol and non-perpetual symbol are DATA003', async () => {
    const exchange = await open();
    await exchange.symbols();
    const body = JSON.stringify({ code: -1121, msg: 'Invalid symbol.' });
    server.fail('klines', { kind: 'status', status: 400, body });
    await expect(exchange.fetchCandles(BTC, '1h', at('2024-05-01'), at('2024-05-02'))).rejects.toMatchObject({
      code: 'DATA003',
    });
    await expect(
      exchange.fetchCandles('BTC/USDT:USDT-301227', '1h', at('2024-05-01'), at('2024-05-02')),
    ).rejects.toMatchObject({ code: 'DATA003' });
  });
});

describe('CcxtExchange spot markets', () => {
  const SPOT = 'BTC/USDT';
  const spot = () => openExchanges(options()).open('binance', 'spot');

  it('fetchCandles reads the spot market in pages of its own limit', async () => {
    const exchange = await spot();
    const [start, end] = [at('2024-03-01T00:00'), at('2024-03-02T00:00')];
    expect(await exchange.fetchCandles(SPOT, '1m', start, end)).toEqual(await expected('1m', start, end));
    expect(asked()).toEqual([
      'BTCUSDT 1m 2024-03-01T00:00:00 2024-03-01T16:38:59 999',
      'BTCUSDT 1m 2024-03-01T16:39:00 2024-03-01T23:59:59 441',
    ]);
  });

  it('fetchInstrument returns the rules of the spot market, not of the perpetual', async () => {
    const exchange = await spot();
    expect(await exchange.fetchInstrument(SPOT)).toEqual({
      amountStep: 0.00001,
      minAmount: 0.00001,
      maxAmount: 9000,
      minCost: 5,
      maxCost: 9_000_000,
      contractSize: 1,
      priceTick: 0.01,
    });
    expect(await exchange.fetchInstrument(BTC)).toMatchObject({ minCost: 100, priceTick: 0.1 });
  });

  it('exchange without markets of the mode is rejected with VAL005', async () => {
    const exchanges = openExchanges(options());
    await expect(exchanges.open('binanceusdm', 'spot')).rejects.toMatchObject({
      code: 'VAL005',
      field: 'exchange',
      message: expect.stringContaining('binanceusdm does not provide candles of spot markets'),
    });
    expect((await exchanges.open('bitso', 'spot')).modes).toEqual(['spot']);
    await expect(exchanges.open('bitso')).rejects.toMatchObject({ code: 'VAL005' });
    const unlisted = (await spot()).fetchCandles('NEW/USDT', '1h', at('2024-05-01'), at('2024-05-02'));
    await expect(unlisted).rejects.toMatchObject({ code: 'DATA003' });
  });
});

describe('transient failures', () => {
  const day = async (exchange: CcxtExchange) =>
    exchange.fetchCandles(BTC, '1m', at('2024-03-01'), at('2024-03-02'));
  const whole = () => expected('1m', at('2024-03-01'), at('2024-03-02'));
  const rejection = (retryAfter?: string): Fault => ({
    kind: 'status',
    status: 429,
    body: '{"code":-1003,"msg":"Too many requests."}',
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });

  it.each<[string, Fault]>([
    ['429', rejection()],
    ['503 with an HTML page', { kind: 'status', status: 503 }],
    ['500 with an empty body', { kind: 'status', status: 500, body: '' }],
    ['truncated JSON', { kind: 'truncated' }],
    ['200 with an HTML page', { kind: 'html' }],
    ['a broken connection', { kind: 'cut' }],
    ['a body of more than 64 MiB', { kind: 'bomb', megabytes: 68 }],
  ])('fetchCandles requests the page again after %s', async (_, fault) => {
    const exchange = await open();
    await exchange.symbols();
    server.fail('klines', fault);
    expect(await day(exchange)).toEqual(await whole());
    expect(repeats).toHaveLength(1);
    expect(pauses).toEqual([1000]);
    expect(asked()).toHaveLength(4);
  });

  it('fetchCandles requests the page again when the exchange is silent', async () => {
    const exchange = await open({ timeoutMs: 60_000 });
    await exchange.symbols();
    server.fail('klines', { kind: 'silent' });
    // ccxt limits the wait for a response with `setTimeout`.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const candles = day(exchange);
    await expect.poll(() => server.requests.some(({ endpoint }) => endpoint === 'klines')).toBe(true);
    vi.advanceTimersByTime(60_000);
    expect(await candles).toEqual(await whole());
    expect(repeats).toHaveLength(1);
  });

  it.each<Fault>([{ kind: 'stalled' }, { kind: 'stalled gzip' }])(
    'fetchCandles requests the page again when its body is %j',
    async (fault) => {
      const exchange = await open({ timeoutMs: 100 });
      await exchange.symbols();
      server.fail('klines', fault);
      // The client's timer of a stalled body is real: on a busy machine it may end a later page too.
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      expect(await day(exchange)).toEqual(await whole());
      expect(repeats).not.toEqual([]);
    },
  );

  it.each<[string, Fault]>([
    ['truncated', { kind: 'truncated' }],
    ['empty', { kind: 'rows', change: () => ({ symbols: [] }) }],
    ['unavailable', { kind: 'status', status: 502 }],
  ])('symbols reloads the market list when it is %s', async (_, fault) => {
    server.fail('exchangeInfo', fault, fault);
    expect(await (await open()).symbols()).toContain(BTC);
    expect(repeats).toHaveLength(2);
  });

  it('retry pauses double with up to 50 % jitter', async () => {
    const exchange = await open({ random: () => 0.5 });
    await exchange.symbols();
    server.fail('klines', ...Array(4).fill({ kind: 'status', status: 503 }));
    await day(exchange);
    expect(pauses).toEqual([750, 1500, 3000, 6000]);
  });

  it('Retry-After in seconds or as a date sets the pause unless the backoff is longer', async () => {
    const exchange = await open();
    await exchange.symbols();
    server.fail('klines', rejection('7'));
    await day(exchange);
    expect(pauses).toEqual([7000]);
    server.fail('klines', rejection(new Date(now + 20_000).toUTCString()));
    await day(exchange);
    expect(pauses[1]).toBeGreaterThan(18_000);
    expect(pauses[1]).toBeLessThanOrEqual(20_000);
    // A Retry-After below the backoff does not shorten it.
    server.fail('klines', rejection('0'));
    await day(exchange);
    expect(pauses[2]).toBe(1000);
  });

  it('banned exchange is DATA004 immediately and without a request until the ban ends', async () => {
    const exchange = await open();
    await exchange.symbols();
    server.fail('klines', { ...rejection('3600'), status: 418 } as Fault);
    const banned = {
      code: 'DATA004',
      message: 'binanceusdm rejects requests until 2024-06-01T13:00:30.000Z. Retry after that time.',
    };
    await expect(day(exchange)).rejects.toMatchObject(banned);
    expect(asked()).toHaveLength(1);
    await expect(exchange.fetchFunding(ETH, NOW - DAY, NOW)).rejects.toMatchObject(banned);
    expect(server.requests).toEqual([]);
    now += 3600_000;
    expect(await day(exchange)).toEqual(await whole());
    expect(pauses).toEqual([]);
  });

  it.each<[Fault, string]>([
    [{ kind: 'status', status: 503 }, 'was not available'],
    [{ kind: 'status', status: 429 }, 'rejected the request rate'],
    [{ kind: 'truncated' }, 'sent an unreadable response'],
    [{ kind: 'cut' }, 'ended its response early'],
  ])('6 consecutive failures %j are DATA004 with our own message', async (fault, words) => {
    const exchange = await open();
    await exchange.symbols();
    server.requests.length = 0;
    server.failing = () => fault;
    const failure = await day(exchange).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'DATA004',
      message: `binanceusdm ${words} in 6 attempts. Retry later.`,
    });
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000]);
    expect(asked()).toHaveLength(6);
  });

  it('unreachable exchange costs at most 5 s and no request in the next 30 s', async () => {
    const exchange = await open({ url: 'http://127.0.0.1:9' });
    const failure = {
      code: 'DATA004',
      message: 'binanceusdm could not be reached in 3 attempts. Retry later.',
    };
    await expect(exchange.symbols()).rejects.toMatchObject(failure);
    expect(pauses).toEqual([1000, 2000]);
    // The next symbol needs no request.
    await expect(exchange.fetchCandles(BTC, '1m', NOW - DAY, NOW)).rejects.toMatchObject(failure);
    expect(pauses).toHaveLength(2);
    now += 30_000;
    await expect(exchange.symbols()).rejects.toMatchObject(failure);
    expect(pauses).toHaveLength(4);
  });

  it('silent exchange gets the rest of the 5 s to respond', async () => {
    const sleep = async () => {
      now += 1_980;
    };
    const exchange = await open({ sleep, random: () => 0, timeoutMs: 600_000 });
    server.fail('exchangeInfo', { kind: 'cut' }, { kind: 'cut' }, { kind: 'silent' });
    // The third attempt has 40 ms left, less than the request timeout of ten minutes.
    await expect(exchange.symbols()).rejects.toMatchObject({
      message: 'binanceusdm did not respond in time in 3 attempts. Retry later.',
    });
  });

  it('broken connection is retried up to 6 times when the exchange responded before', async () => {
    const exchange = await open();
    await exchange.symbols();
    server.failing = () => ({ kind: 'cut' });
    await expect(day(exchange)).rejects.toMatchObject({ context: { attempts: 6 } });
    // One minute later it counts as unreachable.
    now += 60_000;
    pauses = [];
    await expect(day(exchange)).rejects.toMatchObject({ context: { attempts: 3 } });
    server.failing = undefined;
    now += 30_000;
    expect(await day(exchange)).toEqual(await whole());
  });

  it('request rejected by the exchange is not retried', async () => {
    const exchange = await open();
    await exchange.symbols();
    server.failing = () => ({
      kind: 'status',
      status: 400,
      body: '{"code":-1102,"msg":"Mandatory parameter"}',
    });
    await expect(day(exchange)).rejects.toMatchObject({
      code: 'DATA004',
      message: 'binanceusdm rejected the request (BadRequest)',
    });
    expect(pauses).toEqual([]);
  });

  it('aborted signal ends fetchCandles with its reason', async () => {
    const exchange = await open();
    await exchange.symbols();
    const stop = new AbortController();
    server.failing = () => {
      stop.abort(new Error('stopped'));
      return undefined;
    };
    server.requests.length = 0;
    const fetched = exchange.fetchCandles(BTC, '1m', at('2024-03-01'), at('2024-03-02'), stop.signal);
    await expect(fetched).rejects.toThrow('stopped');
    expect(asked()).toHaveLength(1);
  });
});

it('aborted pause ends immediately with the reason', async () => {
  const stop = new AbortController();
  const {
    sleep: _,
    clock: _c,
    ...rest
  } = options({ onRetry: () => setImmediate(() => stop.abort(new Error('stopped'))) });
  const exchange = await CcxtExchange.open('binanceusdm', rest);
  server.failing = () => ({ kind: 'status', status: 429, retryAfter: '100' });
  const fetched = exchange.fetchCandles(BTC, '1m', NOW - DAY, NOW, stop.signal);
  await expect(fetched).rejects.toThrow('stopped');
});

describe('CcxtExchange funding', () => {
  const sim = (start: number, end: number) => new SimExchange().fetchFunding(BTC, start, end);

  it('fetchFunding returns events page by page, on the minute, with reported mark prices', async () => {
    const exchange = await open();
    const [start, end] = [at('2024-01-01'), at('2024-02-01')];
    expect(await exchange.fetchFunding(BTC, start, end)).toEqual(await sim(start, end));
    // 100 hours a page: 744 hours and the event at the end.
    expect(server.requests.filter((request) => request.endpoint === 'fundingRate')).toHaveLength(8);
    expect(server.requests.some((request) => request.endpoint === 'markPriceKlines')).toBe(false);
  });

  it('fetchFunding uses the open of the mark-price candle when the event lacks a price', async () => {
    server.hasMarkPrice = false;
    const exchange = await open();
    const [start, end] = [at('2023-01-01'), at('2023-01-11')];
    const events = await exchange.fetchFunding(BTC, start, end);
    const hours = await expected('1h', start, end + HOUR);
    expect(events.timestamp).toHaveLength(31);
    expect([...events.markPrice]).toEqual(
      [...events.timestamp].map((time) => hours.open[(time - start) / HOUR]),
    );
    expect(events.rate).toEqual((await sim(start, end)).rate);
  });
});

describe('openExchanges', () => {
  const exchanges = () => openExchanges(options());

  it('openExchanges opens each ccxt futures exchange once', async () => {
    const all = exchanges();
    expect((await all.open('sim')).name).toBe('sim');
    expect((await all.open('bybit')).name).toBe('bybit');
    expect(await all.open('binanceusdm')).toBe(await all.open('binanceusdm'));
  });

  it.each([
    ['mtgox', 'Unknown exchange "mtgox"'],
    ['bitso', 'bitso does not provide candles of perpetual futures'],
    ['Binance', 'Unknown exchange "Binance"'],
    ['../ccxt', 'Unknown exchange "../ccxt"'],
    ['base/Exchange', 'Unknown exchange'],
    ['', 'Unknown exchange ""'],
  ])('openExchanges rejects %j with VAL005', async (key, message) => {
    await expect(exchanges().open(key)).rejects.toMatchObject({
      code: 'VAL005',
      field: 'exchange',
      message: expect.stringContaining(message),
    });
  });

  it('exchange requests go to the given host with their own path', async () => {
    const exchange = await openExchanges(options()).open('okx');
    await expect(exchange.symbols()).rejects.toMatchObject({ code: 'DATA004' });
    expect(server.requests[0]!.endpoint).toBe('/api/v5/public/instruments');
  });
});

afterEach(() => {
  server.failing = undefined;
});

describe('instruments', () => {
  /** Replies of exchangeInfo with changes to the filters of the symbol. */
  const withFilters = (changes: Readonly<Record<string, object>>): Fault => ({
    kind: 'rows',
    change: (info) => {
      const { symbols, ...rest } = info as unknown as { symbols: { symbol: string; filters: object[] }[] };
      const changed = symbols.map((each) => ({
        ...each,
        filters: each.filters.map((filter) => ({
          ...filter,
          ...(each.symbol === 'BTCUSDT' ? changes[(filter as { filterType: string }).filterType] : {}),
        })),
      }));
      return { ...rest, symbols: changed };
    },
  });

  it("fetchInstrument returns the exchange's order rules", async () => {
    expect(await (await open()).fetchInstrument(BTC)).toEqual(INSTRUMENT);
  });

  it('fetchInstrument reloads markets older than 10 minutes', async () => {
    const exchange = await open();
    await exchange.fetchInstrument(BTC);
    server.fail('exchangeInfo', withFilters({ LOT_SIZE: { minQty: '5' }, MIN_NOTIONAL: { notional: '7' } }));
    now += 10 * MINUTE - 1;
    expect(await exchange.fetchInstrument(BTC)).toEqual(INSTRUMENT);
    now += 1;
    expect(await exchange.fetchInstrument(BTC)).toEqual({ ...INSTRUMENT, minAmount: 5, minCost: 7 });
    expect(await exchange.fetchInstrument(ETH)).toEqual(INSTRUMENT);
    expect(server.requests.filter(({ endpoint }) => endpoint === 'exchangeInfo')).toHaveLength(2);
  });

  it('fetchInstrument rejects contradictory limits with SVC002 and continues with the next symbol', async () => {
    server.fail('exchangeInfo', withFilters({ LOT_SIZE: { minQty: '5', maxQty: '2' } }));
    const exchange = await open();
    await expect(exchange.fetchInstrument(BTC)).rejects.toMatchObject({
      code: 'SVC002',
      message: `Invalid instrument ${BTC} from binanceusdm: minimum amount 5 is above maximum 2`,
    });
    expect(await exchange.fetchInstrument(ETH)).toEqual(INSTRUMENT);
  });

  it('fetchInstrument rejects an unlisted symbol with DATA003 and an outage with DATA004', async () => {
    const exchange = await open();
    await expect(exchange.fetchInstrument('NOBODY/USDT:USDT')).rejects.toMatchObject({ code: 'DATA003' });
    server.failing = () => ({ kind: 'status', status: 503 });
    now += HOUR;
    await expect(exchange.fetchInstrument(BTC)).rejects.toMatchObject({ code: 'DATA004' });
  });

  it('simulated market has no instruments', async () => {
    expect(await new SimExchange().fetchInstrument()).toBeUndefined();
  });

  const [TICK_SIZE, SIGNIFICANT_DIGITS, DECIMAL_PLACES] = [4, 3, 2];
  const nothing = { minAmount: null, maxAmount: null, minCost: null, maxCost: null, contractSize: 1 };
  const market = (rest: object) => ({ symbol: BTC, ...rest });

  it.each([
    ['steps', TICK_SIZE, { amount: 0.001, price: 0.5 }, 0.001, 0.5],
    ['steps as strings', TICK_SIZE, { amount: '0.001', price: ' 0.5 ' }, 0.001, 0.5],
    ['decimal places', DECIMAL_PLACES, { amount: 3, price: 0 }, 0.001, 1],
    ['negative decimal places (tens)', DECIMAL_PLACES, { amount: -1, price: 1 }, 10, 0.1],
    ['fractional decimal places', DECIMAL_PLACES, { amount: 1.5, price: 0.001 }, null, null],
    ['decimal places above the double range', DECIMAL_PLACES, { amount: 400, price: -400 }, null, null],
    ['significant digits, which have no fixed step', SIGNIFICANT_DIGITS, { amount: 8, price: 5 }, null, null],
    ['an unknown mode', undefined, { amount: 0.001, price: 0.5 }, null, null],
    ['null', TICK_SIZE, { amount: null, price: undefined }, null, null],
    ['0 and NaN', TICK_SIZE, { amount: 0, price: Number.NaN }, null, null],
    ['negative and infinite', TICK_SIZE, { amount: -0.1, price: Number.POSITIVE_INFINITY }, null, null],
    ['words and objects', TICK_SIZE, { amount: 'tiny', price: {} }, null, null],
    ['empty strings', TICK_SIZE, { amount: '', price: ' ' }, null, null],
    ['too small and too large', TICK_SIZE, { amount: 1e-300, price: 1e300 }, null, null],
    ['no precision', TICK_SIZE, null, null, null],
  ])('instrumentOf reads precision given as %s', (_, mode, precision, amountStep, priceTick) => {
    expect(instrumentOf(market({ precision }), mode)).toEqual({ ...nothing, amountStep, priceTick });
  });

  it('instrumentOf ignores zero, NaN and absent limits', () => {
    const limits = { amount: { min: 0, max: '9' }, cost: { min: Number.NaN, max: null } };
    const bare = { ...nothing, amountStep: null, priceTick: null };
    expect(instrumentOf(market({ limits }), TICK_SIZE)).toEqual({ ...bare, maxAmount: 9 });
    expect(instrumentOf(market({ limits: { amount: null } }), TICK_SIZE)).toEqual(bare);
    expect(instrumentOf(market({ limits: null, contractSize: null }), TICK_SIZE)).toEqual(bare);
    expect(instrumentOf(market({ contractSize: 0.01 }), TICK_SIZE)).toEqual({ ...bare, contractSize: 0.01 });
  });

  it.each([0, -1, Number.NaN, 'x', {}, 1e300])(
    'instrumentOf rejects a contract size of %s',
    (contractSize) => {
      expect(() => instrumentOf(market({ contractSize }), TICK_SIZE)).toThrow(RangeError);
    },
  );

  it('instrumentOf rejects a minimum cost above the maximum', () => {
    const limits = { cost: { min: 5, max: 4 } };
    expect(() => instrumentOf(market({ limits }), TICK_SIZE)).toThrow('minimum cost 5 is above maximum 4');
  });
});
