import { expect } from 'vitest';
import type { LookAhead } from '#contract/config/look-ahead.ts';

/** The cuts of a run have found no bias: eight of each kind at least if it has as many signals, and one at a row that is drawn. */
export function expectNoLookAhead(
  { state, findings, message, pairs, cuts }: LookAhead,
  ofPairs = pairs,
): void {
  expect([state, findings]).toEqual(['sampled', []]);
  expect(message).toMatch(/^sampled: .* Everything was the same/);
  expect(pairs).toEqual(ofPairs);
  expect(cuts).toBeGreaterThan(1);
}
