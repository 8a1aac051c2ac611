import { describe, expect, it } from 'vitest';
import { simulate } from '#engine/simulator/simulate.ts';
import type { SimulationSettings } from '#engine/simulator/types.ts';
import type { OrderView, StoredData, StrategyCallbacks } from '#engine/strategy.ts';
import {
  candlesOf,
  flat,
  HOUR,
  hourOf,
  type PairScript,
  pairOf,
  type Row,
  settingsOf,
  summary,
} from './market.ts';

function run(script: PairScript, callbacks: StrategyCallbacks, settings: Partial<SimulationSettings> = {}) {
  return simulate([pairOf(script)], settingsOf({ callbacks, ...settings }));
}

const FLAT: Row[] = Array.from({ length: 6 }, () => flat(100));
/** Prices within 1 of 100. */
const QUIET: Row[] = Array.from({ length: 8 }, () => [100, 101, 99, 100]);

describe('orderFilled', () => {
  it('orderFilled is called at each fill before the exit is taken from the trade, with the filled order', () => {
    const seen: unknown[] = [];
    const callbacks: StrategyCallbacks = {
      adjustPosition: ({ index }) => ({ 2: { stake: 50, tag: 'more' }, 3: -75 })[index] ?? null,
      afterFill: () => {
        seen.push('afterFill');
        return null;
      },
      orderFilled: ({ time, pair }, trade, order) => {
        const { amount, entries, exits } = trade;
        seen.push([hourOf(time), pair, order, { amount, entries, exits }]);
      },
    };
    run({ rows: FLAT, enterLong: [0], enterTags: { 0: 'dip' }, exitLong: [3] }, callbacks);
    const at = (hour: number, order: Partial<OrderView>, trade: object) => [
      hour,
      'A',
      { price: 100, placedAt: expect.any(Number), ...order },
      trade,
    ];
    expect(seen).toEqual([
      at(1, { side: 'entry', kind: 'entry', amount: 1, tag: 'dip' }, { amount: 1, entries: 1, exits: 0 }),
      'afterFill',
      at(
        2,
        { side: 'entry', kind: 'addition', amount: 0.5, tag: 'more' },
        { amount: 1.5, entries: 2, exits: 0 },
      ),
      'afterFill',
      at(
        3,
        { side: 'exit', kind: 'partial_exit', amount: 0.75, tag: 'partial_exit' },
        { amount: 1.5, entries: 2, exits: 0 },
      ),
      'afterFill',
      at(
        4,
        { side: 'exit', kind: 'exit', amount: 0.75, tag: 'exit_signal' },
        { amount: 0.75, entries: 2, exits: 1 },
      ),
    ]);
  });

  it('orderFilled sees the price with slippage, and is not called when the data ends', () => {
    const prices: unknown[] = [];
    const callbacks: StrategyCallbacks = {
      orderFilled: (_context, _trade, { kind, price }) => prices.push([kind, price]),
    };
    const { trades } = run({ rows: FLAT, enterLong: [0, 3], exitLong: [2] }, callbacks, { slippage: 0.01 });
    expect(trades.map(({ exitReason }) => exitReason)).toEqual(['exit_signal', 'force_exit']);
    expect(prices).toEqual([
      ['entry', 101],
      ['exit', 99],
      ['entry', 101],
    ]);
  });
});

