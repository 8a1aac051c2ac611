import { describe, expect, it } from 'vitest';
import { crossedAbove, crossedBelow, sma } from '#engine/indicators/index.ts';
import { certifyLookAhead } from '#engine/look-ahead/certify.ts';
import type { StrategyCallbacks, StrategyDefinition } from '#engine/strategy.ts';
import { captured, certify, KINDS, repeated, withCallbacks } from './certify-fixture.ts';
import { sound } from './crossing-fixture.ts';
import { lookAheadSubject } from './look-ahead-subject.ts';

describe('callback leaks found by the guard', () => {
  it.each<[string, StrategyCallbacks, string, number]>([
    ['index', { customExit: ({ candles, index }) => (candles.close[index]! > 0 ? null : 'x') }, 'close', 0],
    [
      'index + 1',
      { customExit: ({ candles, index }) => (candles.low[index + 1]! < 0 ? 'x' : null) },
      'low',
      1,
    ],
    [
      'index + 3',
      { customExit: ({ candles, index }) => (candles.close[index + 3]! < candles.open[index]! ? 'x' : null) },
      'close',
      3,
    ],
    [
      'open of index + 1',
      { customExit: ({ candles, index }) => (candles.open[index + 1]! < 0 ? 'x' : null) },
      'open',
      1,
    ],
    [
      'a caught error',
      {
        customExit: ({ candles, index }) => {
          try {
            return candles.close[index + 1]! < candles.open[index]! ? 'x' : null;
          } catch {
            return null;
          }
        },
      },
      'close',
      1,
    ],
  ])('certification finds a callback leak and its source line: %s', async (_, callbacks, column, ahead) => {
    const { findings } = await certify(withCallbacks(callbacks));
    const found = findings.find(({ column: read }) => read === `candles.${column}`)!;
    expect(found).toMatchObject({ kind: 'look_ahead', callback: 'customExit' });
    expect(found.location).toMatch(/^certify\.test\.ts:\d+$/);
    expect(found.message).toMatch(
      ahead === 0 ? /row index \(\d+\) is the candle that is still forming/ : `${ahead} row`,
    );
  });

  it('certification finds a callback that reads a signal at index or later, and no read before', async () => {
    const reading = (ahead: number) =>
      certify(
        withCallbacks({
          confirmEntry: ({ signals, index }) => {
            const from = Math.max(0, index - 5);
            return (
              signals.enterLong!.slice(from, index).includes(1) && signals.exitLong![index + ahead] !== 2
            );
          },
        }),
      );
    const { findings } = await reading(0);
    expect(findings[0]).toMatchObject({ callback: 'confirmEntry', column: 'signals.exitLong' });
    expect((await reading(3)).findings[0]).toMatchObject({ column: 'signals.exitLong' });
    expect((await reading(-1)).findings).toEqual([]);
  });

  it('certification accepts stakes by the wallet, the open trades and the limits', async () => {
    const { findings } = await certify(
      withCallbacks({
        customStake: ({ wallet, openTrades, fee }, _side, proposed, { minStake, maxStake }) =>
          Math.max(minStake, Math.min(maxStake, (wallet.equity * 0.1) / (1 + openTrades.length), proposed)) *
          (1 - fee),
        loopStart: ({ wallet, openTrades, state: kept }) => {
          kept.set('free', wallet.free);
          kept.set(
            'profit',
            openTrades.reduce((sum, { profit }) => sum + profit, 0),
          );
        },
      }),
    );
    expect(findings).toEqual([]);
  });

  it('certification finds a callback that reads an indicator column at index', async () => {
    const { findings } = await certify(
      withCallbacks({
        customStoploss: ({ columns, index }) => (columns.average![index]! > 100 ? 0.05 : 0.1),
      }),
    );
    expect(findings[0]).toMatchObject({ callback: 'customStoploss', column: 'columns.average' });
  });

  it('certification finds a callback that writes into a column', async () => {
    const { findings } = await certify(
      withCallbacks({
        customExit: ({ candles }) => {
          candles.close[0] = 1;
          return null;
        },
      }),
    );
    expect(findings[0]).toMatchObject({ kind: 'input_changed', column: 'candles.close' });
  });
});

