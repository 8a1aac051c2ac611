import { expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { PairInput } from '#engine/simulator/types.ts';
import { candlesOf, flat, fundingOf, HOUR, pairOf, type Row, START, settingsOf } from './market.ts';

/** Errors that random runs have shown, in their smallest form. */

const MINUTE = 60_000;

/** Hourly candles at 100 with a long signal on the first, in quarter-hour detail with the given lows. */
function quarterly(pair: string, hours: number, lows: Readonly<Record<number, number>> = {}): PairInput {
  const detail = Array.from(
    { length: hours * 4 },
    (_, quarter): Row => [100, 100, lows[quarter] ?? 100, 100],
  );
  const rows = Array.from({ length: hours }, (_, hour): Row => {
    const quarters = detail.slice(hour * 4, hour * 4 + 4);
    return [100, 100, Math.min(...quarters.map(([, , low]) => low)), 100];
  });
  return pairOf({ pair, rows, enterLong: [0], detail: candlesOf(detail, HOUR / 4) });
}

const QUARTERS = settingsOf({ detailTimeframeMs: HOUR / 4 });

it('price range of a trade ends with the detail candle of its exit', () => {
  const { trades } = simulate([quarterly('A', 3, { 5: 97, 7: 50 })], { ...QUARTERS, stoploss: -0.02 });

  expect(trades).toMatchObject([{ closedAt: START + 75 * MINUTE, exitPrice: 98, lowestPrice: 97 }]);
});

it('forced exit at the open of the last candle pays no funding of later detail candles', () => {
  const events = [1, 2, 2.25].map((hour) => ({ hour, rate: 0.01, markPrice: 100 }));
  const { trades, finalBalance } = simulate([{ ...quarterly('A', 3), funding: fundingOf(events) }], QUARTERS);

  expect(trades).toMatchObject([{ closedAt: START + 120 * MINUTE, funding: -2, profit: -2 }]);
  expect(finalBalance).toBe(998);
});

it('funding up to the open of its last candle stays with a pair that ends before another one enters', () => {
  const events = [1, 2].map((hour) => ({ hour, rate: -0.01, markPrice: 100 }));
  const ended = { ...quarterly('A', 3), funding: fundingOf(events) };
  const { signals } = pairOf({ rows: Array.from({ length: 7 }, () => flat(100)), enterLong: [3] });
  const { trades } = simulate([ended, { ...quarterly('B', 7), signals }], { ...QUARTERS, maxOpenTrades: 2 });

  expect(trades).toMatchObject([
    { pair: 'A', closedAt: START + 2 * HOUR, funding: 2, profit: 2 },
    { pair: 'B', openedAt: START + 4 * HOUR },
  ]);
});

it('balance is the decimal sum of the profits', () => {
  // 1000 + 14.85 - 4.95 - 4.95 - 4.95 is 999.9999999999999 in binary, too little for a stake of 990.
  const rows = [100, 90, 90, 90, 90, 100, 100].map((low): Row => [100, 100, low, 100]);
  const funding = fundingOf([{ hour: 1, rate: -0.01, markPrice: 100 }]);
  const { trades, finalBalance } = simulate(
    [pairOf({ rows, enterLong: [...rows.keys()], funding })],
    settingsOf({ stake: { kind: 'fixed', amount: 990 }, leverage: 2, stoploss: -0.005 }),
  );

  expect(trades.map(({ profit }) => profit)).toEqual([14.85, -4.95, -4.95, -4.95, 0]);
  expect(finalBalance).toBe(1000);
});

it('last of three equal stakes of a third is available', () => {
  const { trades } = simulate(
    ['A', 'B', 'C'].map((pair) => pairOf({ pair, rows: [100, 100, 100].map(flat), enterLong: [0] })),
    settingsOf({ startingBalance: 1, stake: { kind: 'fixed', amount: 0.33 }, maxOpenTrades: 3 }),
  );

  expect(trades.map(({ pair, stake }) => [pair, stake])).toEqual([
    ['A', 0.33],
    ['B', 0.33],
    ['C', 0.33],
  ]);
});
