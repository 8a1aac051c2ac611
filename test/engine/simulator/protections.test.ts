import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import { flat, hourOf, pairOf, type Row, settingsOf, summary } from './market.ts';

// The rules of docs/simulation.md#protections are held by the vectors of freqtrade 2026.9 (vectors.test.ts).

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

  it('a drawdown of the balance counts from what the account had at the start of the lookback period', () => {
    const drawdown = (max_allowed_drawdown: number) =>
      run({
        stake: { kind: 'fixed', amount: 500 },
        maxOpenTrades: 1,
        protections: [
          {
            method: 'MaxDrawdown',
            calculation_mode: 'equity',
            max_allowed_drawdown,
            lookback_period_candles: 2,
            stop_duration: 30,
          },
        ],
      }).locks.map(({ from, reason }) => `${hourOf(from)} ${reason}`);
    // 100 lost of 990 at hour 2, 125 of 890 at hour 5, when the first loss is no longer in the period.
    expect(drawdown(0.1)).toEqual(['2 MaxDrawdown: drawdown 10.10 %', '5 MaxDrawdown: drawdown 14.04 %']);
    expect(drawdown(0.102)).toEqual(['5 MaxDrawdown: drawdown 14.04 %']);
  });

  it('a partial exit makes no lock that would have ended before', () => {
    const rows: Row[] = [100, 100, 80, 100, 100, 100, 100, 100, 100].map(flat);
    const { locks } = simulate(
      [pairOf({ rows, enterLong: [0, 3] })],
      settingsOf({
        protections: [{ method: 'CooldownPeriod', lookback_period_candles: 20, stop_duration_candles: 1 }],
        callbacks: { adjustPosition: ({ index }) => (index === 7 ? -50 : null) },
      }),
    );
    expect(locks.map(({ from, until }) => [hourOf(from), hourOf(until)])).toEqual([
      [2, 4],
      [8, 10],
    ]);
  });

  it('a run without protections has no locks and the same trades as before', () => {
    const plain = run({});
    expect(plain.locks).toEqual([]);
    expect(run({ protections: [] }).trades).toEqual(plain.trades);
  });
});
