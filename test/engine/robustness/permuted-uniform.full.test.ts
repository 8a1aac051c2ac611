import { expect, it } from 'vitest';
import { market, pValue } from './search-sample.ts';

it('a permuted search gives uniform p-values for noise', async () => {
  const SEEDS = 100;
  const values: number[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) values.push(await pValue(seed, market(1_000 + seed)));
  // Kolmogorov-Smirnov on the twenty possible values, at a level of 1 %: 1.63 / sqrt(n).
  let distance = 0;
  for (let k = 1; k <= 20; k++) {
    const share = values.filter((p) => p <= k / 20 + 1e-9).length / SEEDS;
    distance = Math.max(distance, Math.abs(share - k / 20));
  }
  expect(distance).toBeLessThan(1.63 / Math.sqrt(SEEDS));
});