describe('callback leaks by members that depend on the number of candles', () => {
  it.each<[string, StrategyCallbacks, string]>([
    [
      'at(-1)',
      { customExit: ({ candles }, _t, price) => (candles.close.at(-1)! > price ? 'x' : null) },
      'at',
    ],
    [
      'length',
      { customExit: ({ candles: { close }, index }) => (close.length - index < 400 ? 'end' : null) },
      'length',
    ],
    [
      'an iterator',
      {
        customExit: ({ candles }, _trade, price) => {
          let last = 0;
          for (const close of candles.close) last = close;
          return last > price ? 'x' : null;
        },
      },
      'Symbol(Symbol.iterator)',
    ],
    [
      'a subarray ahead',
      {
        customExit: ({ candles, index }, _trade, price) =>
          candles.high.subarray(index, index + 5).some((high) => high > price * 1.01) ? 'x' : null,
      },
      'subarray',
    ],
    [
      'a slice ahead',
      {
        customExit: ({ candles, index }, _trade, price) =>
          candles.high.slice(index, index + 5).some((high) => high > price * 1.01) ? 'x' : null,
      },
      'slice',
    ],
    [
      'a maximum over the whole column',
      { customExit: ({ candles }, _t, price) => (price > 0.95 * Math.max(...candles.high) ? 'top' : null) },
      'Symbol(Symbol.iterator)',
    ],
    [
      'a reduction of the whole column',
      {
        customExit: ({ candles }, _t, price) =>
          price > 0.95 * candles.high.reduce((best, high) => Math.max(best, high), 0) ? 'top' : null,
      },
      'reduce',
    ],
  ])('certification finds a callback that uses %s', async (_, callbacks, member) => {
    const { findings } = await certify(withCallbacks(callbacks));
    const found = findings.find(({ callback }) => callback === 'customExit')!;
    expect(found.kind).toBe('look_ahead');
    expect(found.message).toContain(`.${member}, which depends on how many candles there are`);
    expect(found.location).toMatch(/^certify\.test\.ts:\d+$/);
  });
});

const STEP = 3_600_000;
const opened = (time: number) => Math.floor(time / STEP) * STEP;

describe('leaks by captured columns', () => {
  it.each<[keyof StrategyCallbacks, Parameters<typeof captured>[0]]>([
    [
      'customExit',
      (at) => ({ customExit: ({ pair, time }, _t, price) => (at(pair, time, 2) < price ? 'x' : null) }),
    ],
    [
      'customStoploss',
      (at) => ({ customStoploss: ({ pair, time }) => (at(pair, time, 0) > at(pair, time, -1) ? 0.1 : 0.01) }),
    ],
    [
      'customEntryPrice',
      (at) => ({
        customEntryPrice: ({ pair, time }, _s, price) => Math.min(price, at(pair, time, 0) || price),
      }),
    ],
    [
      'customStake',
      (at) => ({
        customStake: ({ pair, time }, _s, stake) =>
          at(pair, time, 1) > at(pair, time, 0) ? stake : stake / 2,
      }),
    ],
    [
      'leverage',
      (at) => ({ leverage: ({ pair, time }) => (at(pair, time, 3) > at(pair, time, -1) ? 3 : 1) }),
    ],
    ['confirmEntry', (at) => ({ confirmEntry: ({ pair, time }, _s, price) => !(at(pair, time, 3) < price) })],
    ['confirmExit', (at) => ({ confirmExit: ({ pair, time }, _t, price) => !(at(pair, time, 1) > price) })],
    [
      'customRoi',
      (at) => ({ customRoi: ({ pair, time }) => (at(pair, time, 1) < at(pair, time, 0) ? 0.001 : 0.05) }),
    ],
    [
      'customExitPrice',
      (at) => ({
        customExitPrice: ({ pair, time }, _t, price) => Math.max(price, at(pair, time, 0) || price),
      }),
    ],
    [
      'adjustEntryPrice',
      (at) => ({
        customEntryPrice: (_c, side, price) => (side === 'long' ? price * 0.99 : price * 1.01),
        adjustEntryPrice: ({ pair, time }, _t, price) =>
          at(pair, time, 1) > at(pair, time, 0) ? null : price,
      }),
    ],
    [
      'adjustPosition',
      (at) => ({
        adjustPosition: ({ pair, time }, trade) =>
          trade.entries < 3 && at(pair, time, 1) > at(pair, time, 0) ? { stake: 20, tag: 'up' } : null,
      }),
    ],
    [
      'afterFill',
      (at) => ({ afterFill: ({ pair, time }) => (at(pair, time, 1) > at(pair, time, 0) ? 0.2 : 0.02) }),
    ],
  ])('certification finds a captured later close used in %s', async (name, make) => {
    const { findings, calls } = await certify(captured(make));
    expect(calls[name]).toBeGreaterThan(0);
    expect(findings.map(({ kind, callback }) => [kind, callback])).toEqual([['look_ahead', name]]);
    expect(findings[0]!.message).toMatch(
      / returned .+ when the (candle of .+ was forming|candles that close after .+) and .+ with all candles$/,
    );
  });

  it('certification finds a callback that memoizes later closes', async () => {
    const define = () => {
      let memo: Float64Array | undefined;
      let times: Float64Array | undefined;
      return sound({
        indicators: ({ close, timestamp }) => {
          memo ??= close;
          times ??= timestamp;
          return { average: sma(close, 20) };
        },
        callbacks: {
          customExit: ({ time }, _t, price) =>
            memo![times!.indexOf(opened(time)) + 4]! < price ? 'x' : null,
        },
      });
    };
    const { findings } = await certify(define);
    expect(findings[0]).toMatchObject({ kind: 'look_ahead', callback: 'customExit' });
  });

  it('certification finds state collected over the whole column', async () => {
    const define = () => {
      let top = 0;
      return sound({
        indicators: ({ close }) => {
          for (const price of close) top = Math.max(top, price);
          return { average: sma(close, 20) };
        },
        callbacks: { customExit: (_c, _t, price) => (price > 0.7 * top ? 'top' : null) },
      });
    };
    expect((await certify(define)).findings[0]).toMatchObject({ kind: 'look_ahead', callback: 'customExit' });
  });
});

