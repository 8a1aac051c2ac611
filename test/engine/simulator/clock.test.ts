import { describe, expect, it } from 'vitest';
import { tradeColumns, tradeMetrics } from '#engine/metrics/trade-metrics.ts';
import { SimulationStopped, simulate } from '#engine/simulator/simulate.ts';
import { SimulationMemory } from '#engine/simulator/state/memory.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import { drawdownOf } from '#engine/stats/drawdown.ts';
import { flat, HOUR, hourOf, type PairScript, pairOf, type Row, settingsOf, summary } from './market.ts';

function run(scripts: readonly PairScript[], settings: Partial<SimulationSettings> = {}) {
  return simulate(scripts.map(pairOf), settingsOf(settings));
}

/** 7,000 candles that fall and rise by 10 % in 20, with a trade from the middle of each fall to the middle of the rise. */
const SAW = pairOf({
  rows: Array.from({ length: 7000 }, (_, row) => flat(100 + Math.abs((row % 20) - 10))),
  enterLong: Array.from({ length: 350 }, (_, wave) => wave * 20 + 4),
  exitLong: Array.from({ length: 350 }, (_, wave) => wave * 20 + 13),
});

const flats = (count: number): Row[] => Array.from({ length: count }, () => flat(100));

describe('simulation clock', () => {
  it('clock frees a slot for a pair that comes later in the same candle', () => {
    const scripts = [
      { pair: 'A', rows: flats(6), enterLong: [2] },
      { pair: 'B', rows: flats(6), enterLong: [0], exitLong: [2] },
    ];
    // B has the trade, so it is processed before A and frees the slot for it.
    expect(summary(run(scripts))).toEqual([
      'B long 1@100 3@100 exit_signal',
      'A long 3@100 5@100 force_exit',
    ]);
  });

  it('clock processes open trades in the order they were opened, then the whitelist', () => {
    const scripts = [
      { pair: 'A', rows: flats(7), enterLong: [1], exitLong: [3] },
      { pair: 'B', rows: flats(7), enterLong: [0], exitLong: [3] },
      { pair: 'C', rows: flats(7), enterLong: [3] },
      { pair: 'D', rows: flats(7), enterLong: [3] },
    ];
    expect(summary(run(scripts, { maxOpenTrades: 2 }))).toEqual([
      'B long 1@100 4@100 exit_signal',
      'A long 2@100 4@100 exit_signal',
      'C long 4@100 6@100 force_exit',
      'D long 4@100 6@100 force_exit',
    ]);
  });

  it('clock rejects an entry of a pair processed before the exit that frees the slot', () => {
    const rows: Row[] = [flat(100), flat(100), flat(100), flat(100), flat(100)];
    const stopped: Row[] = [flat(100), flat(100), [100, 100, 80, 85], flat(85), flat(85)];
    const scripts = [
      { pair: 'A', rows, enterLong: [1] },
      { pair: 'B', rows: stopped, enterLong: [1] },
    ];
    // Both signals act in candle 2. A takes the only slot; B's own stop in candle 2 could not have freed anything.
    const { trades, counters } = run(scripts);
    expect(summary({ trades })).toEqual(['A long 2@100 4@100 force_exit']);
    expect(counters.rejectedSignals).toBe(1);
  });

  it('clock lets a pair join later, with its first signal acting in its second candle', () => {
    const scripts = [
      { pair: 'A', rows: flats(6) },
      { pair: 'B', rows: [flat(50), [51, 52, 50, 51], flat(51)] as Row[], startsAt: 2, enterLong: [0] },
    ];
    const { trades, curve } = run(scripts);
    expect(summary({ trades })).toEqual(['B long 3@51 4@51 force_exit']);
    expect(Array.from(curve!.timestamp, hourOf)).toEqual([1, 2, 3, 4, 5]);
  });

  it('clock closes a pair whose data ends early at its own last candle and keeps its slot until the end', () => {
    const scripts = [
      { pair: 'A', rows: [flat(100), flat(100), [104, 105, 103, 104]] as Row[], enterLong: [0] },
      { pair: 'B', rows: flats(7), enterLong: [3] },
    ];
    const { trades, curve, counters } = run(scripts);
    expect(summary({ trades })).toEqual(['A long 1@100 2@104 force_exit']);
    expect(counters.rejectedSignals).toBe(1);
    expect(Array.from(curve!.openTrades)).toEqual([1, 1, 1, 1, 1, 0]);
    expect(Array.from(curve!.equity)).toEqual([1000, 1004, 1004, 1004, 1004, 1004]);
    expect(Array.from(curve!.balance)).toEqual([1000, 1000, 1000, 1000, 1000, 1004]);
  });

  it('clock lists trades in the order of closing when the data of a pair ends early', () => {
    // A loses 5 and ends first. B gains 10 later but is booked before the run ends. The curve has A's loss at the end.
    const scripts = [
      { pair: 'A', rows: [flat(100), flat(100), flat(95)], enterLong: [0] },
      { pair: 'B', rows: [...flats(4), flat(110), flat(110)], enterLong: [0], exitLong: [3] },
    ];
    for (const order of [scripts, scripts.toReversed()]) {
      const { trades, table, curve } = run(order, { maxOpenTrades: 2 });
      expect(summary({ trades })).toEqual(['A long 1@100 2@95 force_exit', 'B long 1@100 4@110 exit_signal']);
      expect(Array.from(curve!.balance)).toEqual([1000, 1000, 1000, 1010, 1005]);
      // From 1000 to 995 and up to 1005: 5 of 1000, not 5 of 1010.
      const { closed_trade_max_drawdown_pct } = tradeMetrics(tradeColumns(table), 1000, {
        days: 1,
        wholeDays: 1,
      });
      expect(closed_trade_max_drawdown_pct).toBeCloseTo(0.5, 12);
    }
  });

  it('clock closes open trades in the order in which pairs joined', () => {
    const scripts = [
      { pair: 'A', rows: flats(4), enterLong: [0], startsAt: 2 },
      { pair: 'B', rows: flats(6), enterLong: [1] },
      { pair: 'C', rows: flats(6), enterLong: [0] },
    ];
    const { trades } = run(scripts, { maxOpenTrades: 3 });
    expect(trades.map(({ pair }) => pair)).toEqual(['B', 'C', 'A']);
  });

  it('clock lets a pair enter in its own last candle while other pairs continue', () => {
    const scripts = [
      { pair: 'A', rows: [flat(100), flat(100), [101, 103, 100, 102]] as Row[], enterLong: [1] },
      { pair: 'B', rows: flats(5) },
    ];
    expect(summary(run(scripts))).toEqual(['A long 2@101 2@101 force_exit']);
  });

  it('clock makes no trade without pairs or with fewer than two candles', () => {
    expect(run([]).curve!.equity).toHaveLength(0);
    expect(run([{ rows: [] }]).finalBalance).toBe(1000);
    expect(run([{ rows: [flat(1)], enterLong: [0] }]).trades).toEqual([]);
  });
});

