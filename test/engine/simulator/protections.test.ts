import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import { flat, hourOf, pairOf, type Row, settingsOf, summary } from './market.ts';

// The rules of reference 5 are held by the vectors of freqtrade 2026.9 (vectors.test.ts).

const falling: Row[] = [100, 100, 80, 80, 80, 60, 60, 60].map(flat);
const every = falling.map((_, row) => row);
const run = (settings: Partial<SimulationSettings>) =>
  simulate([pairOf({ rows: falling, enterLong: every })], settingsOf(settings));

describe('protections of a run', () => {
  it('a lock keeps its pair out until its end, with the reason, and no signal counts as rejected', () => {
    const { locks, trades, counters } = run({
      protections: [
        { method: 'StoplossGuard', trade_limit: 1, stop_duration_candles: 3, only_per_pair: true },
      ],
    });
    expect(summary({ trades })).toEqual(['A long 1@100 2@80 stop_loss', 'A long 6@60 7@60 force_exit']);
    expect(
      locks.map(({ from, until, ...rest }) => ({ from: hourOf(from), until: hourOf(until), ...rest })),
    ).toEqual([
      expect.objectContaining({ from: 2, until: 6, pair: 'A', side: null, reason: 'StoplossGuard: 1 stop' }),
    ]);
    expect(counters.rejectedSignals).toBe(0);
  });

  it('a run without protections has no locks and the same trades as before', () => {
    const plain = run({});
    expect(plain.locks).toEqual([]);
    expect(run({ protections: [] }).trades).toEqual(plain.trades);
  });
});