describe('data of a trade', () => {
  it('data is kept for a trade, empty in the next one, and apart from other pairs', () => {
    const seen: unknown[][] = [];
    const callbacks: StrategyCallbacks = {
      orderFilled: ({ pair, time }, { data }, { kind }) => {
        seen.push([hourOf(time), pair, kind, data.get('entered')]);
        if (kind === 'entry') data.set('entered', { pair, hours: [hourOf(time)] });
      },
    };
    const script = { rows: FLAT, enterLong: [0, 2], exitLong: [1, 3] };
    const pairs = [pairOf(script), pairOf({ ...script, pair: 'B' })];
    simulate(pairs, settingsOf({ callbacks, maxOpenTrades: 2 }));
    for (const name of ['A', 'B'])
      expect(seen.filter(([, pair]) => pair === name)).toEqual([
        [1, name, 'entry', undefined],
        [2, name, 'exit', { pair: name, hours: [1] }],
        [3, name, 'entry', undefined],
        [4, name, 'exit', { pair: name, hours: [3] }],
      ]);
  });

  it('data holds copies that nobody can change, and undefined removes a key', () => {
    let tested = false;
    const orderFilled: StrategyCallbacks['orderFilled'] = (_context, { data }) => {
      const mine = { steps: [1, 2] };
      data.set('mine', mine);
      mine.steps.push(3);
      expect(data.get('mine')).toEqual({ steps: [1, 2] });
      expect(() => data.get<{ steps: number[] }>('mine')!.steps.push(3)).toThrow(TypeError);
      data.set('mine', undefined);
      expect(data.get('mine')).toBeUndefined();
      data.set('nothing', null);
      expect(data.get('nothing')).toBeNull();
      tested = true;
    };
    run({ rows: FLAT, enterLong: [0] }, { orderFilled });
    expect(tested).toBe(true);
  });

  const circular: unknown[] = [];
  circular.push(circular);
  it.each<[string, (data: StoredData) => void, RegExp]>([
    ['NaN', (data) => data.set('x', Number.NaN), /^The value of "x" is NaN; stored data are strings/],
    ['a nested infinity', (data) => data.set('x', { y: [Number.POSITIVE_INFINITY] }), /is Infinity;/],
    ['a function', (data) => data.set('x', (() => 1) as never), /is a function;/],
    ['a column', (data) => data.set('x', new Float64Array(3) as never), /is an object of a class;/],
    ['a map', (data) => data.set('x', new Map() as never), /is an object of a class;/],
    ['a circle', (data) => data.set('x', circular as never), /has more than 1000 values/],
    ['a long list', (data) => data.set('x', new Array(1001).fill(0)), /has more than 1000 values/],
    ['a long text', (data) => data.set('x', 'y'.repeat(10_001)), /is a string of 10001 characters;/],
    ['an empty key', (data) => data.set('', 1), /^A key of stored data must be a string of 1 to 100/],
    ['a number as key', (data) => data.set(5 as never, 1), /^A key of stored data/],
    [
      'the 101st key',
      (data) => Array.from({ length: 101 }, (_, key) => data.set(`${key}`, 1)),
      /^Stored data has 100 keys at most; "100" is one too many$/,
    ],
  ])('data rejects %s', (_name, set, message) => {
    const attempt = () => run({ rows: FLAT, enterLong: [0] }, { orderFilled: (_c, { data }) => set(data) });
    expect(attempt).toThrow(TypeError);
    expect(attempt).toThrow(message);
  });
});

describe('loopStart', () => {
  it('loopStart begins every main candle before the pairs, with the pairs that have it', () => {
    const seen: unknown[] = [];
    const callbacks: StrategyCallbacks = {
      loopStart: ({ time, pairs }) =>
        seen.push([
          hourOf(time),
          ...pairs.map(({ pair, index, candles }) => `${pair}${index}@${candles.open[index]}`),
        ]),
      confirmEntry: ({ time, pair }) => seen.push(`enter ${pair} ${hourOf(time)}`) > 0,
      customExit: ({ time, pair }) => {
        seen.push(`exit ${pair} ${hourOf(time)}`);
        return null;
      },
    };
    const pairs = [
      pairOf({ rows: FLAT.slice(0, 4), enterLong: [1] }),
      pairOf({ pair: 'B', rows: FLAT.slice(0, 4), startsAt: 2, enterLong: [1] }),
    ];
    simulate(pairs, settingsOf({ callbacks, maxOpenTrades: 2 }));
    expect(seen).toEqual([
      [1, 'A1@100'],
      [2, 'A2@100'],
      'enter A 2',
      'exit A 2',
      [3, 'A3@100', 'B1@100'],
      'exit A 3',
      [4, 'B2@100'],
      'enter B 4',
      'exit B 4',
      [5, 'B3@100'],
      'exit B 5',
    ]);
  });

  it('loopStart is called once per main candle with detail candles', () => {
    const times: number[] = [];
    const rows = Array.from({ length: 3 }, () => flat(100));
    const detail = candlesOf(
      Array.from({ length: 12 }, () => flat(100)),
      HOUR / 4,
    );
    run(
      { rows, detail, enterLong: [0] },
      { loopStart: ({ time }) => times.push(hourOf(time)) },
      {
        detailTimeframeMs: HOUR / 4,
      },
    );
    expect(times).toEqual([1, 2]);
  });

  it('state of a simulation is shared by its callbacks and empty in the next simulation', () => {
    const seen: unknown[] = [];
    const callbacks: StrategyCallbacks = {
      loopStart: ({ state }) => state.set('candles', (state.get<number>('candles') ?? 0) + 1),
      confirmEntry: ({ state }) => {
        seen.push(state.get('candles'));
        return true;
      },
    };
    for (let i = 0; i < 2; i++) run({ rows: FLAT, enterLong: [2] }, callbacks);
    expect(seen).toEqual([3, 3]);
  });

  it('trades with a loopStart that does nothing equal those without', () => {
    const script = { rows: QUIET, enterLong: [0, 3], exitShort: [4], enterShort: [2], exitLong: [1] };
    for (const customExit of [undefined, () => null]) {
      const callbacks = customExit ? { customExit } : {};
      const settings = { minimalRoi: { 120: 0.005 }, trailing: { positive: 0.009 } };
      const plain = run(script, callbacks, settings);
      const begun = run(script, { ...callbacks, loopStart: () => undefined }, settings);
      expect(begun.trades.length).toBeGreaterThan(0);
      expect(begun.trades).toEqual(plain.trades);
      expect(begun.curve).toEqual(plain.curve);
    }
  });
});

