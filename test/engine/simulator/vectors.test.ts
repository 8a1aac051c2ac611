import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import { comparedCalls, type ListedCall, listingCalls } from './vector-calls.ts';
import { differences, pairsOf, settingsOf, VECTORS } from './vectors.ts';

/** Scenarios of the reference that use features the engine does not have, by feature. */
const OUT_OF_SCOPE = {
  'leverage tiers': ['liquidation-tiers', 'maximum-stake'],
  'cross margin': ['liquidation-cross'],
  'several trades of a pair': ['position-stacking'],
  'a defect that is not copied': [
    ...['quirk-detail-last-candle', 'quirk-no-amount-step', 'quirk-oversized-partial-exit'],
  ],
} as const;

const LEFT_OUT: readonly string[] = Object.values(OUT_OF_SCOPE).flat();

/** The complete reference file, which is not part of the repository. */
const WHOLE = new URL('../../../../shared/reference/freqtrade-2026-vectors.json', import.meta.url);

/** Calls as texts, without the last digits, which depend on the order of operations. */
const shown = (calls: readonly ListedCall[]) =>
  calls.map((call) =>
    JSON.stringify(call, (_, value) => (typeof value === 'number' ? value.toFixed(9) : value)),
  );

describe('freqtrade 2026.9', () => {
  it.each(VECTORS)('simulate equals freqtrade 2026.9 on $id: $about', (vector) => {
    expect(differences(simulate(pairsOf(vector), settingsOf(vector)), vector)).toEqual([]);
  });
});

describe('calls of callbacks', () => {
  it.each(VECTORS.filter(({ expected }) => comparedCalls(expected.calls).length > 0))(
    'callbacks are called like those of freqtrade 2026.9 on $id',
    (vector) => {
      const calls: ListedCall[] = [];
      simulate(pairsOf(vector), listingCalls(settingsOf(vector), calls));
      const expected = comparedCalls(vector.expected.calls);
      const names = new Set(expected.map(([name]) => name));
      expect(shown(calls.filter(([name]) => names.has(name)))).toEqual(shown(expected));
    },
  );
});

describe('scope of the freqtrade scenarios', () => {
  it('freqtrade scenarios are 64 with 542 trades in scope and 7 out of scope', () => {
    expect(VECTORS).toHaveLength(64);
    expect(VECTORS.reduce((sum, { expected }) => sum + expected.trades.length, 0)).toBe(542);
    expect(new Set(LEFT_OUT).size).toBe(7);
    expect(VECTORS.filter(({ id }) => LEFT_OUT.includes(id))).toEqual([]);
  });

  it.skipIf(!existsSync(WHOLE))(
    'freqtrade scenarios in and out of scope cover the complete reference file',
    () => {
      const { scenarios } = JSON.parse(readFileSync(WHOLE, 'utf8')) as { scenarios: { id: string }[] };
      const known = [...VECTORS.map(({ id }) => id), ...LEFT_OUT];
      expect(scenarios.map(({ id }) => id).sort()).toEqual(known.sort());
    },
  );
});
