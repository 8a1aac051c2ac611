import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import { differences, pairsOf, settingsOf, VECTORS } from './vectors.ts';

/** Scenarios of the reference that use features the engine does not have, by feature. */
const OUT_OF_SCOPE = {
  'leverage tiers': ['liquidation-tiers', 'maximum-stake'],
  'cross margin': ['liquidation-cross'],
  'a callback for timeouts': ['entry-timeout-seconds-and-callback'],
  'a callback for waiting exits': ['exit-price-adjusted'],
  'several trades of a pair': ['position-stacking'],
  'a defect that is not copied': [
    ...['quirk-detail-last-candle', 'quirk-no-amount-step', 'quirk-oversized-partial-exit'],
  ],
} as const;

const LEFT_OUT: readonly string[] = Object.values(OUT_OF_SCOPE).flat();

/** The complete reference file, which is not part of the repository. */
const WHOLE = new URL('../../../../shared/reference/freqtrade-2026-vectors.json', import.meta.url);

describe('freqtrade 2026.9', () => {
  it.each(VECTORS)('simulate equals freqtrade 2026.9 on $id: $about', (vector) => {
    expect(differences(simulate(pairsOf(vector), settingsOf(vector)), vector)).toEqual([]);
  });
});

describe('scope of the freqtrade scenarios', () => {
  it('freqtrade scenarios are 62 with 537 trades in scope and 9 out of scope', () => {
    expect(VECTORS).toHaveLength(62);
    expect(VECTORS.reduce((sum, { expected }) => sum + expected.trades.length, 0)).toBe(537);
    expect(new Set(LEFT_OUT).size).toBe(9);
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
