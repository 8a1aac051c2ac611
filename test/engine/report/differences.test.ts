import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareTrades } from '#engine/report/fill-models.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { Outcome, Outcomes } from '#engine/simulator/trade-table.ts';
import { GOLDEN } from '../simulator/worked-scenarios.ts';

const outcomesOf = (trades: readonly Outcome[]): Outcomes => ({
  length: trades.length,
  at: (row) => trades[row]!,
});

/** Trades of one pair by entry time and exit price, in the order of closing. */
const ofA = (...trades: readonly (readonly [openedAt: number, exitPrice: number])[]): Outcome[] =>
  trades.map(([openedAt, exitPrice]) => ({
    pair: 'A',
    side: 'long',
    openedAt,
    closedAt: openedAt + 1,
    exitPrice,
    exitReason: 'roi',
    amount: 1,
    profit: 0,
  }));

function compare(a: readonly Outcome[], b: readonly Outcome[]): readonly number[] {
  const count = compareTrades(outcomesOf(a), outcomesOf(b));
  // Neither run comes first.
  expect(compareTrades(outcomesOf(b), outcomesOf(a))).toEqual(count);
  return [count.differing_trades, count.shifted_trades!, count.unmatched_trades!];
}

describe('compareTrades', () => {
  it('a matched trade with another time, price or reason of its exit is a differing one', () => {
    const [trade] = ofA([1, 10]) as [Outcome];
    expect(compare([trade], [trade])).toEqual([0, 0, 0]);
    for (const change of [{ exitPrice: 11 }, { closedAt: 5 }, { exitReason: 'stop_loss' }])
      expect(compare([trade], [{ ...trade, ...change }])).toEqual([1, 0, 0]);
  });

  it('trades before, between and after matches are shifted one by one, and the rest is unmatched', () => {
    // Before the match at 10: two against one. Between 10 and 20: one against two. After 20: one against one.
    const a = ofA([1, 1], [3, 1], [10, 1], [12, 1], [20, 1], [25, 1]);
    const b = ofA([2, 1], [10, 1], [13, 1], [15, 1], [20, 2], [30, 1]);
    expect(compare(a, b)).toEqual([1, 3, 2]);
  });

  it('pairs are compared on their own', () => {
    const b = ofA([1, 1]).map((trade) => ({ ...trade, pair: 'B' }));
    expect(compare(ofA([1, 1]), b)).toEqual([0, 0, 2]);
    expect(compare([...ofA([1, 1]), ...b], b)).toEqual([0, 0, 1]);
  });

  it('a run has no difference from itself', () => {
    for (const { pair, settings } of GOLDEN) {
      const { outcomes, trades } = simulate([pair], settings);
      expect(compareTrades(outcomes, outcomes)).toEqual({
        differing_trades: 0,
        shifted_trades: 0,
        unmatched_trades: 0,
      });
      expect(compare(trades, trades)).toEqual([0, 0, 0]);
    }
  });

  it('trades are compared as defined for any two runs', () => {
    fc.assert(
      fc.property(run, run, (a, b) => {
        expect(compare(a, b)).toEqual(byDefinition(a, b));
      }),
      { numRuns: 500 },
    );
  });
});

const trade: fc.Arbitrary<Outcome> = fc.record({
  pair: fc.constantFrom('A', 'B'),
  side: fc.constant('long' as const),
  openedAt: fc.nat(9),
  closedAt: fc.nat(3).map((after) => 10 + after),
  exitPrice: fc.constantFrom(1, 2),
  exitReason: fc.constantFrom('roi', 'stop_loss'),
  amount: fc.constant(1),
  profit: fc.constant(0),
});

/** Trades with distinct entries, in the order of closing. */
const run = fc
  .uniqueArray(trade, { selector: ({ pair, openedAt }) => `${pair} ${openedAt}`, maxLength: 12 })
  .map((trades) => trades.toSorted((a, b) => a.closedAt - b.closedAt));

/** The definition read literally: entry times of both runs divide the time of a pair into parts. */
function byDefinition(a: readonly Outcome[], b: readonly Outcome[]): readonly number[] {
  let [differing, shifted, unmatched] = [0, 0, 0];
  for (const pair of ['A', 'B']) {
    const [ownA, ownB] = [a, b].map((trades) => trades.filter((each) => each.pair === pair)) as [
      Outcome[],
      Outcome[],
    ];
    const matches = ownA.flatMap((one) => ownB.filter(({ openedAt }) => openedAt === one.openedAt));
    for (const other of matches) {
      const one = ownA.find(({ openedAt }) => openedAt === other.openedAt)!;
      const isSame = (['closedAt', 'exitPrice', 'exitReason'] as const).every(
        (name) => one[name] === other[name],
      );
      if (!isSame) differing++;
    }
    const times = matches.map(({ openedAt }) => openedAt).sort((x, y) => x - y);
    const bounds = [Number.NEGATIVE_INFINITY, ...times, Number.POSITIVE_INFINITY];
    for (let part = 0; part + 1 < bounds.length; part++) {
      const [countA, countB] = [ownA, ownB].map(
        (trades) =>
          trades.filter(({ openedAt }) => openedAt > bounds[part]! && openedAt < bounds[part + 1]!).length,
      ) as [number, number];
      shifted += Math.min(countA, countB);
      unmatched += Math.abs(countA - countB);
    }
  }
  return [differing, shifted, unmatched];
}
