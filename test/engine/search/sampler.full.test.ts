import { describe, expect, it } from 'vitest';
import { bestValues } from '../../../bench/support/studies.ts';
import { TEST_FUNCTIONS } from '../../../bench/support/test-functions.ts';

const MIXED = TEST_FUNCTIONS.find(({ name }) => name === 'mixed')!;

describe('search quality', () => {
  // Medians of 200 seeds are in the bench `tpe`. With 15 seeds these limits have a margin.
  it.each(
    TEST_FUNCTIONS.filter(({ name }) => name !== MIXED.name).map(
      (subject) => [subject.name, subject] as const,
    ),
  )('TPE closes at least three quarters of the gap to the reference on %s', (_, subject) => {
    const best = bestValues(subject, 15, { trials: 100, sampler: 'tpe', lag: 1 });
    const behind = (best[7]! - subject.reference) / (subject.random - subject.reference);
    expect(behind).toBeLessThan(0.25);
  });
});
