import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countFillModelDifferences } from '#engine/report/result.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { Outcome } from '#engine/simulator/trade-table.ts';
import { flat, pairOf, type Row, settingsOf } from '../simulator/market.ts';
import { GOLDEN } from '../simulator/worked-scenarios.ts';

function differences(
  rows: readonly Row[],
  enterLong: number[],
  settings: Parameters<typeof settingsOf>[0],
): number {
  const pair = pairOf({ rows, enterLong });
  const [freqtrade, conservative] = (['freqtrade', 'conservative'] as const).map((fillModel) =>
    simulate([pair], settingsOf({ ...settings, fillModel })),
  );
  const counts = [
    countFillModelDifferences(freqtrade!, conservative!),
    countFillModelDifferences(conservative!, freqtrade!),
  ];
  expect(counts[0]).toBeLessThanOrEqual(freqtrade!.outcomes.length);
  expect(counts[1]).toBeLessThanOrEqual(conservative!.outcomes.length);
  return Math.max(...counts);
}

describe('countFillModelDifferences', () => {
  it('countFillModelDifferences is 0 without ambiguity', () => {
    expect(differences([flat(100), flat(100), flat(97), flat(97)], [0], { stoploss: -0.02 })).toBe(0);
  });

  it('countFillModelDifferences counts another exit price once', () => {
    const rows: Row[] = [flat(100), flat(100), [96, 98.5, 95, 98], flat(98)];
    expect(differences(rows, [0], { stoploss: -0.02 })).toBe(1);
  });

  it('countFillModelDifferences counts another exit time and trades that only one model has', () => {
    // freqtrade: stop lifted to 104.5 and hit in candle 2, entry again in 3. Conservative: held to the end.
    const rows: Row[] = [flat(100), flat(100), [104, 110, 103, 105], flat(105), flat(105)];
    expect(differences(rows, [0, 2], { stoploss: -0.05, trailing: {} })).toBe(2);
  });

  it('countFillModelDifferences is 0 between a run and itself', () => {
    for (const { pair, settings } of GOLDEN) {
      const simulation = simulate([pair], settings);
      expect(countFillModelDifferences(simulation, simulation)).toBe(0);
    }
  });

  it('countFillModelDifferences matches its definition for any order of concurrent closes', () => {
    fc.assert(
      fc.property(run, run, (a, b) => {
        const outcomesOf = (trades: readonly Outcome[]) => ({
          outcomes: { length: trades.length, at: (row: number) => trades[row]! },
        });
        expect(countFillModelDifferences(outcomesOf(a), outcomesOf(b))).toBe(byDefinition(a, b));
      }),
      { numRuns: 500 },
    );
  });
});

const trade = fc.record({
  pair: fc.constantFrom('A', 'B', 'C'),
  side: fc.constantFrom('long' as const, 'short' as const),
  openedAt: fc.nat(4),
  closedAt: fc.nat(3).map((after) => 5 + after),
  exitPrice: fc.constantFrom(1, 2),
  profit: fc.constant(0),
  leftOpen: fc.constant(false),
});

const entryOf = ({ pair, side, openedAt }: Outcome) => JSON.stringify([pair, side, openedAt]);

/** Trades with distinct entries, in the order of closing. */
const run = fc
  .uniqueArray(trade, { selector: entryOf, maxLength: 12 })
  .map((trades) => trades.toSorted((a, b) => a.closedAt - b.closedAt));

function byDefinition(a: readonly Outcome[], b: readonly Outcome[]): number {
  const entries = a.map(entryOf);
  const exitIn = (trades: readonly Outcome[], entry: string) => {
    const found = trades.find((each) => entryOf(each) === entry);
    return found && `${found.closedAt} at ${found.exitPrice}`;
  };
  return entries.filter((entry) => exitIn(a, entry) !== exitIn(b, entry)).length;
}
