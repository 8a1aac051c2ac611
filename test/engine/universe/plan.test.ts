import { describe, expect, it } from 'vitest';
import { DAY_MS } from '#contract/values/durations.ts';
import { createCandles } from '#engine/candles.ts';
import { dailyVolumes } from '#engine/universe/daily-volumes.ts';
import { planUniverse } from '#engine/universe/plan.ts';

const HOUR = 3_600_000;
const FIRST = Date.UTC(2026, 0, 1);
const START = Date.UTC(2026, 0, 10);
const LAST_DAY = Date.UTC(2026, 0, 19);

/** Volumes of a pair with hourly candles up to `end`. */
function pairUntil(pair: string, end: number, volume: number) {
  const candles = createCandles((end - FIRST) / HOUR);
  for (let row = 0; row < candles.timestamp.length; row++) candles.timestamp[row] = FIRST + row * HOUR;
  candles.close.fill(1);
  candles.volume.fill(volume);
  return dailyVolumes(candles, { pair, first: FIRST, start: FIRST, end: LAST_DAY + DAY_MS, stepMs: HOUR });
}

describe('survivorship', () => {
  it.each([
    ['ends at midnight', LAST_DAY + DAY_MS, LAST_DAY],
    ['ends at noon', LAST_DAY + DAY_MS + 12 * HOUR, LAST_DAY + 5 * HOUR],
  ])('a pair that was delisted survives in no comparison when the run %s', (_, end, ended) => {
    const universe = {
      rule: 'top_volume' as const,
      n: 1,
      lookback_days: 3,
      rebalance: 'daily' as const,
      min_age_days: 0,
      delisting_haircut: 0.05,
      candidates: ['DEAD', 'ALIVE'],
    };
    const plan = planUniverse(
      universe,
      {
        date_range: { start: new Date(START).toISOString(), end: new Date(end).toISOString() },
        timeframe: '1h',
      },
      [pairUntil('DEAD', ended, 2), pairUntil('ALIVE', end, 1)],
    );
    expect([...plan.delistings]).toEqual([['DEAD', { at: ended, haircut: 0.05 }]]);
    expect([...plan.membership.keys()]).toEqual(['DEAD']);
    expect([...plan.survivors.keys()]).toEqual(['ALIVE']);
    expect([...plan.finalRanking.keys()]).toEqual(['ALIVE']);
  });
});
