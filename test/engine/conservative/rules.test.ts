import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { PairInput, SimulationSettings } from '#engine/simulator/types.ts';
import type { StrategyCallbacks } from '#engine/strategy.ts';
import {
  candlesOf,
  flat,
  fundingOf,
  HOUR,
  hourOf,
  type PairScript,
  pairOf,
  type Row,
  settingsOf,
  summary,
} from '../simulator/market.ts';

const conservative = (changes: Partial<SimulationSettings>) =>
  settingsOf({ fillModel: 'conservative', unfilledTimeoutMinutes: 1e6, ...changes });

const play = (inputs: readonly PairInput[], changes: Partial<SimulationSettings> = {}) =>
  simulate(inputs, conservative(changes));

/** One pair that enters at the open of candle 1, unless the script says otherwise. */
function exits(
  rows: readonly Row[],
  changes: Partial<SimulationSettings>,
  script: Partial<PairScript> = { enterLong: [0] },
): string[] {
  return summary(play([pairOf({ rows, ...script })], changes));
}

describe('levels', () => {
  it('of stop and target in one candle the one counts that is worth less', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 106, 94, 105], flat(105)];
    const settings = { stoploss: -0.05, minimalRoi: { 0: 0.05 } };
    expect(exits(rows, settings)).toEqual(['A long 1@100 2@95 stop_loss']);
    const mirrored: Row[] = [flat(100), flat(100), [100, 106, 94, 95], flat(95)];
    expect(exits(mirrored, settings, { enterShort: [0] })).toEqual(['A short 1@100 2@105 stop_loss']);
  });

  it('a target that the high only touches is reached', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 105, 99, 100], flat(100)];
    expect(exits(rows, { minimalRoi: { 0: 0.05 } })).toEqual(['A long 1@100 2@105 roi']);
  });

  it('a target keeps its price in a gap, and so does a limit order', () => {
    const rows: Row[] = [flat(100), flat(100), [110, 111, 108, 109], flat(109)];
    expect(exits(rows, { minimalRoi: { 0: 0.05 } })).toEqual(['A long 1@100 2@105 roi']);
    const sellAt = (price: number): StrategyCallbacks => ({
      customExit: ({ index }) => (index === 1 ? 'mine' : null),
      customExitPrice: () => price,
    });
    expect(exits(rows, { callbacks: sellAt(107) })).toEqual(['A long 1@100 2@107 mine']);
    const buyAt: StrategyCallbacks = { customEntryPrice: () => 96 };
    const below: Row[] = [flat(100), flat(100), [90, 91, 89, 90], flat(90)];
    expect(exits(below, { callbacks: buyAt, stoploss: -0.5 })).toEqual(['A long 1@96 3@90 force_exit']);
  });

  it('a target of -1 closes at the open', () => {
    const rows: Row[] = [flat(100), flat(100), [103, 104, 101, 102], flat(102)];
    expect(exits(rows, { minimalRoi: { 60: -1 } })).toEqual(['A long 1@100 2@103 roi']);
  });

  it('a stop that trails by less below an offset than beyond it keeps what it had at the offset', () => {
    // At 110 the profit reaches 10 %: up to there the stop trails by 2 %, to 107.8; from there on by 8 %, from 112 to 103.04.
    const rows: Row[] = [flat(100), flat(100), [105, 112, 105, 111], [111, 111, 104, 105], flat(105)];
    const settings = { stoploss: -0.02, trailing: { positive: 0.08, offset: 0.1 } };
    expect(exits(rows, settings)).toEqual(['A long 1@100 2@107.8 trailing_stop_loss']);
  });
});

