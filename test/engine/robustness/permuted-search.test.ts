import { describe, expect, it } from 'vitest';
import { searchPermuted } from '#domain/hyperopt/permuted-searches.ts';
import { runRequested, TrialDataOf } from '#domain/hyperopt/run-trial.ts';
import { type Candles, sliceCandles } from '#engine/candles.ts';
import { permutedPairs } from '#engine/robustness/permuted-pairs.ts';
import { sha256 } from '../backtest-sample.ts';
import { follower, jobOf, market, pValue, STARTUP } from './search-sample.ts';

describe('permuted search', () => {
  it('finds a planted pattern', async () => {
    const found = [];
    for (let seed = 1; seed <= 3; seed++) found.push(await pValue(seed, market(seed, 0.6)));
    expect(found.filter((p) => p === 1 / 20).length).toBeGreaterThanOrEqual(2);
  });

  it('keeps the relations inside of candles, the startup candles, both ends and the correlation of pairs', () => {
    const a = market(1);
    const b = { ...market(2), volume: a.volume };
    const job = jobOf(1);
    const pairs = [a, b, a].map((candles, index) => ({ pair: `P${index}`, candles }));
    const [first, second, third] = permutedPairs(pairs, job.base, { seed: 4, number: 2 });
    const shapes = ({ open, high, low, close }: Candles) =>
      Array.from(open.subarray(STARTUP), (price, i) => {
        const row = STARTUP + i;
        return [high, low, close].map((column) => (column[row]! / price).toFixed(9)).join();
      });
    expect(shapes(first!.candles).sort()).toEqual(shapes(a).sort());
    expect(shapes(first!.candles)).not.toEqual(shapes(a));
    expect(first!.candles.close.at(-1)).toBeCloseTo(a.close.at(-1)!, 6);
    expect(first!.candles.close.subarray(0, STARTUP)).toEqual(a.close.subarray(0, STARTUP));
    expect(third!.candles).toEqual(first!.candles);
    expect(second!.candles.volume).toEqual(first!.candles.volume);
    expect(permutedPairs(pairs, job.base, { seed: 4, number: 2 })).toEqual([first, second, third]);
    expect(permutedPairs(pairs, job.base, { seed: 4, number: 3 })[0]!.candles).not.toEqual(first!.candles);
  });

  it('permutes the other pairs of one that ended before the range, or has no candles', () => {
    const a = market(1);
    const pairs = [STARTUP - 2, 0].map((rows) => ({
      pair: `ENDED${rows}`,
      candles: sliceCandles(a, 0, rows),
    }));
    const { base } = jobOf(1);
    const order = { seed: 4, number: 2 };
    const own = { pair: 'P', candles: a };
    expect(permutedPairs([pairs[0]!, own, pairs[1]!], base, order)).toEqual([
      pairs[0],
      permutedPairs([own], base, order)[0],
      pairs[1],
    ]);
  });

  it('says why candles cannot be permuted', async () => {
    const job = jobOf(1);
    const informative = [
      { key: '1w', pair: 'P', timeframe: '1w', source: '1w', candles: market(3) },
    ] as const;
    const strategy = { definition: follower, digest: '', load: async () => follower };
    const pairs = [{ pair: 'BTC/USDT:USDT', candles: market(1), informative }];
    const data = new TrialDataOf({ strategy, pairs, digest: sha256 }, 0);
    const search = await searchPermuted(job, 0, (request) => runRequested(data, request));
    expect(search).toEqual({ number: 0, value: null, error: expect.stringContaining('informative series') });
  });
});
