import { describe, expect, it } from 'vitest';
import { crossedBelow } from '#engine/indicators/index.ts';
import type { CallbackContext, StrategyCallbacks } from '#engine/strategy.ts';
import { captured, certify, withCallbacks } from './certify-fixture.ts';
import { sound } from './crossing-fixture.ts';

/** Limit orders that often wait. */
const WAITING: StrategyCallbacks = {
  customEntryPrice: (_context, side, price) => price * (side === 'long' ? 0.99 : 1.01),
  customExitPrice: (_context, { side }, price) => price * (side === 'long' ? 1.01 : 0.99),
};

const later = (context: CallbackContext) => context.candles.close[context.index + 1]!;

describe('reads beyond the known rows', () => {
  it.each<[keyof StrategyCallbacks, StrategyCallbacks]>([
    ['loopStart', { loopStart: ({ pairs }) => void pairs.map(later) }],
    ['orderFilled', { orderFilled: (context) => void later(context) }],
    ['checkEntryTimeout', { ...WAITING, checkEntryTimeout: (context) => later(context) < 0 }],
    ['checkExitTimeout', { ...WAITING, checkExitTimeout: (context) => later(context) < 0 }],
    ['adjustExitPrice', { ...WAITING, adjustExitPrice: (context, _t, price) => price + 0 * later(context) }],
  ])('certification finds a read of a later row in %s, with its source line', async (callback, callbacks) => {
    const { findings } = await certify(withCallbacks(callbacks));
    const found = findings.find(({ column }) => column === 'candles.close')!;
    expect(found).toMatchObject({ kind: 'look_ahead', callback });
    expect(found.location).toMatch(/^certify-orders\.test\.ts:\d+$/);
  });
});

describe('leaks by captured columns', () => {
  it.each<[keyof StrategyCallbacks, Parameters<typeof captured>[0]]>([
    [
      'checkEntryTimeout',
      (at) => ({ ...WAITING, checkEntryTimeout: ({ pair, time }) => at(pair, time, 1) > at(pair, time, 0) }),
    ],
    [
      'checkExitTimeout',
      (at) => ({ ...WAITING, checkExitTimeout: ({ pair, time }) => at(pair, time, 1) > at(pair, time, 0) }),
    ],
    [
      'adjustExitPrice',
      (at) => ({
        ...WAITING,
        adjustExitPrice: ({ pair, time }, _t, price) => at(pair, time, 1) || price,
      }),
    ],
  ])('certification finds a captured later close used in %s', async (name, make) => {
    const { findings, calls } = await certify(captured(make));
    expect(calls[name]).toBeGreaterThan(0);
    expect(findings.map(({ kind, callback }) => [kind, callback])).toEqual([['look_ahead', name]]);
    expect(findings[0]!.message).toMatch(
      / returned .+ when the (candle of .+ was forming|candles that close after .+) and .+ with all candles$/,
    );
  });

  it.each<[keyof StrategyCallbacks, string, Parameters<typeof captured>[0]]>([
    [
      'orderFilled',
      'the data of the trade',
      (at) => ({
        orderFilled: ({ pair, time }, { data }) => data.set('next', at(pair, time, 2) || null),
        customExit: (_context, { data }, price) =>
          price < (data.get<number>('next') ?? price) ? 'known' : null,
      }),
    ],
    [
      'customExit',
      'the data of the trade, which nothing reads',
      (at) => ({
        customExit: ({ pair, time }, { data }) => {
          data.set('next', { close: at(pair, time, 1) || null });
          return null;
        },
      }),
    ],
    [
      'loopStart',
      'the state of the simulation',
      (at) => ({
        loopStart: ({ time, pairs, state }) =>
          state.set('rising', pairs.length > 0 && at(pairs[0]!.pair, time, 1) > at(pairs[0]!.pair, time, 0)),
        confirmEntry: ({ state }) => state.get('rising') === true,
      }),
    ],
    [
      'loopStart',
      'a long list of the state',
      (at) => ({
        loopStart: ({ time, state }) => {
          const past = Array.from({ length: 200 }, (_, row) => row / 7);
          state.set('closes', [...past, at('', time, 1) || null]);
        },
      }),
    ],
  ])('certification finds a later close that %s puts into %s', async (name, _where, make) => {
    const { findings, calls } = await certify(captured(make));
    expect(calls[name]).toBeGreaterThan(0);
    expect(findings.map(({ kind, callback }) => [kind, callback])).toEqual([['look_ahead', name]]);
    expect(findings[0]!.message).toMatch(
      / stored \[.+\] when the (candle of .+ was forming|candles that close after .+) and \[.+\] with all candles$/,
    );
  });

  it('certification finds a later close that loopStart keeps in a variable, where it is used', async () => {
    const define = captured((at) => {
      let rising = false;
      return {
        loopStart: ({ time }) => {
          rising = at('', time, 1) > at('', time, 0);
        },
        confirmEntry: () => rising,
      };
    });
    const { findings } = await certify(define);
    expect(findings[0]).toMatchObject({ kind: 'look_ahead', callback: 'confirmEntry' });
  });
});