describe('waiting orders', () => {
  const LADDER: StrategyCallbacks = {
    customEntryPrice: ({ index }, _side, open) => (index === 1 ? open : 96),
    adjustPosition: ({ index }, { stake }) => (index === 2 ? stake : null),
  };

  it('an addition moves the average from its fill on', () => {
    // 100 at 100 and 100 at 96: the average is 97.959184, the target of 3 % 100.897959. On 100, 105, 95, 101 the target of 103 is reached
    // before the addition; on 100, 95, 105, 101 the new one after it, which is worth more.
    const rows: Row[] = [flat(100), flat(100), [100, 105, 95, 101], flat(101)];
    expect(exits(rows, { callbacks: LADDER, minimalRoi: { 0: 0.03 }, stoploss: -0.5 })).toEqual([
      'A long 1@100 2@103 roi',
    ]);
    const rows2: Row[] = [flat(100), flat(100), [100, 102, 95, 101], flat(101)];
    // The target is reached only after the addition, on either path.
    expect(exits(rows2, { callbacks: LADDER, minimalRoi: { 0: 0.03 }, stoploss: -0.5 })).toEqual([
      'A long 1@97.959184 2@100.897959 roi',
    ]);
  });

  it('an addition below the stop is not filled when the price falls through both', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 101, 94, 95], flat(95)];
    const { trades } = play([pairOf({ rows, enterLong: [0] })], { callbacks: LADDER, stoploss: -0.02 });
    expect(summary({ trades })).toEqual(['A long 1@100 2@98 stop_loss']);
    expect(trades[0]!.orders).toBeUndefined();
  });

  it('a signal or callback of the candle in which an entry fills later does not act at its open', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 101, 95, 98], flat(98), flat(98)];
    const callbacks: StrategyCallbacks = {
      customEntryPrice: () => 96,
      customExit: ({ index }) => (index === 2 ? 'early' : null),
    };
    expect(exits(rows, { callbacks, stoploss: -0.5 })).toEqual(['A long 1@96 4@98 force_exit']);
  });
});

describe('slots and money', () => {
  const A_ENDS_INSIDE = pairOf({
    rows: [flat(100), flat(100), [100, 111, 100, 111], flat(111), flat(111)],
    enterLong: [0],
  });
  const B = pairOf({ pair: 'B', rows: Array.from({ length: 5 }, () => flat(100)), enterLong: [1, 2] });

  it('a slot is free from the candle after a trade that ended inside one', () => {
    const settings = { minimalRoi: { 0: 0.1 } };
    const run = play([A_ENDS_INSIDE, B], settings);
    expect(summary(run)).toEqual(['A long 1@100 2@110 roi', 'B long 3@100 4@100 force_exit']);
    expect(run.counters.rejectedSignals).toBe(1);
    const freqtrade = simulate([A_ENDS_INSIDE, B], settingsOf(settings));
    expect(summary(freqtrade)[1]).toBe('B long 2@100 4@100 force_exit');
    expect(freqtrade.freedLater).toEqual({ entries: 1, profit: 0 });
    expect(run.freedLater).toEqual({ entries: 0, profit: 0 });
  });

  it('an exit at the open frees its slot at once', () => {
    const sold = pairOf({
      rows: [flat(100), flat(100), [100, 111, 100, 111], flat(111), flat(111)],
      enterLong: [0],
      exitLong: [1],
    });
    const run = play([sold, B]);
    expect(summary(run)).toEqual(['A long 1@100 2@100 exit_signal', 'B long 2@100 4@100 force_exit']);
    // A gap beyond the stop, and one beyond a target, are at the open too.
    for (const candle of [
      [80, 100, 79, 100],
      [120, 121, 99, 100],
    ] as const) {
      const rows: Row[] = [flat(100), flat(100), candle, flat(100), flat(100)];
      const gap = pairOf({ rows, enterLong: [0] });
      expect(summary(play([gap, B], { minimalRoi: { 0: 0.1 } }))[1]).toBe('B long 2@100 4@100 force_exit');
      expect(simulate([gap, B], settingsOf({ minimalRoi: { 0: 0.1 } })).freedLater.entries).toBe(0);
    }
  });

  it('a loss lowers stakes at once, and a profit raises them in the next candle', () => {
    // Two slots of a wallet of 990: the first trade has 495.
    const stakes = (rows: Row[], changes: Partial<SimulationSettings>) => {
      const inputs = [
        pairOf({ rows, enterLong: [0] }),
        B,
        pairOf({ pair: 'C', rows: B_ROWS, enterLong: [2] }),
      ];
      const settings = { stake: { kind: 'unlimited' } as const, maxOpenTrades: 3, ...changes };
      return play(inputs, settings)
        .trades.toSorted((a, b) => a.openedAt - b.openedAt)
        .map(({ stake }) => stake);
    };
    const B_ROWS = Array.from({ length: 5 }, () => flat(100));
    // A loses 10 % of 330 inside candle 2: (1000 - 33) * 0.99 / 3 in that candle and in the next one.
    const lost = stakes([flat(100), flat(100), [100, 100, 89, 90], flat(90), flat(90)], {});
    expect(lost.map((stake) => Number(stake.toFixed(6)))).toEqual([330, 319.11, 319.11]);
    // It earns 10 % of it: (1000 + 33) * 0.99 / 3 from the next candle on.
    const earned = stakes([flat(100), flat(100), [100, 111, 100, 111], flat(111), flat(111)], {
      minimalRoi: { 0: 0.1 },
    });
    expect(earned.map((stake) => Number(stake.toFixed(6)))).toEqual([330, 330, 340.89]);
  });

  it('money of a trade that ended inside a candle is not free in it', () => {
    const settings = {
      maxOpenTrades: 5,
      stake: { kind: 'fixed', amount: 600 } as const,
      minimalRoi: { 0: 0.1 },
    };
    expect(summary(play([A_ENDS_INSIDE, B], settings))).toEqual([
      'A long 1@100 2@110 roi',
      'B long 3@100 4@100 force_exit',
    ]);
    const freqtrade = simulate([A_ENDS_INSIDE, B], settingsOf(settings));
    expect(summary(freqtrade)[1]).toBe('B long 2@100 4@100 force_exit');
    expect(freqtrade.freedLater.entries).toBe(1);
  });

  it('the other side is entered in the next candle after a trade that ended inside one', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 111, 100, 111], flat(111), flat(111)];
    const script = { rows, enterLong: [0], enterShort: [1, 2] };
    expect(exits(rows, { minimalRoi: { 0: 0.1 } }, script)).toEqual([
      'A long 1@100 2@110 roi',
      'A short 3@111 4@111 force_exit',
    ]);
    const wide = { maxOpenTrades: 2, minimalRoi: { 0: 0.1 }, stoploss: -0.5 };
    const freqtrade = simulate([pairOf(script)], settingsOf(wide));
    expect(summary(freqtrade)[1]).toBe('A short 2@100 4@111 force_exit');
    expect(freqtrade.freedLater).toEqual({ entries: 1, profit: -11 });
  });
});

