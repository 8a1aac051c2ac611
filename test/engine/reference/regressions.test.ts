import { expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import { NO_SIGNALS } from './random-markets.ts';
import { PLAIN } from './reference-scenarios.ts';
import { pairInputOf, settingsOf } from './translate.ts';
import type { Bar, Market, Rules } from './types.ts';

/** Errors found by the reference implementation, reduced to their smallest form. */

const MINUTE = 60_000;
const START = Date.UTC(2024, 0, 1);
const LONG = { ...NO_SIGNALS, enterLong: true };

const flat = (time: number, low = 100): Bar => ({ time, open: 100, high: 100, low, close: 100 });

/** Hourly candles at 100 with a long signal on the first, in quarter-hour detail with the given lows. */
function market(pair: string, hours: number, lows: Readonly<Record<number, number>> = {}): Market {
  const detail = Array.from({ length: hours * 4 }, (_, i) => flat(START + i * 15 * MINUTE, lows[i]));
  const bars = Array.from({ length: hours }, (_, hour) => {
    const quarters = detail.slice(hour * 4, hour * 4 + 4);
    return flat(START + hour * 60 * MINUTE, Math.min(...quarters.map(({ low }) => low)));
  });
  const signals = bars.map((_, hour) => (hour === 0 ? LONG : NO_SIGNALS));
  return { pair, bars, signals, funding: [], detail };
}

const run = (markets: Market[], rules: Rules) => simulate(markets.map(pairInputOf), settingsOf(rules));

it('price range of a trade ends with the detail candle of its exit', () => {
  const { trades } = run([market('A', 3, { 5: 97, 7: 50 })], { ...PLAIN, detailMinutes: 15, stoploss: 0.02 });

  expect(trades).toMatchObject([{ closedAt: START + 75 * MINUTE, exitPrice: 98, lowestPrice: 97 }]);
});

it('forced exit at the open of the last candle pays no funding of later detail candles', () => {
  const funding = [60, 120, 135].map((minute) => ({ time: START + minute * MINUTE, rate: 0.01, mark: 100 }));
  const { trades, finalBalance } = run([{ ...market('A', 3), funding }], { ...PLAIN, detailMinutes: 15 });

  expect(trades).toMatchObject([{ closedAt: START + 120 * MINUTE, funding: -2, profit: -2 }]);
  expect(finalBalance).toBe(998);
});

it('balance is the decimal sum of the profits', () => {
  // 1000 + 14.85 - 4.95 - 4.95 - 4.95 is 999.9999999999999 in binary, too little for a stake of 990.
  const rows = [1, 1, 0.9, 0.9, 0.9, 1, 1].map((low, i) => flat(START + i * 60 * MINUTE, 100 * low));
  const signals = rows.map(() => LONG);
  const funding = [{ time: START + 60 * MINUTE, rate: -0.01, mark: 100 }];
  const rules = { ...PLAIN, stake: 990, leverage: 2, stoploss: 0.005 };
  const bars = rows.map((bar, i) => (i === 1 ? { ...bar, low: 90 } : bar));
  const { trades, finalBalance } = simulate(
    [pairInputOf({ pair: 'A', bars, signals, funding, detail: [] })],
    settingsOf(rules),
  );

  expect(trades.map(({ profit }) => profit)).toEqual([14.85, -4.95, -4.95, -4.95, 0]);
  expect(finalBalance).toBe(1000);
});

it('last of three equal stakes of a third is available', () => {
  const rules = { ...PLAIN, wallet: 1, stake: 0.33, stoploss: 0.5 };
  const { trades } = run(
    ['A', 'B', 'C'].map((pair) => market(pair, 3)),
    rules,
  );

  expect(trades.map(({ pair, stake }) => [pair, stake])).toEqual([
    ['A', 0.33],
    ['B', 0.33],
    ['C', 0.33],
  ]);
});
