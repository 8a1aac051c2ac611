import { DAY_MS } from '#contract/values/durations.ts';
import { type Candles, createCandles, sliceCandles } from '#engine/candles.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { CcxtCandle, CcxtClient, CcxtMarket } from './ccxt-client.ts';
import type { RetryingCaller } from './retry.ts';

/** Request for candles that open in `[start, end)` ms, both on the timeframe's grid. */
export interface CandleRequest {
  readonly market: CcxtMarket;
  readonly timeframe: Timeframe;
  readonly start: number;
  readonly end: number;
  /** True: candles of the mark price instead of trades. */
  readonly mark?: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Page size of an exchange without a known limit, rows. */
const PAGE_ROWS = 200;

/**
 * All candles of a request, in the order of the pages. Repeated or unordered rows within a page are not corrected. Each
 * page requests an interval that it can hold: for a longer one exchanges differ in which end they return.
 */
export async function fetchPages(
  client: CcxtClient,
  caller: RetryingCaller,
  request: CandleRequest,
): Promise<Candles> {
  const { end } = request;
  const step = TIMEFRAME_MS[request.timeframe];
  const output = new RowBuffer(Math.max(0, (end - request.start) / step));
  const span = pageRows(client, request.market) * step;
  let searched = step >= DAY_MS;
  for (let at = request.start; at < end; ) {
    const windowEnd = Math.min(at + span, end);
    const rows = await fetchPage(client, caller, request, at, windowEnd);
    output.append(rows);
    // Exchanges may return less than their limit: the next page starts after the last row.
    if (rows.length > 0) at = rows.reduce((last, row) => Math.max(last, row[0]!), at) + step;
    else if (output.length > 0 || searched) at = windowEnd;
    else {
      at = await firstDay(client, caller, { ...request, start: at });
      searched = true;
    }
  }
  return output.candles();
}

/** One below the limit: the request weight of Binance depends on the size, and 500 candles cost 2.5 times 499. */
function pageRows(client: CcxtClient, market: CcxtMarket): number {
  const { spot, swap } = client.features ?? {};
  const features = market.spot ? spot : swap?.[market.linear === false ? 'inverse' : 'linear'];
  return (features?.fetchOHLCV?.limit ?? PAGE_ROWS) - 1;
}

/** Day of the first candle, from daily candles: the years before a listing take one page instead of a thousand. */
async function firstDay(client: CcxtClient, caller: RetryingCaller, request: CandleRequest): Promise<number> {
  const { market, start, end } = request;
  const span = pageRows(client, market) * DAY_MS;
  for (let at = Math.floor(start / DAY_MS) * DAY_MS; at < end; at += span) {
    const daily = { ...request, timeframe: '1d' as const };
    const rows = await fetchPage(client, caller, daily, at, Math.min(at + span, end));
    if (rows.length > 0) {
      const first = rows.reduce((least, row) => Math.min(least, row[0]!), Number.POSITIVE_INFINITY);
      return Math.max(start, first);
    }
  }
  return end;
}

async function fetchPage(
  client: CcxtClient,
  caller: RetryingCaller,
  { market, timeframe, mark, signal }: CandleRequest,
  start: number,
  end: number,
): Promise<readonly CcxtCandle[]> {
  const limit = Math.ceil((end - start) / TIMEFRAME_MS[timeframe]);
  const params = { until: end - 1, ...(mark ? { price: 'mark' } : {}) };
  return caller.call(async () => {
    const rows = await client.fetchOHLCV(market.symbol, timeframe, start, limit, params);
    return rows.filter((row) => row[0]! >= start && row[0]! < end);
  }, signal);
}

/** Columns that grow when an exchange returns more rows than expected. */
class RowBuffer {
  #candles: Candles;
  length = 0;

  constructor(capacity: number) {
    this.#candles = createCandles(capacity);
  }

  append(rows: readonly CcxtCandle[]): void {
    if (this.length + rows.length > this.#candles.timestamp.length) this.#grow(rows.length);
    const { timestamp, open, high, low, close, volume } = this.#candles;
    for (const row of rows) {
      const i = this.length++;
      timestamp[i] = row[0]!;
      open[i] = row[1] ?? Number.NaN;
      high[i] = row[2] ?? Number.NaN;
      low[i] = row[3] ?? Number.NaN;
      close[i] = row[4] ?? Number.NaN;
      volume[i] = row[5] ?? Number.NaN;
    }
  }

  candles(): Candles {
    return sliceCandles(this.#candles, 0, this.length);
  }

  #grow(by: number): void {
    const larger = createCandles(2 * this.length + by);
    for (const name of Object.keys(larger) as (keyof Candles)[]) larger[name].set(this.#candles[name]);
    this.#candles = larger;
  }
}
