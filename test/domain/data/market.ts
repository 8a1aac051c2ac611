import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { DynamoCollectionStore } from '#adapters/dynamo/collection-store.ts';
import { DynamoInstrumentStore, DynamoSeriesStore } from '#adapters/dynamo/series-stores.ts';
import { FileObjectStore } from '#adapters/local/file-object-store.ts';
import { ParquetCandleStore } from '#adapters/parquet/candle-store.ts';
import type { FreshnessQuery } from '#contract/market-data/market-data.ts';
import { CodedError } from '#contract/values/errors.ts';
import { TRADING_MODES } from '#contract/values/trading-modes.ts';
import type { CollectionStore } from '#domain/data/collection-queue.ts';
import type { Exchange, Exchanges } from '#domain/data/exchange-ports.ts';
import { getDataFreshness } from '#domain/data/get-data-freshness.ts';
import type { InstrumentStore } from '#domain/data/instrument-ports.ts';
import type { SeriesKeeper } from '#domain/data/series-ports.ts';
import type { CandleStore, SeriesStates, SeriesStore } from '#domain/ports.ts';
import { type Candles, createCandles } from '#engine/candles.ts';
import type { Instrument } from '#engine/instrument.ts';
import type { FundingEvents } from '#engine/simulator/types.ts';
import { TIMEFRAME_MS, type Timeframe } from '#engine/timeframe.ts';
import type { TestEngine } from '../../support/engine.ts';

export const BTC = 'BTC/USDT:USDT';
export const ETH = 'ETH/USDT:USDT';
export const HOUR = 3_600_000;
export const DAY = 86_400_000;
export const at = (text: string) => Date.parse(`${text}Z`);

export interface Market {
  readonly series: SeriesStore & SeriesStates;
  readonly instruments: InstrumentStore;
  readonly candles: CandleStore & SeriesKeeper;
  readonly collections: CollectionStore;
  readonly clock: { now: () => number };
  setNow(time: number): void;
  /** Stores an instrument as releases without a history did. */
  putInstrument(exchange: string, symbol: string, record: object): Promise<void>;
  /** Turns one bit in the middle of a stored file. */
  damage(file: string): Promise<void>;
  stop(): Promise<void>;
}