it.each([
  [51, 31],
  [31, 97],
])('certification finds a rare look-ahead exit among many causal ones: market %i', async (seed, every) => {
  const define = captured((at) => ({
    customExit: ({ pair, time, index }, _trade, price, profit) => {
      if (profit > 0.003) return `profit ${profit.toFixed(4)}`;
      return index % every === 0 && at(pair, time, 2) < price ? 'rare' : null;
    },
  }));
  const { findings } = await certify(define, { seeds: [seed] });
  expect(findings[0]).toMatchObject({ kind: 'look_ahead', callback: 'customExit' });
});

describe('leaks in columns and signals', () => {
  it.each<[string, Partial<StrategyDefinition>, RegExp]>([
    [
      'an indicator normalised over the whole column',
      {
        indicators: ({ close }) => {
          const mean = close.reduce((sum, price) => sum + price, 0) / close.length;
          return { average: sma(close, 20), share: close.map((price) => price / mean) };
        },
      },
      /^columns\.share of /,
    ],
    [
      'a shifted column',
      {
        indicators: ({ close }) => ({
          average: sma(close, 20),
          next: close.map((_, row) => close[row + 1] ?? Number.NaN),
        }),
      },
      /^columns\.next of /,
    ],
    [
      'an open shifted by one',
      {
        indicators: ({ close, open }) => ({
          average: sma(close, 20),
          next: open.map((_, row) => open[row + 1] ?? Number.NaN),
        }),
      },
      /^columns\.next of /,
    ],
    [
      'an informative timeframe one row early',
      {
        informativeTimeframes: ['4h'],
        signals: ({ close }, _columns, _params, informative) => {
          const { average } = informative['4h']!;
          const early = average!.map((_, row) => average![row + 1] ?? Number.NaN);
          return { enterLong: crossedAbove(close, early), exitLong: crossedBelow(close, early) };
        },
      },
      /^(enter|exit)Long of /,
    ],
  ])('certification finds %s', async (_, change, message) => {
    for (const callbacks of [undefined, { customExit: () => null }]) {
      const define = () => sound({ ...change, ...(callbacks && { callbacks }) });
      const { findings } = await certify(define);
      expect(findings[0]).toMatchObject({ kind: 'look_ahead', callback: null });
      expect(findings[0]!.message).toMatch(message);
    }
  });

  it('certification finds a memo of columns that only a run over fewer candles reveals', async () => {
    let whole: Float64Array | undefined;
    // Survives a reload of the definition, unlike module state.
    const define = () =>
      sound({
        indicators: ({ close }) => {
          whole ??= close.map((_, row) => close[row + 1] ?? Number.NaN);
          return { average: sma(close, 20), next: whole.slice(0, close.length) };
        },
      });
    const { findings } = await certify(
      () => {
        whole = undefined;
        return define();
      },
      { seeds: [21] },
    );
    expect(findings[0]).toMatchObject({ kind: 'look_ahead', column: 'columns.next' });
  });
});

