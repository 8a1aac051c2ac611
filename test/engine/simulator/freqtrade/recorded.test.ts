import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { Simulation } from '#engine/simulator/types.ts';
import { pairsOf, settingsOf } from '../vectors.ts';
import { accountDifferences } from './account.ts';
import { type RandomScenario, randomScenario } from './random-scenarios.ts';
import { COLUMNS, differencesOf, digestOf, type Recorded, readRecords } from './recorded.ts';

const RECORDED = readRecords();
const DRAWN = RECORDED.map(({ seed }) => randomScenario(seed));

/** Messages of each seed that has some. */
function found(messagesOf: (drawn: RandomScenario, recorded: Recorded) => readonly string[]) {
  const wrong = RECORDED.map((recorded, at) => [recorded.seed, messagesOf(DRAWN[at]!, recorded)] as const);
  return Object.fromEntries(wrong.filter(([, messages]) => messages.length > 0));
}

function columnsOf({ trades, counters, locks, finalBalance, curve }: Simulation) {
  const { timestamp, equity, balance, openTrades } = curve!;
  return { trades, counters, locks, finalBalance, timestamp, equity, balance, openTrades };
}

const countsOf = (names: readonly string[]) =>
  Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, { length }]) => [name, length]));

describe('random scenarios that freqtrade 2026.9 has run', () => {
  it('the scenario of each seed is the one that was recorded', () => {
    expect(DRAWN.map(digestOf)).toEqual(RECORDED.map(({ digest }) => digest));
  });

  it('simulate equals freqtrade in every field of every trade, in counters, locks and balance', () => {
    expect(found((drawn, recorded) => differencesOf(drawn, recorded).slice(0, 4))).toEqual({});
  });

  it('balance, equity and open trades of every candle follow from the trades of freqtrade', () => {
    expect(found((drawn, recorded) => accountDifferences(drawn, recorded).slice(0, 4))).toEqual({});
  });

  it('skipping candles without events changes nothing', () => {
    const different = found(({ scenario, shared }) => {
      const settings = settingsOf(scenario, shared);
      if (settings.callbacks?.customRoi) return [];
      // Asked in every candle, it skips none.
      const asked = { ...settings, callbacks: { ...settings.callbacks, customRoi: () => null } };
      const [plain, every] = [settings, asked].map((each) =>
        columnsOf(simulate(pairsOf(scenario, shared), each)),
      );
      return isDeepStrictEqual(plain, every) ? [] : ['another simulation'];
    });
    expect(different).toEqual({});
  });

  it('they have every kind of exit, order, lock and callback, most of them by rules of freqtrade alone', () => {
    const trades = RECORDED.flatMap((each) => each.trades);
    const callbacks = countsOf(DRAWN.flatMap(({ scenario }) => Object.keys(scenario.answers ?? {})));
    const reasons = countsOf(trades.map((trade) => trade[COLUMNS.indexOf('exit_reason')] as string));
    const adjusted = trades.filter((trade) => Array.isArray(trade[COLUMNS.indexOf('orders')]));
    const locked = RECORDED.filter(({ locks }) => locks!.length > 0);
    expect(RECORDED.length).toBeGreaterThanOrEqual(300);
    // Seven reasons, and four of exit tags and callbacks.
    for (const [counts, kinds] of [
      [callbacks, 15],
      [reasons, 11],
    ] as const) {
      expect(Object.keys(counts)).toHaveLength(kinds);
      expect(Math.min(...Object.values(counts))).toBeGreaterThan(15);
    }
    expect(adjusted.length).toBeGreaterThan(300);
    expect(locked.length).toBeGreaterThan(60);
    expect(RECORDED.filter((recorded) => recorded.as_released).length).toBeGreaterThan(200);
  });
});