/** Empty stores on a running engine, with a fixed clock. */
export async function openMarket(engine: TestEngine, now = at('2024-06-01')): Promise<Market> {
  const folder = await mkdtemp(join(tmpdir(), 'touchstone-market-'));
  const { series: table } = await engine.freshTables();
  let time = now;
  const clock = { now: () => time };
  const series = new DynamoSeriesStore(engine.client, table);
  const candles = new ParquetCandleStore({ objects: new FileObjectStore(folder), series, clock });
  return {
    series,
    instruments: new DynamoInstrumentStore(engine.client, table),
    candles,
    collections: new DynamoCollectionStore(engine.client, table),
    clock,
    putInstrument: async (exchange, symbol, record) => {
      const instrument = JSON.stringify({ schema_version: 1, ...record });
      const Item = { exchange: `${exchange}#instruments`, series: symbol, instrument };
      await engine.client.send(new PutCommand({ TableName: table, Item }));
    },
    setNow: (next) => {
      time = next;
    },
    damage: async (file) => {
      const path = join(folder, file);
      const body = await readFile(path);
      body[body.length >> 1]! ^= 1;
      await writeFile(path, body);
    },
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

/** True if every queried series of the test exchange is fresh, with a threshold of 24 hours. */
export const allFresh = async (market: Market, query: Omit<FreshnessQuery, 'stale_threshold_hours'>) =>
  (await getDataFreshness({ ...market, defaultExchange: 'test' }, { stale_threshold_hours: 24, ...query }))
    .all_fresh;

/** Prices encode the time: candle `k` since the epoch opens at 1000 + k modulo 1000. */
export function candlesAt(times: readonly number[], step: number): Candles {
  const candles = createCandles(times.length);
  times.forEach((time, i) => {
    const open = 1000 + ((time / step) % 1000);
    candles.timestamp[i] = time;
    candles.open[i] = open;
    candles.high[i] = open + 2;
    candles.low[i] = open - 2;
    candles.close[i] = open + 1;
    candles.volume[i] = 5;
  });
  return candles;
}

/** Grid times in [start, end). */
export function grid(start: number, end: number, step: number): number[] {
  return Array.from({ length: Math.max(0, Math.ceil((end - start) / step)) }, (_, i) => start + i * step);
}

/** Contains only this exchange. */
export function exchangesOf(exchange: Exchange): Exchanges {
  return {
    open: async (key) => {
      if (key === exchange.name) return exchange;
      throw new CodedError('VAL005', { message: `Unknown exchange "${key}"`, field: 'exchange' });
    },
  };
}

/** For {@link TestExchange.during}: rejects with the signal's reason once it is aborted. */
export async function untilAborted(signal: AbortSignal | undefined): Promise<void> {
  if (!signal!.aborted) await once(signal!, 'abort');
  signal!.throwIfAborted();
}

type Call = {
  readonly what: 'candles' | 'funding' | 'instrument';
  readonly symbol: string;
  readonly from: string;
  readonly to: string;
};

const iso = (time: number) => new Date(time).toISOString().slice(0, 16);

/** Binance's rules for BTC/USDT:USDT. */
export const INSTRUMENT: Instrument = {
  amountStep: 0.001,
  minAmount: 0.001,
  maxAmount: 1000,
  minCost: 100,
  maxCost: null,
  contractSize: 1,
  priceTick: 0.1,
};

/** Exchange with every candle except `missing`; records its calls. */
export class TestExchange implements Exchange {
  readonly name: string = 'test';
  readonly modes = TRADING_MODES;
  readonly calls: Call[] = [];
  /** First candle of any symbol, ms. */
  listed = 0;
  /** Timestamps without a candle. */
  readonly missing = new Set<number>();
  /** Called before every response; may throw. */
  before: (call: Call) => void = () => {};
  /** Awaited by every call. */
  during: (signal: AbortSignal | undefined) => Promise<void> = async () => {};
  /** Changes the returned candles. */
  change: (candles: Candles) => Candles = (candles) => candles;
  fundingHours = 8;
  /** Returned for every symbol. */
  instrument: Instrument | undefined = INSTRUMENT;

  async symbols(): Promise<readonly string[]> {
    return [BTC, ETH];
  }

  async fetchCandles(
    symbol: string,
    timeframe: Timeframe,
    start: number,
    end: number,
    signal?: AbortSignal,
  ): Promise<Candles> {
    this.#note({ what: 'candles', symbol, from: iso(start), to: iso(end) });
    await this.during(signal);
    const step = TIMEFRAME_MS[timeframe];
    const from = Math.max(Math.ceil(start / step) * step, this.listed);
    const times = grid(from, end, step).filter((time) => !this.missing.has(time));
    return this.change(candlesAt(times, step));
  }

  async fetchFunding(symbol: string, start: number, end: number): Promise<FundingEvents> {
    this.#note({ what: 'funding', symbol, from: iso(start), to: iso(end) });
    const step = this.fundingHours * HOUR;
    const times = grid(Math.ceil(Math.max(start, this.listed) / step) * step, end + 1, step);
    return {
      timestamp: Float64Array.from(times),
      rate: new Float64Array(times.length).fill(0.0001),
      markPrice: new Float64Array(times.length).fill(1000),
    };
  }

  async fetchInstrument(symbol: string): Promise<Instrument | undefined> {
    this.#note({ what: 'instrument', symbol, from: '', to: '' });
    return this.instrument;
  }

  /** Calls of one kind since the previous `asked()`. Clears all recorded calls. */
  asked(what: Call['what'] = 'candles'): string[] {
    return this.calls
      .splice(0)
      .filter((call) => call.what === what)
      .map(({ symbol, from, to }) => `${symbol} ${from} ${to}`);
  }

  #note(call: Call): void {
    this.calls.push(call);
    this.before(call);
  }
}
