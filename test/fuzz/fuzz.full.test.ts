import { expect, it } from 'vitest';
import { fuzzPlatform } from './fuzz.ts';
import { describeBreach, neverSucceeded } from './report.ts';

/** A small part of `npm run fuzz` with a fixed seed. */

const SEED = 20_260_101;
const REQUESTS = 550;
/** Longer than the campaign waits for the work that requests start, so that its error is seen. */
const TIMEOUT_MS = 20 * 60_000;

it.each([
  ['optional', false],
  ['enforced', true],
] as const)(
  'every response matches the OpenAPI documents, tokens %s',
  { timeout: TIMEOUT_MS },
  async (_, enforced) => {
    const result = await fuzzPlatform(enforced, { seed: SEED, requests: REQUESTS });
    expect(result.breaches.map(describeBreach)).toEqual([]);
    expect(result.ailments).toEqual([]);
    expect(result.requests).toBeGreaterThanOrEqual(REQUESTS);
    // Requests must reach the operations, not only their validation.
    const { size } = result.counts;
    expect(size).toBeGreaterThan(30);
    expect(neverSucceeded([result]).length).toBeLessThan(size * 0.2);
  },
);
