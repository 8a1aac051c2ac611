import { DAY_MS } from '#contract/values/durations.ts';
import { commonGrid, floorToGrid, TIMEFRAME_MS, type Timeframe, type TimeGrid } from '#engine/timeframe.ts';

const STEP_MS = TIMEFRAME_MS['3d'];
/** Binance moved its candles of 3d by two days: the one that opened two days before lasted two days. */
const MOVED_MS = Date.UTC(2023, 7, 16);

/** Binance's candles of 3d open at days 2 modulo 3 since 1970, from 2023-08-16 at days 1. */
const BINANCE_3D: TimeGrid = {
  floor: (time) => {
    const origin = (time < MOVED_MS ? 2 : 1) * DAY_MS;
    return Math.floor((time - origin) / STEP_MS) * STEP_MS + origin;
  },
  next: (time) => (time < MOVED_MS ? Math.min(time + STEP_MS, MOVED_MS) : time + STEP_MS),
};

const OF_BINANCE: readonly string[] = ['binance', 'binanceusdm'];

/** True if candles of a timeframe open elsewhere on an exchange than on the others. */
export function hasOwnGrid(exchange: string, timeframe: Timeframe): boolean {
  return timeframe === '3d' && OF_BINANCE.includes(exchange);
}

/** Where the candles of an exchange open. */
export function exchangeGrid(exchange: string, timeframe: Timeframe): TimeGrid {
  return hasOwnGrid(exchange, timeframe) ? BINANCE_3D : commonGrid(TIMEFRAME_MS[timeframe]);
}

/** Moves times with their candles from the grid of an exchange to the common one. */
export function onCommonGrid(exchange: string, timeframe: Timeframe): (time: number) => number {
  const { floor } = exchangeGrid(exchange, timeframe);
  return (time) => {
    const open = floor(time);
    return time - open + floorToGrid(open, TIMEFRAME_MS[timeframe]);
  };
}