describe('findings other than look-ahead', () => {
  it('certification reports a callback that is not repeatable as not_repeatable', async () => {
    let calls = 0;
    const { findings } = await certify(withCallbacks({ customExit: () => (calls++ % 7 === 3 ? 'x' : null) }));
    expect(findings.map(({ kind }) => kind)).toEqual(['not_repeatable']);
  });

  it('certification reports a strategy that needs all candles as not_runnable', async () => {
    const define = () =>
      sound({
        callbacks: { customExit: () => null },
        indicators: ({ close }) => {
          if (close.length < 500) throw new Error('too short for me');
          return { average: sma(close, 20) };
        },
      });
    const { findings } = await certify(define);
    expect(findings[0]).toMatchObject({
      kind: 'not_runnable',
      message: expect.stringContaining('too short for me'),
    });
  });

  it('certification rejects too few candles', async () => {
    await expect(certify(() => sound(), { rows: 5 })).rejects.toThrow(
      'No pair has enough candles to be searched for look-ahead',
    );
  });
});

describe('causal strategies', () => {
  it.each(KINDS.filter(([, { mlEngine }]) => !mlEngine))(
    'certification finds nothing in %s',
    async (_name, strategy) => {
      const rows = strategy.mlEngine ? 300 : 800;
      const { findings, entrySignals, cuts } = await certify(() => strategy, { seeds: [1, 2, 3], rows });
      expect(findings).toEqual([]);
      expect(entrySignals).toBeGreaterThan(0);
      expect(cuts).toBeGreaterThanOrEqual(20);
    },
  );

  it('certification finds nothing with an informative timeframe and state per pair', async () => {
    const define = () => {
      const entered = new Map<string, number>();
      return sound({
        informativeTimeframes: ['4h'],
        signals: ({ close }, _columns, _params, informative) => ({
          enterLong: crossedAbove(close, informative['4h']!.average!),
          exitLong: crossedBelow(close, informative['4h']!.average!),
        }),
        callbacks: {
          confirmEntry: ({ pair, index }) => {
            entered.set(pair, index);
            return true;
          },
          customExit: ({ pair, index }) => (index - entered.get(pair)! > 12 ? 'old' : null),
        },
      });
    };
    expect((await certify(define, { seeds: [3, 4, 5] })).findings).toEqual([]);
  });
});

describe('cuts that are repeated elsewhere', () => {
  it.each(KINDS)('repeated cuts of %s differ in nothing', async (_name, strategy) => {
    expect(await repeated(lookAheadSubject(() => strategy))).toEqual([]);
  });

  it('callback that decided by what outlived its runs is found', async () => {
    const kept: Float64Array[] = [];
    const subject = lookAheadSubject(
      () =>
        sound({
          indicators: ({ close }) => {
            kept.push(close.slice());
            return { average: sma(close, 20) };
          },
          callbacks: {
            customExit: ({ index }, _trade, price) => (kept[0]![index + 3]! < price * 0.99 ? 'falls' : null),
          },
        }),
      { seeds: [21] },
    );
    const [first] = await repeated(subject, () => {
      kept.length = 0;
    });
    expect(first).toMatchObject({ kind: 'look_ahead', callback: 'customExit', pair: 'M21/USDT:USDT' });
  });

  it('repeated cuts read informative candles as the search did', async () => {
    const define = () =>
      sound({
        informativeTimeframes: ['4h'],
        signals: ({ close }, _columns, _params, informative) => ({
          enterLong: crossedAbove(close, informative['4h']!.average!),
          exitLong: crossedBelow(close, informative['4h']!.average!),
        }),
      });
    expect(await repeated(lookAheadSubject(define, { seeds: [3, 4] }))).toEqual([]);
  });
});

it('certification cuts at the same candles for the same seed', async () => {
  const subject = lookAheadSubject(() => sound());
  const first = await certifyLookAhead(subject, { cuts: 10 });
  expect(await certifyLookAhead(subject, { cuts: 10 })).toEqual(first);
  expect(first.cuts).toBe(10);
  expect(first.rows).toBe(1_000);
  expect(first.pairs).toEqual(['M21/USDT:USDT', 'M22/USDT:USDT']);
});

describe('costs estimated from candles', () => {
  it('a strategy without leaks stays certified when fills depend on spread, impact and volume', async () => {
    const { findings, cuts } = await certify(
      () => sound({ callbacks: { customStake: (_context, _side, stake) => stake * 2 } }),
      {
        slippage_model: { spread: 'edge', spread_days: 3, impact: 1, participation: 0.05 },
      },
    );
    expect(findings).toEqual([]);
    expect(cuts).toBeGreaterThan(0);
  });
});
