import { expect } from 'vitest';

/** Sampling has found no bias. It may have had time for no cut: the processor time of a run decides the number. */
export function expectNoLookAhead(lookAhead: {
  readonly findings: string[];
  readonly message: string;
}): void {
  expect(lookAhead.findings).toEqual([]);
  expect(lookAhead.message).toMatch(
    /^sampled: .* Everything was the same|^not_checked: 10 % of the processor time allows no cut$/,
  );
}