describe('causal callbacks', () => {
  const causal: StrategyCallbacks = {
    ...WAITING,
    loopStart: ({ pairs, state, time }) => {
      const rising = pairs.filter(({ candles: { close }, index }) => close[index - 1]! > close[index - 2]!);
      state.set('rising', rising.length / pairs.length);
      const { open, timestamp } = pairs[0]!.candles;
      if (timestamp[pairs[0]!.index] !== time || !(open[pairs[0]!.index]! > 0))
        throw new Error('another row');
    },
    confirmEntry: ({ state }) => state.get<number>('rising')! > 0,
    orderFilled: ({ columns, index, state }, { data }, { kind, price, tag, placedAt }) => {
      data.set('fills', [...(data.get<string[]>('fills') ?? []), `${kind} ${tag} ${placedAt}`]);
      data.set('average', columns.average![index - 1]! / price);
      state.set('fills', (state.get<number>('fills') ?? 0) + 1);
    },
    checkEntryTimeout: ({ candles, index }, _trade, { price }) => candles.close[index - 1]! > 1.02 * price,
    checkExitTimeout: ({ time }, _trade, { placedAt, kind }) =>
      kind === 'exit' && time - placedAt > 7_200_000,
    adjustExitPrice: ({ candles, index }, { data }, price) =>
      (data.get<number>('average') ?? 0) > 1.01 ? null : (price + candles.open[index]!) / 2,
    customExit: ({ state }, { data }) =>
      (data.get<string[]>('fills') ?? []).length > 0 && state.get<number>('fills')! % 3 === 0
        ? 'third'
        : null,
  };

  it.each([
    ['freqtrade fills', {}],
    ['conservative fills', { fill_model: 'conservative' as const }],
    ['one slot', { max_open_trades: 1 }],
    ['detail candles', { timeframe_detail: '15m' as const, rows: 250 }],
  ])('certification finds nothing in data, orders and loopStart of the past, with %s', async (_, options) => {
    const { findings, calls } = await certify(withCallbacks(causal), options);
    expect(findings).toEqual([]);
    for (const [name, count] of Object.entries(calls)) expect(count, name).toBeGreaterThan(0);
    if (!('timeframe_detail' in options)) expect(calls.loopStart).toBe(499);
  });

  it('certification finds data that depends on the number of runs', async () => {
    let runs = 0;
    const define = () => {
      const run = runs++;
      return sound({ callbacks: { orderFilled: (_context, { data }) => data.set('run', run) } });
    };
    const { findings } = await certify(define);
    expect(findings.map(({ kind, callback }) => [kind, callback])).toEqual([
      ['not_repeatable', 'orderFilled'],
    ]);
  });
});

describe('several trades of a pair and a shared margin', () => {
  const adjusting: StrategyCallbacks = {
    adjustPosition: ({ candles, index }, { entries, exits }) => {
      if (candles.close[index - 1]! < candles.close[index - 2]!) return entries < 3 ? 20 : null;
      return exits < 2 ? -15 : null;
    },
  };
  const dense = (callbacks: StrategyCallbacks) => () =>
    sound({
      signals: ({ close }, { average }) => ({
        enterLong: Uint8Array.from(close, (price, row) => Number(price > average![row]!)),
        exitLong: crossedBelow(close, average!),
      }),
      stoploss: -0.02,
      callbacks,
    });
  const account = { position_stacking: true, max_open_trades: 6, margin_mode: 'cross', leverage: 5 } as const;

  it('certification finds nothing where trades of a pair are adjusted in the same candle', async () => {
    const { findings, calls } = await certify(dense(adjusting), account);
    expect(findings).toEqual([]);
    expect(calls.adjustPosition).toBeGreaterThan(100);
  });

  it('certification finds a later close in stacked trades', async () => {
    const leaking = dense({
      adjustPosition: ({ candles, index }) =>
        (candles.close[index + 1] ?? 0) > candles.open[index]! ? 20 : null,
    });
    const { findings } = await certify(leaking, account);
    expect(findings[0]).toMatchObject({ kind: 'look_ahead', callback: 'adjustPosition' });
  });
});
