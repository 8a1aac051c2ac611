import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canUseKernel, simulateKernel } from '#engine/simulator/kernel/kernel.ts';
import { simulateLoop } from '#engine/simulator/loop/loop.ts';
import { SimulationStopped } from '#engine/simulator/progress.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { Simulation } from '#engine/simulator/types.ts';
import { GOLDEN, observed } from './golden.ts';
import { kernelCase } from './kernel-cases.ts';
import { pairOf, settingsOf } from './market.ts';

/** Everything of a simulation as plain values: equal ones are equal to the last bit. */
function bitsOf({ trades, curve, finalBalance, counters }: Simulation) {
  return {
    trades: trades.map((trade) => JSON.stringify(trade)),
    finalBalance,
    counters,
    curve: curve && {
      timestamp: Array.from(curve.timestamp),
      equity: Array.from(curve.equity),
      balance: Array.from(curve.balance),
      openTrades: Array.from(curve.openTrades),
    },
  };
}

const FLAT: readonly (readonly [number, number, number, number])[] = Array(300).fill([100, 101, 99, 100]);

describe('the segment kernel', () => {
  it.each(GOLDEN.filter(({ pair, settings }) => canUseKernel([pair], settings)))(
    'books golden scenario $name',
    (scenario) => {
      const simulation = simulateKernel([scenario.pair], scenario.settings);

      expect(observed(simulation, scenario)).toEqual(scenario.trades);
    },
  );

  it('books the same trades and curve as the loop, and as a loop that looks at every candle', () => {
    const reasons = new Set<string>();
    let waited = 0;
    fc.assert(
      fc.property(kernelCase, ({ input, settings }) => {
        const simulation = simulateKernel([input], settings);
        const kernel = bitsOf(simulation);
        const everyCandle = { ...settings, callbacks: { customRoi: () => null } };

        expect(kernel).toEqual(bitsOf(simulateLoop([input], settings)));
        expect(kernel).toEqual(bitsOf(simulateLoop([input], everyCandle)));
        for (const { exitReason } of simulation.trades) reasons.add(exitReason);
        waited += simulation.counters.timedOutExits;
      }),
      { numRuns: 1500 },
    );
    expect(waited).toBeGreaterThan(5);
    // A property over runs without trades, or without one kind of them, would prove nothing.
    expect([...reasons].sort()).toEqual([
      'exit_signal',
      'first',
      'force_exit',
      'liquidation',
      'roi',
      'second',
      'stop_loss',
      'trailing_stop_loss',
    ]);
  });

  it('computes no curve when none is asked for', () => {
    fc.assert(
      fc.property(kernelCase, ({ input, settings }) => {
        const { curve, ...rest } = bitsOf(simulateKernel([input], settings, { equity: false }));

        expect(curve).toBeNull();
        expect(rest).toEqual({ ...bitsOf(simulateKernel([input], settings)), curve: undefined });
      }),
      { numRuns: 50 },
    );
  });

  it('finds signals wherever their columns begin in memory', () => {
    fc.assert(
      fc.property(kernelCase, fc.integer({ min: 1, max: 3 }), ({ input, settings }, lead) => {
        const moved = (column: Uint8Array | undefined) => {
          if (!column) return column;
          // What lies around a column is none of its signals.
          const around = new Uint8Array(lead + column.length + 5).fill(1);
          around.set(column, lead);
          return around.subarray(lead, lead + column.length);
        };
        const { enterLong, exitLong, enterShort, exitShort } = input.signals;
        const columns = Object.entries({ enterLong, exitLong, enterShort, exitShort });
        const signals = Object.fromEntries(columns.map(([name, column]) => [name, moved(column)]));
        const elsewhere = { ...input, signals: { ...input.signals, ...signals } };

        expect(bitsOf(simulateKernel([elsewhere], settings))).toEqual(
          bitsOf(simulateKernel([input], settings)),
        );
      }),
      { numRuns: 200 },
    );
  });

  it('tells of each trade what its object says', () => {
    fc.assert(
      fc.property(kernelCase, ({ input, settings }) => {
        const { trades, outcomes } = simulateKernel([input], settings);
        const told = trades.map((_, row) => outcomes.at(row));

        expect(outcomes).toHaveLength(trades.length);
        expect(trades).toMatchObject(told);
      }),
      { numRuns: 50 },
    );
  });

  it('stops when the listener asks for it', () => {
    const pair = pairOf({ rows: FLAT, enterLong: [0, 20, 40, 60], exitLong: [10, 30, 50, 70] });

    expect(() => simulateKernel([pair], settingsOf(), { onProgress: () => false })).toThrow(
      SimulationStopped,
    );
  });

  it('reports its progress as growing shares', () => {
    const rows = FLAT.map((_, row) => row);
    const pair = pairOf({
      rows: FLAT,
      enterLong: rows.filter((row) => row % 4 === 0),
      exitLong: rows.filter((row) => row % 4 === 2),
    });
    const shares: number[] = [];
    simulateKernel([pair], settingsOf(), { onProgress: (share) => void shares.push(share) });

    expect(shares.length).toBeGreaterThan(10);
    expect(shares.length).toBeLessThanOrEqual(100);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(shares.at(-1)).toBeLessThanOrEqual(1);
  });

  it('refuses candles with holes as the loop does', () => {
    const pair = pairOf({ rows: FLAT, enterLong: [0] });
    pair.candles.timestamp[FLAT.length - 1]! += 3_600_000;

    expect(() => simulateKernel([pair], settingsOf())).toThrow(RangeError);
  });
});

describe('the choice of the path', () => {
  const pair = pairOf({ rows: FLAT, enterLong: [0] });

  it('takes the kernel for one pair without callbacks', () => {
    expect(canUseKernel([pair], settingsOf())).toBe(true);
    expect(canUseKernel([pair], settingsOf({ callbacks: {} }))).toBe(true);
  });

  it('takes the loop for several pairs, no candles, callbacks and detail candles', () => {
    const empty = pairOf({ rows: [] });
    const callbacks = { customExit: () => null };

    expect(canUseKernel([pair, { ...pair, pair: 'ETH/USDT:USDT' }], settingsOf())).toBe(false);
    expect(canUseKernel([], settingsOf())).toBe(false);
    expect(canUseKernel([empty], settingsOf())).toBe(false);
    expect(canUseKernel([pair], settingsOf({ callbacks }))).toBe(false);
    expect(canUseKernel([pair], settingsOf({ detailTimeframeMs: 300_000 }))).toBe(false);
  });

  it('simulates an empty pair', () => {
    expect(simulate([pairOf({ rows: [] })], settingsOf()).trades).toEqual([]);
  });
});
