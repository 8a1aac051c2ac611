import { expect } from 'vitest';
import type { LookAhead } from '#contract/config/look-ahead.ts';

/** Sampling of the pairs has found no bias. It may have had time for no cut: the processor time of a run decides the number. */
export function expectNoLookAhead({ findings, message, pairs }: LookAhead, ofPairs = pairs): void {
  expect(findings).toEqual([]);
  expect(message).toMatch(
    /^sampled: .* Everything was the same|^not_checked: 10 % of the processor time allows no cut$/,
  );
  if (message.startsWith('sampled')) expect(pairs).toEqual(ofPairs);
}