describe('detail candles', () => {
  it('the detail candle is the candle: its order of prices decides, and what ends in it is free in the next one', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 111, 94, 100], flat(100)];
    const half = HOUR / 2;
    const up: Row[] = [
      [100, 111, 100, 105],
      [105, 105, 94, 100],
    ];
    const detail = candlesOf(
      [...Array.from({ length: 4 }, () => flat(100)), ...up, flat(100), flat(100)],
      half,
    );
    const settings = { detailTimeframeMs: half, stoploss: -0.05, minimalRoi: { 0: 0.1 } };
    const inputs = [
      pairOf({ rows, enterLong: [0], detail }),
      pairOf({
        pair: 'B',
        rows: [flat(100), flat(100), flat(100), flat(100)],
        enterLong: [1],
        detail: candlesOf(
          Array.from({ length: 8 }, () => flat(100)),
          half,
        ),
      }),
    ];
    expect(summary(play(inputs, settings))).toEqual([
      'A long 1@100 2@110 roi',
      'B long 2.5@100 3@100 force_exit',
    ]);
    expect(
      summary(play([pairOf({ rows, enterLong: [0] })], { ...settings, detailTimeframeMs: HOUR })),
    ).toEqual(['A long 1@100 2@95 stop_loss']);
  });
});

describe('callbacks', () => {
  it('each per-candle callback is called once a candle, as in the freqtrade model', () => {
    const rows: Row[] = [flat(100), [100, 103, 98, 101], [101, 104, 97, 102], [102, 105, 99, 104], flat(104)];
    const callsOf = (fillModel: SimulationSettings['fillModel']) => {
      const calls: string[] = [];
      const note =
        (name: string) =>
        ({ time }: { time: number }) => {
          calls.push(`${name} ${hourOf(time)}`);
          return null;
        };
      const callbacks: StrategyCallbacks = {
        adjustPosition: note('adjustPosition'),
        customStoploss: note('customStoploss'),
        customRoi: note('customRoi'),
        customExit: note('customExit'),
        orderFilled: note('orderFilled'),
        afterFill: note('afterFill'),
      };
      simulate([pairOf({ rows, enterLong: [0] })], settingsOf({ fillModel, callbacks }));
      return calls;
    };
    expect(callsOf('conservative')).toEqual(callsOf('freqtrade'));
    expect(callsOf('conservative')).toHaveLength(2 + 4 * 4);
  });

  it('confirmExit is asked once for the path that counts, and a liquidation needs no answer', () => {
    const asked: string[] = [];
    const confirmExit: StrategyCallbacks['confirmExit'] = ({ index }, _trade, price, reason) => {
      asked.push(`${index} ${reason} ${price}`);
      return false;
    };
    const rows: Row[] = [flat(100), flat(100), [100, 106, 94, 100], flat(100)];
    const settings = { stoploss: -0.05, minimalRoi: { 0: 0.05 }, callbacks: { confirmExit } };
    expect(exits(rows, settings)).toEqual(['A long 1@100 3@100 force_exit']);
    expect(asked).toEqual(['2 stop_loss 95']);
    asked.length = 0;
    // Stop 0.5 % away, liquidation at 90.452261 plus 5 % of the way to the entry.
    const fall: Row[] = [flat(100), flat(100), [100, 100, 85, 86], flat(86)];
    const leveraged = exits(fall, { ...settings, minimalRoi: {}, leverage: 10 });
    expect(leveraged).toEqual(['A long 1@100 2@90.929648 liquidation']);
    expect(asked).toEqual(['2 stop_loss 99.5']);
  });
});

