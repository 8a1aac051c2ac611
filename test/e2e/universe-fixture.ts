import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openMarketStores } from '#adapters/open-market-stores.ts';
import type { InstrumentRecord } from '#contract/market-data/stored-market-data.ts';
import { createCandles } from '#engine/candles.ts';
import type { Platform } from '../../src/local/platform.ts';

/** Planted candles of a universe, and a reference that shares no code with the engine. */

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
const FIRST = Date.UTC(2026, 0, 1);
const LAST = Date.UTC(2026, 2, 10);

interface Row {
  readonly time: number;
  readonly close: number;
  readonly volume: number;
}
export type Market = Record<string, Row[]>;
type Volume = (name: string, day: number) => number;

/** Hash of two numbers in [0, 1). */
function chance(a: number, b: number): number {
  const x = Math.sin(a * 127.1 + b * 311.7) * 43_758.545;
  return x - Math.floor(x);
}

const NAMES = ['ADA', 'BNB', 'DEAD', 'ETC', 'LINK', 'NEW', 'XRP'];
export const symbolOf = (name: string) => `${name}/USDT:USDT`;
/** DEAD is delisted within the run, NEW is listed within it. */
export const DELISTED = Date.UTC(2026, 1, 18, 5);
const LISTED = Date.UTC(2026, 1, 4);
/** The day before a Monday on which the pair with the largest volume has no candle. */
export const EMPTY_DAY = Date.UTC(2026, 1, 22);

const plainVolume: Volume = (name, day) => {
  if (name === 'ADA') return 1;
  if (name === 'LINK') return 60;
  const index = NAMES.indexOf(name);
  const loud = name === 'DEAD' || name === 'NEW' ? 40 : 10;
  return loud * (0.2 + 2 * chance(index, Math.floor(day / 9)));
};

/** Hourly candles of all pairs. Their prices differ by a factor of 100, so that volume in base currency ranks otherwise. */
export function plantedMarket(volume: Volume = plainVolume): Market {
  const market: Market = {};
  for (const [index, name] of NAMES.entries()) {
    const rows: Row[] = [];
    let close = 10 * (1 + index * index);
    for (let time = FIRST; time < LAST; time += HOUR) {
      close *= 1 + (chance(index + 1, time / HOUR) - 0.5) * 0.02;
      if (name === 'DEAD' && time >= DELISTED) break;
      if (name === 'NEW' && time < LISTED) continue;
      if (name === 'LINK' && time >= EMPTY_DAY && time < EMPTY_DAY + DAY) continue;
      const day = (time - FIRST) / DAY;
      rows.push({
        time,
        close,
        volume: (volume(name, Math.floor(day)) / close) * (0.5 + chance(index, time / HOUR)),
      });
    }
    market[symbolOf(name)] = rows;
  }
  return market;
}

export const louder: Volume = (name, day) =>
  plainVolume(name, day) * (name === 'ADA' && day >= 53 ? 1_000 : 1);

export async function plant(platform: Platform, exchange: string, market: Market): Promise<void> {
  const { candles: store, dynamo } = openMarketStores(platform.info.storage);
  for (const [symbol, rows] of Object.entries(market)) {
    const candles = createCandles(rows.length);
    for (const [at, { time, close, volume }] of rows.entries()) {
      const open = rows[at - 1]?.close ?? close;
      candles.timestamp[at] = time;
      candles.open[at] = open;
      candles.high[at] = Math.max(open, close);
      candles.low[at] = Math.min(open, close);
      candles.close[at] = close;
      candles.volume[at] = volume;
    }
    await store.write({ exchange, symbol, timeframe: '1h' }, candles);
  }
  dynamo.destroy();
}

const INSTRUMENT: InstrumentRecord = {
  amount_step: 0.0001,
  min_amount: null,
  max_amount: null,
  min_cost: null,
  max_cost: null,
  contract_size: 1,
  price_tick: 0.0001,
  collected_at: '2026-01-01T00:00:00.000Z',
};

export async function plantInstruments(platform: Platform, exchange: string, symbols: readonly string[]) {
  const { instruments, dynamo } = openMarketStores(platform.info.storage);
  for (const symbol of symbols) await instruments.record(exchange, symbol, INSTRUMENT);
  dynamo.destroy();
}

/** Changes the last byte of a stored file. Returns its key. */
export function corruptFile(platform: Platform, key: string): string {
  const { OBJECTS_DIRECTORY, CANDLES_BUCKET } = platform.info.storage;
  const file = join(OBJECTS_DIRECTORY!, CANDLES_BUCKET, key);
  const bytes = readFileSync(file);
  bytes[bytes.length - 1]! ^= 255;
  writeFileSync(file, bytes);
  return key;
}

interface Rule {
  readonly n: number;
  readonly lookback_days: number;
  readonly min_age_days: number;
}

/** The pairs of each day, straight from the rule: a scan of all candles for every day. */
export function naiveMembers(
  market: Market,
  rule: Rule,
  from: number,
  to: number,
  isChoice: (day: Date) => boolean,
) {
  const days: { day: number; pairs: string[] }[] = [];
  for (let day = from; day < to; day += DAY) {
    let choice = day;
    while (!isChoice(new Date(choice))) choice -= DAY;
    const volumes = Object.entries(market)
      .filter(([, rows]) => rows.some(({ time }) => time >= choice - DAY && time < choice))
      .filter(([, rows]) => choice - rows[0]!.time >= rule.min_age_days * DAY)
      .map(([pair, rows]) => ({
        pair,
        volume: rows
          .filter(({ time }) => time >= choice - rule.lookback_days * DAY && time < choice)
          .reduce((sum, each) => sum + each.close * each.volume, 0),
      }))
      .sort((a, b) => b.volume - a.volume);
    days.push({ day, pairs: volumes.slice(0, rule.n).map(({ pair }) => pair) });
  }
  return days;
}