describe('order timeouts of the strategy', () => {
  it('checkEntryTimeout cancels a waiting entry, which counts as timed out', () => {
    const seen: unknown[] = [];
    const callbacks: StrategyCallbacks = {
      customEntryPrice: () => 90,
      checkEntryTimeout: ({ time }, { entries, side }, order) => {
        seen.push([hourOf(time), entries, side, order]);
        return hourOf(time) === 3;
      },
    };
    const { trades, counters } = run({ rows: QUIET, enterLong: [0] }, callbacks, {
      unfilledTimeoutMinutes: 600,
    });
    const order = { side: 'entry', kind: 'entry', price: 90, amount: 100 / 90, tag: null };
    expect(seen).toEqual([2, 3].map((hour) => [hour, 0, 'long', expect.objectContaining(order)]));
    expect(trades).toEqual([]);
    expect(counters).toMatchObject({ timedOutEntries: 1, cancelledEntries: 0 });
  });

  it('checkEntryTimeout and checkExitTimeout are not called for an order that has timed out', () => {
    const callbacks: StrategyCallbacks = {
      customEntryPrice: () => 90,
      checkEntryTimeout: () => {
        throw new Error('called');
      },
    };
    const { counters } = run({ rows: QUIET, enterLong: [0] }, callbacks, { unfilledTimeoutMinutes: 60 });
    expect(counters.timedOutEntries).toBe(1);
  });

  it('checkExitTimeout cancels a waiting exit, and the same candle may order another', () => {
    const kinds: unknown[] = [];
    const callbacks: StrategyCallbacks = {
      customExitPrice: ({ time }, _trade, price) => (hourOf(time) === 2 ? 105 : price),
      checkExitTimeout: ({ time }, _trade, { kind, tag, price }) => {
        kinds.push([hourOf(time), kind, tag, price]);
        return hourOf(time) === 4;
      },
    };
    // The waiting exit of hour 2 would keep the position; the signal of row 3 acts in hour 4.
    const { trades, counters } = run({ rows: QUIET, enterLong: [0], exitLong: [1, 3] }, callbacks, {
      unfilledTimeoutMinutes: 600,
    });
    expect(kinds).toEqual([
      [3, 'exit', 'exit_signal', 105],
      [4, 'exit', 'exit_signal', 105],
    ]);
    expect(summary({ trades })).toEqual(['A long 1@100 4@100 exit_signal']);
    expect(counters).toMatchObject({ timedOutExits: 1, cancelledExits: 0 });
  });
});

describe('adjustExitPrice', () => {
  const adjusting = (prices: Readonly<Record<number, number | null>>): StrategyCallbacks => ({
    customExitPrice: () => 105,
    adjustExitPrice: ({ index }, _trade, price) => (index in prices ? prices[index]! : price),
  });
  const script: PairScript = { rows: QUIET, enterLong: [0], exitLong: [1] };
  const waiting = { unfilledTimeoutMinutes: 150 };

  it('adjustExitPrice replaces a waiting exit, whose age begins anew', () => {
    const { trades, counters } = run(script, adjusting({ 4: 104, 6: 100.5 }), waiting);
    expect(summary({ trades })).toEqual(['A long 1@100 6@100.5 exit_signal']);
    expect(counters).toMatchObject({ replacedExits: 2, cancelledExits: 0, timedOutExits: 0 });
  });

  it('adjustExitPrice cancels a waiting exit with null', () => {
    const { trades, counters } = run(script, adjusting({ 3: null }), waiting);
    expect(summary({ trades })).toEqual(['A long 1@100 7@100 force_exit']);
    expect(counters).toMatchObject({ replacedExits: 0, cancelledExits: 1 });
  });

  it('adjustExitPrice keeps the part and the tag of a partial exit', () => {
    const callbacks: StrategyCallbacks = {
      ...adjusting({ 4: 100.5 }),
      adjustPosition: ({ index }) => (index === 2 ? { stake: -40, tag: 'some' } : null),
    };
    const { trades } = run({ rows: QUIET, enterLong: [0] }, callbacks, waiting);
    expect(trades[0]!.orders!.map(({ side, price, amount, tag }) => [side, price, amount, tag])).toEqual([
      ['entry', 100, 1, null],
      ['exit', 100.5, 0.4, 'some'],
      ['exit', 100, 0.6, 'force_exit'],
    ]);
  });
});

it('callbacks read the parameter values of the run, which nobody can change', () => {
  const params: Readonly<Record<string, number>> = { length: 5, width: 2 };
  const seen: unknown[] = [];
  const callbacks: StrategyCallbacks = {
    loopStart: (context) => void seen.push(context.params, context.pairs[0]?.params),
    confirmEntry: (context) => {
      seen.push(context.params);
      expect(() => Object.assign(context.params, { length: 6 })).toThrow(TypeError);
      return true;
    },
  };
  run({ rows: FLAT.slice(0, 3), enterLong: [0] }, callbacks, { params });
  expect(seen).toEqual([params, params, params, params, params]);
});