describe('equity curve', () => {
  it('equity curve values positions at the close after the entry fee, before the exit fee', () => {
    const rows: Row[] = [
      flat(100),
      [100, 103, 100, 102],
      [102, 103, 97, 98],
      flat(110),
      flat(110),
      flat(110),
    ];
    const { curve, finalBalance } = run([{ rows, enterLong: [0], exitLong: [3] }], { fee: 0.001 });
    // 1 bought for 100.1 and sold for 110 * 0.999 = 109.89.
    const expected = [1001.9, 997.9, 1009.9, 1009.79, 1009.79];
    for (const [row, equity] of expected.entries()) expect(curve!.equity[row]).toBeCloseTo(equity, 10);
    expect(Array.from(curve!.balance)).toEqual([1000, 1000, 1000, 1009.79, 1009.79]);
    expect(Array.from(curve!.openTrades)).toEqual([1, 1, 1, 0, 0]);
    expect(finalBalance).toBe(1009.79);
  });

  it('equity curve ends with the account after the forced exits', () => {
    const rows: Row[] = [flat(100), flat(100), [106, 109, 105, 108]];
    const { curve } = run([{ rows, enterLong: [0] }]);
    expect(Array.from(curve!.equity)).toEqual([1000, 1006]);
    expect(Array.from(curve!.openTrades)).toEqual([1, 0]);
  });

  it('equity curve is null with equity: false, with the same trades', () => {
    const pair = pairOf({ rows: flats(5), enterLong: [0] });
    const without = simulate([pair], settingsOf(), { equity: false });
    expect(without.curve).toBeNull();
    expect(without.trades).toEqual(simulate([pair], settingsOf()).trades);
  });

  it('drawdown of a curve that is read in parts equals that of its equity', () => {
    const { curve } = simulate([SAW], settingsOf());
    expect(curve!.equity.length).toBe(6999);
    expect(curve!.drawdown.lowRow).toBeGreaterThan(0);
    expect(curve!.drawdown).toEqual(drawdownOf(1000, curve!.equity));
  });

  it('run in the columns of a longer run equals one in new columns', () => {
    const memory = new SimulationMemory();
    const settings = settingsOf();
    expect(simulate([SAW], settings, { memory }).trades).toHaveLength(350);
    const pair = pairOf({ rows: flats(60), enterLong: [2, 30], exitLong: [20] });
    const [reused, alone] = [simulate([pair], settings, { memory }), simulate([pair], settings)];
    expect(reused.trades).toEqual(alone.trades);
    expect(reused.curve!.equity).toEqual(alone.curve!.equity);
    expect(reused.curve!.balance).toEqual(alone.curve!.balance);
    expect(reused.curve!.drawdown).toEqual(alone.curve!.drawdown);
  });
});

describe('progress', () => {
  const pair = pairOf({ rows: flats(5000), enterLong: Array.from({ length: 4000 }, (_, row) => row) });
  const settings = settingsOf({ minimalRoi: { 0: -1 } });

  it('progress is reported at most a hundred times, rising', () => {
    const shares: number[] = [];
    simulate([pair], settings, { onProgress: (share) => void shares.push(share) });
    expect(shares.length).toBeGreaterThan(50);
    expect(shares.length).toBeLessThanOrEqual(100);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).toBeLessThanOrEqual(1);
  });

  it('progress can stop the run', () => {
    let calls = 0;
    const onProgress = () => ++calls < 3;
    expect(() => simulate([pair], settings, { onProgress })).toThrow(SimulationStopped);
    expect(calls).toBe(3);
  });
});

describe('trade', () => {
  it('trade records the range of prices from its entry candle to its exit candle', () => {
    const rows: Row[] = [
      [100, 150, 50, 100],
      [100, 104, 99, 103],
      [103, 108, 98, 107],
      [107, 109, 97, 100],
      flat(100),
    ];
    const { trades } = run([{ rows, enterLong: [0], exitLong: [2] }], { timeframeMs: HOUR });
    expect(trades[0]).toMatchObject({
      lowestPrice: 97,
      highestPrice: 109,
      initialStopPrice: 90,
      stopPrice: 90,
    });
  });
});
