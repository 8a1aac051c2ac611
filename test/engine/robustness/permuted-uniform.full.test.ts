import { expect, it } from 'vitest';
import { market, pValue } from './search-sample.ts';

const seeds = (count: number) => Array.from({ length: count }, (_, i) => i + 1);

it('a permuted search gives uniform p-values for noise', async () => {
  const SEEDS = 500;
  const values: number[] = [];
  for (const seed of seeds(SEEDS)) values.push(await pValue(seed, market(1_000 + seed)));
  // Kolmogorov-Smirnov on the twenty possible values, at a level of 1 %: 1.63 / sqrt(n).
  let distance = 0;
  for (let k = 1; k <= 20; k++) {
    const share = values.filter((p) => p <= k / 20 + 1e-9).length / SEEDS;
    distance = Math.max(distance, Math.abs(share - k / 20));
  }
  expect(distance).toBeLessThan(1.63 / Math.sqrt(SEEDS));
}, 300_000);

it('a permuted search of 16 trials finds changes that persist by 0.6, in 100 candles, nine times in ten', async () => {
  const SEEDS = 100;
  let found = 0;
  // With 19 permuted searches the smallest p-value is 1/20: no permuted search earns as much.
  for (const seed of seeds(SEEDS)) found += (await pValue(seed, market(seed, 0.6), 16)) === 1 / 20 ? 1 : 0;
  expect(found / SEEDS).toBeGreaterThanOrEqual(0.9);
}, 300_000);
