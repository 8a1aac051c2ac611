import { createCandles } from '#engine/candles.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import type { CcxtClient, CcxtFunding, CcxtMarket } from './ccxt-client.ts';
import { fetchPages } from './ccxt-pages.ts';
import type { RetryingCaller } from './retry.ts';

interface FundingRow {
  /** As the exchange gave it. */
  readonly stamp: number;
  readonly time: number;
  readonly rate: number;
  readonly price?: number;
}

const HOUR_MS = TIMEFRAME_MS['1h'];
const MINUTE_MS = TIMEFRAME_MS['1m'];
/** What exchanges give at once, where they do not say. */
const PAGE_EVENTS = 100;

export interface FundingRequest {
  readonly market: CcxtMarket;
  /** Events in `[start, end]` ms. */
  readonly start: number;
  readonly end: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Funding events, ascending, with the mark prices at which they were paid. Where the exchange does not tell the price it is
 * the open of the mark price's candle of that hour, and of the traded price where there is none; an event without any is
 * left out. None where the exchange publishes no history.
 */
export async function fetchFundingEvents(
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

/** Hourly events, the closest there are, fill no page of the stretch that is asked for. */
async function fetchRows(
  client: CcxtClient,
  caller: RetryingCaller,
  { market, start, end, signal }: FundingRequest,
): Promise<FundingRow[]> {
  const limit = client.features?.swap?.linear?.fetchFundingRateHistory?.limit ?? PAGE_EVENTS;
  const rows: FundingRow[] = [];
  // An event of the last moment is stamped later.
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
  // Stamps come up to some milliseconds late.
  const time = Math.floor(stamp / MINUTE_MS) * MINUTE_MS;
  return [{ stamp, time, rate, ...(price > 0 ? { price } : {}) }];
}

/** Prices by hour since the epoch, of the stretch in which events come without one. */
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