describe('funding', () => {
  it('a settlement at the time of the entry is paid, but not received', () => {
    const rows: Row[] = Array.from({ length: 4 }, () => flat(100));
    const paid = (rate: number, script: Partial<PairScript>) => {
      const funding = fundingOf([
        { hour: 1, rate, markPrice: 100 },
        { hour: 2, rate, markPrice: 100 },
      ]);
      return play([pairOf({ rows, funding, ...script })]).trades[0]!.funding;
    };
    expect(paid(0.001, { enterLong: [0] })).toBeCloseTo(-0.2, 12);
    expect(paid(-0.001, { enterLong: [0] })).toBeCloseTo(0.1, 12);
    expect(paid(0.001, { enterShort: [0] })).toBeCloseTo(0.1, 12);
  });
});

describe('cross margin', () => {
  it('other positions count as at the open of the candle', () => {
    const liquidation = { maintenanceMarginRate: 0.005, buffer: 0, marginMode: 'cross' } as const;
    const settings = {
      leverage: 10,
      stoploss: -10,
      maxOpenTrades: 2,
      stake: { kind: 'fixed', amount: 450 } as const,
      liquidation,
    };
    // A has 45 units from 100: at the open of candle 3 it has lost 45 * 10, and must keep 45 * 90 * 0.005.
    const a = pairOf({
      rows: [flat(100), flat(100), [100, 100, 90, 90], [90, 90, 88, 89], flat(89)],
      enterLong: [0],
    });
    const b = pairOf({
      pair: 'B',
      rows: [flat(100), flat(100), flat(100), [100, 100, 88, 89], flat(89)],
      enterLong: [0],
    });
    const { trades } = play([a, b], settings);
    const own = (1000 - 45 * 10 - 45 * 90 * 0.005 - 4500) / -(45 - 45 * 0.005);
    const ofB = trades.find(({ pair }) => pair === 'B')!;
    expect(ofB.exitReason).toBe('liquidation');
    expect(ofB.exitPrice).toBeCloseTo(own, 8);
    // The freqtrade model counts no open loss: 1000 less 22.5.
    const freqtrade = simulate([a, b], settingsOf(settings)).trades.find(({ pair }) => pair === 'B')!;
    expect(freqtrade.liquidationPrice).toBeCloseTo((1000 - 22.5 - 4500) / -(45 - 45 * 0.005), 8);
  });
});
