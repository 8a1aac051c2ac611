import { describe, expect, it } from 'vitest';
import type { SlippageModel } from '#contract/config/slippage-model.ts';
import { type Candles, createCandles, sliceCandles } from '#engine/candles.ts';
import { stepOfDecimals } from '#engine/simulator/rules/decimals.ts';
import { PriceTicks } from '#engine/simulator/rules/precision.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import type { PairInput, SimulationSettings } from '#engine/simulator/types.ts';
import { withCostDays } from '#engine/slippage/cost-days.ts';
import { dailyCosts } from '#engine/slippage/daily-costs.ts';
import { flat, HOUR, hourOf, pairOf, type Row, START, settingsOf } from '../simulator/market.ts';

const DAY = 24 * HOUR;

/** Hourly candles of days before START: each day has one close and one volume for all of its candles. */
function daysBefore(days: readonly (readonly [close: number, volume: number])[]): Candles {
  const candles = createCandles(days.length * 24);
  for (const [day, [close, volume]] of days.entries())
    for (let row = day * 24; row < day * 24 + 24; row++) {
      candles.timestamp[row] = START - days.length * DAY + row * HOUR;
      for (const name of ['open', 'close'] as const) candles[name][row] = close;
      candles.high[row] = close * 1.01;
      candles.low[row] = close * 0.99;
      candles.volume[row] = volume / 24;
    }
  return candles;
}

/** Log returns of 1, -1, 1 and -1 %, and 2,400 units a day. */
const KNOWN = daysBefore(
  [100, 100 * Math.exp(0.01), 100, 100 * Math.exp(0.01), 100].map((close) => [close, 2_400]),
);
/** Their sample deviation: sqrt(4 * 0.01^2 / 3). */
const SIGMA = 0.01 * Math.sqrt(4 / 3);

interface Script {
  readonly model: SlippageModel;
  readonly rows?: readonly Row[];
  readonly volume?: readonly number[];
  readonly settings?: Partial<SimulationSettings>;
  readonly exitLong?: readonly number[];
  readonly short?: boolean;
}

function run({
  model,
  rows = [100, 100, 100, 110, 110, 110].map(flat),
  volume,
  settings,
  ...script
}: Script) {
  const { exitLong = [2], short = false } = script;
  const side = short ? { enterShort: [0], exitShort: exitLong } : { enterLong: [0], exitLong };
  const input = pairOf({ rows, ...side });
  if (volume) input.candles.volume.set(volume);
  const pair: PairInput = { ...input, costs: dailyCosts(model, KNOWN, undefined) };
  const { participation } = model;
  return simulate(
    [pair],
    settingsOf({ stoploss: -0.5, canShort: short, ...(participation && { participation }), ...settings }),
  );
}

describe('impact', () => {
  it('entry and exit move the price by the coefficient, the volatility and the root of the share of the daily volume', () => {
    const { trades } = run({ model: { impact: 0.8 } });
    const { amount, stake, entryPrice, exitPrice, slippageCost, profit } = trades[0]!;
    const impact = 0.8 * SIGMA * Math.sqrt(amount / 2_400);
    expect(entryPrice).toBeCloseTo(100 * (1 + impact), 10);
    expect(exitPrice).toBeCloseTo(110 * (1 - impact), 10);
    expect(slippageCost).toBeCloseTo(amount * 210 * impact, 10);
    expect(profit).toBeCloseTo(amount * (exitPrice - entryPrice), 7);
    // The stake pays the price with the impact of one unit, that of 100 at the open: 100.0188... with sigma 0.01155.
    expect(amount).toBeCloseTo(100 / (100 * (1 + 0.8 * SIGMA * Math.sqrt(1 / 2_400))), 12);
    expect(stake).toBeCloseTo(amount * entryPrice, 10);
  });

  it('a short sells lower and buys back higher, and a hundredfold amount moves the price ten times as far', () => {
    const one = run({ model: { impact: 1 }, short: true }).trades[0]!;
    expect(one.entryPrice).toBeLessThan(100);
    expect(one.exitPrice).toBeGreaterThan(110);
    const large = { stake: { kind: 'fixed', amount: 10_000 }, startingBalance: 100_000 } as const;
    const hundred = run({ model: { impact: 1 }, short: true, settings: large }).trades[0]!;
    const ratio = (hundred.exitPrice - 110) / (one.exitPrice - 110);
    expect(ratio).toBeCloseTo(10 * Math.sqrt(hundred.amount / one.amount / 100), 8);
  });

  it('slippage, half of the spread and impact add up', () => {
    const parts = [{ spread: 'corwin_schultz', spread_days: 30 }, { impact: 1 }] as const;
    const costOf = (model: SlippageModel, slippage: number) =>
      run({ model, settings: { slippage } }).trades[0]!.exitPrice / 110 - 1;
    const [spread, impact] = parts.map((model) => costOf(model, 0));
    expect(costOf({ ...parts[0], ...parts[1] }, 0.001)).toBeCloseTo(spread! + impact! - 0.001, 6);
  });

  it('no market fill costs more than half of its price', () => {
    // The coefficient alone would make a fill cost a hundred times its price.
    const { entryPrice, exitPrice } = run({ model: { impact: 1_000_000 } }).trades[0]!;
    expect([entryPrice, exitPrice]).toEqual([150, 55]);
  });
});

describe('costs of a day', () => {
  it('the spread is the median of the estimates of two days before the day, and at least one tick', () => {
    const model: SlippageModel = { spread: 'corwin_schultz', spread_days: 30 };
    const candles = daysBefore([100, 100.1, 100, 100.1, 100].map((close) => [close, 1]));
    const { firstDay, spread } = dailyCosts(model, candles, undefined);
    expect(firstDay).toBe(START / DAY - 5);
    // No estimate on the first day, and on the second, which has one day before it.
    expect([...spread!.subarray(0, 2)]).toEqual([Number.NaN, Number.NaN]);
    // Highs and lows 101/99 and 101.101/99.099, in either order.
    const beta = 2 * Math.log(1.01 / 0.99) ** 2;
    const gamma = Math.log((1.01 * 1.001) / 0.99) ** 2;
    const k = 3 - 2 * Math.SQRT2;
    const alpha = (Math.sqrt(2 * beta) - Math.sqrt(beta)) / k - Math.sqrt(gamma / k);
    const expected = (2 * (Math.exp(alpha) - 1)) / (1 + Math.exp(alpha));
    expect(spread![5]).toBeCloseTo(expected, 12);
    expect(expected).toBeGreaterThan(0.01);
    const ticks = new PriceTicks([{ from: 0, tick: stepOfDecimals(-1) }]);
    // Ten units of a price of 100.
    expect(dailyCosts(model, candles, ticks).spread![5]).toBeCloseTo(0.1, 12);
  });

  it('a day follows from the days before it: later candles change nothing', () => {
    for (const spread of ['corwin_schultz', 'edge'] as const) {
      const model: SlippageModel = { spread, spread_days: 3, impact: 1 };
      const whole = dailyCosts(model, wavy(40), undefined);
      // Cut within a day: its own column is known, and no later one.
      const cut = dailyCosts(model, sliceCandles(wavy(40), 0, 20 * 24 + 7), undefined);
      for (const name of ['spread', 'impact'] as const)
        expect([...cut[name]!.subarray(0, 21)]).toEqual([...whole[name]!.subarray(0, 21)]);
      expect(whole.spread!.some((value) => value > 0)).toBe(true);
    }
  });

  it('a return over missing days is none of a day', () => {
    const before = daysBefore([100, 101, 100, 101].map((close) => [close, 1]));
    const steady = dailyCosts({ impact: 1 }, before, undefined).impact!;
    // The third day is missing, and the fourth is at twice the price.
    const rows = [...before.timestamp.keys()].filter((row) => row < 48 || row >= 72);
    const gap = createCandles(rows.length);
    for (const name of ['timestamp', 'open', 'high', 'low', 'close', 'volume'] as const)
      for (const [to, row] of rows.entries())
        gap[name][to] = before[name][row]! * (row >= 72 && name !== 'timestamp' && name !== 'volume' ? 2 : 1);
    expect(steady[3]).toBeGreaterThan(0);
    // One return is known: no deviation.
    expect(dailyCosts({ impact: 1 }, gap, undefined).impact![4]).toBeNaN();
  });

  it('days before a run are asked for, one more than the model reads', () => {
    const date_range = { start: '2024-03-01T12:00:00.000Z', end: '2024-04-01T00:00:00.000Z' };
    const from = Date.parse('2024-02-29T00:00:00.000Z');
    const startOf = (slippage_model?: SlippageModel) =>
      new Date(withCostDays({ date_range, ...(slippage_model && { slippage_model }) }, from)).toISOString();
    expect(startOf()).toBe('2024-02-29T00:00:00.000Z');
    expect(startOf({ participation: 0.1 })).toBe('2024-02-29T00:00:00.000Z');
    expect(startOf({ impact: 1 })).toBe('2024-02-09T00:00:00.000Z');
    expect(startOf({ spread: 'edge', spread_days: 30, impact: 1 })).toBe('2024-01-30T00:00:00.000Z');
    const capacity = withCostDays({ date_range, robustness: { capacity: true } }, from);
    expect(new Date(capacity).toISOString()).toBe('2024-02-09T00:00:00.000Z');
  });
});

/** Candles that move within the hour. */
function wavy(days: number): Candles {
  const candles = daysBefore(Array.from({ length: days }, (_, day) => [100 + 3 * Math.sin(day), 2_400]));
  for (let row = 0; row < candles.timestamp.length; row++) {
    candles.open[row]! += Math.sin(row * 7);
    candles.close[row]! += Math.cos(row * 5);
    candles.high[row] = Math.max(candles.open[row]!, candles.close[row]!) + 0.2;
    candles.low[row] = Math.min(candles.open[row]!, candles.close[row]!) - 0.3;
  }
  return candles;
}

describe('participation', () => {
  it('an entry takes its share of the volume of the candle before it, and drops the rest', () => {
    // The signal candle has 10 units: a fill has at most a tenth of one.
    const { trades, fills } = run({ model: { participation: 0.01 }, volume: [10, 999, 999, 999, 999, 999] });
    expect(trades[0]).toMatchObject({ amount: 0.1, stake: 10, entryPrice: 100, profit: 1 });
    expect(fills).toEqual([{ pair: 'A', cappedEntries: 1, droppedValue: 90, cappedExits: 0 }]);
  });

  it('no trade without volume', () => {
    const { trades, fills } = run({ model: { participation: 0.5 }, volume: [0, 9, 9, 9, 9, 9] });
    expect(trades).toEqual([]);
    expect(fills![0]).toMatchObject({ cappedEntries: 1, droppedValue: 100 });
  });

  it('an exit signal sells what each candle takes at the next opens, without another signal', () => {
    const rows = [100, 100, 100, 110, 120, 130, 140, 150].map(flat);
    const { trades, fills, finalBalance } = run({
      model: { participation: 0.1 },
      rows,
      volume: [100, 9, 4, 0, 3, 99, 9, 9],
    });
    const orders = trades[0]!.orders!.map(({ filledAt, amount, price, tag }) => [
      hourOf(filledAt),
      amount,
      price,
      tag,
    ]);
    expect(orders).toEqual([
      [1, 1, 100, null],
      [3, 0.4, 110, 'exit_signal'],
      // Nothing at 120: the candle before it had no volume.
      [5, expect.closeTo(0.3, 12), 130, 'exit_signal'],
      [6, expect.closeTo(0.3, 12), 140, 'exit_signal'],
    ]);
    // 0.4 * 10 + 0.3 * 30 + 0.3 * 40.
    expect(trades[0]!.profit).toBeCloseTo(25, 7);
    expect(finalBalance).toBeCloseTo(1025, 7);
    expect(fills![0]).toMatchObject({ cappedEntries: 0, cappedExits: 3 });
  });

  it('the rest of a stop is sold at the next open, not at the stop, and pays its own impact', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 100, 80, 85], flat(70), flat(70), flat(70)];
    const script = { rows, volume: [100, 4, 100, 100, 100, 100], exitLong: [] };
    const { trades } = run({
      ...script,
      model: { participation: 0.1 },
      settings: { stoploss: -0.1 },
    });
    expect(trades[0]!.orders!.map(({ amount, price, tag }) => [amount, price, tag])).toEqual([
      [1, 100, null],
      [0.4, 90, 'stop_loss'],
      [0.6, 70, 'stop_loss'],
    ]);
    const slipped = run({
      ...script,
      model: { participation: 0.1, impact: 1 },
      settings: { stoploss: -0.1 },
    });
    const [, first, second] = slipped.trades[0]!.orders!;
    expect(first!.price).toBeCloseTo(
      slipped.trades[0]!.initialStopPrice * (1 - SIGMA * Math.sqrt(0.4 / 2_400)),
      8,
    );
    expect(second!.price).toBeCloseTo(70 * (1 - SIGMA * Math.sqrt(second!.amount / 2_400)), 8);
  });

  it('adjustPosition, customStoploss and customExit are not called while the rest of a market exit waits', () => {
    const called: number[] = [];
    const at = ({ time }: { readonly time: number }) => {
      called.push(hourOf(time));
      return null;
    };
    const { trades } = run({
      model: { participation: 0.1 },
      rows: [100, 100, 100, 110, 120, 130, 140].map(flat),
      volume: [100, 9, 4, 3, 99, 9, 9],
      settings: { callbacks: { adjustPosition: at, customStoploss: at, customExit: at } },
    });
    // The signal of row 2 sells 0.4 at hour 3, then 0.3 at hour 4 and the rest at hour 5.
    expect(trades[0]!.orders!.map(({ filledAt }) => hourOf(filledAt))).toEqual([1, 3, 4, 5]);
    expect(Math.max(...called)).toBe(3);
  });

  it('a liquidation and the end of the data fill completely', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 100, 52, 52], flat(52), flat(52), flat(52)];
    const thin = { model: { participation: 0.1 }, volume: [1_000, 1, 1, 1, 1, 1], exitLong: [] };
    const liquidated = run({ ...thin, rows, settings: { leverage: 2, stoploss: -0.99 } }).trades[0]!;
    expect(liquidated).toMatchObject({ exitReason: 'liquidation', amount: 2 });
    expect(liquidated.orders).toBeUndefined();
    const ended = run(thin).trades[0]!;
    expect(ended).toMatchObject({ exitReason: 'force_exit', amount: 1 });
    // A liquidation also ends an exit that waits.
    const waiting = run({
      ...thin,
      rows,
      exitLong: [1],
      settings: { leverage: 2, stoploss: -0.99 },
    }).trades[0]!;
    expect(waiting.orders!.map(({ amount, tag }) => [amount, tag])).toEqual([
      [2, null],
      [0.1, 'exit_signal'],
      [1.9, 'liquidation'],
    ]);
    // So it does to the rest of a stop in the candle of the stop.
    const stopped = run({ ...thin, rows, settings: { leverage: 2, stoploss: -0.5 } }).trades[0]!;
    expect(stopped.orders!.map(({ filledAt, tag }) => [hourOf(filledAt), tag])).toEqual([
      [1, null],
      [2, 'stop_loss'],
      [2, 'liquidation'],
    ]);
  });

  it('detail candles of one candle share its part of the volume', () => {
    const rows = [100, 100, 100, 110, 120, 130].map(flat);
    const input = pairOf({ rows, enterLong: [0], exitLong: [2] });
    input.candles.volume.set([100, 9, 4, 100, 100, 100]);
    const detail = pairOf({ rows: rows.flatMap((row) => [row, row]), timeframeMs: HOUR / 2 }).candles;
    const { trades } = simulate(
      [{ ...input, detail }],
      settingsOf({ stoploss: -0.5, participation: 0.1, detailTimeframeMs: HOUR / 2 }),
    );
    expect(trades[0]!.orders!.map(({ filledAt, amount }) => [hourOf(filledAt), amount])).toEqual([
      [1, 1],
      [3, 0.4],
      [4, 0.6],
    ]);
  });

  it('trades of one pair that exit in one candle share its part of the volume', () => {
    const rows = [100, 100, 100, 100, 110, 120, 130].map(flat);
    const input = pairOf({ rows, enterLong: [0, 1], exitLong: [3] });
    input.candles.volume.set([100, 100, 9, 15, 20, 20, 20]);
    const { trades } = simulate(
      [input],
      settingsOf({ stoploss: -0.5, maxOpenTrades: 2, positionStacking: true, participation: 0.1 }),
    );
    const exits = trades.flatMap(({ orders, amount, exitPrice }) =>
      (orders ?? [{ side: 'exit', amount, price: exitPrice }]).filter(({ side }) => side === 'exit'),
    );
    const sold = new Map<number, number>();
    for (const { price, amount } of exits) sold.set(price, (sold.get(price) ?? 0) + amount);
    // A tenth of 15 units at 110, and the last half unit of both at 120.
    expect([...sold]).toEqual([
      [110, 1.5],
      [120, 0.5],
    ]);
  });

  it('a limit exit takes one part of the volume from all detail candles of a candle', () => {
    const rows = [100, 100, 100, 110, 110, 130].map(flat);
    const input = pairOf({ rows, enterLong: [0], exitLong: [2, 3, 4] });
    input.candles.volume.set([100, 9, 4, 100, 100, 100]);
    const detail = pairOf({
      rows: rows.flatMap(([price]): Row[] => Array(4).fill([price, price + 1, price, price])),
      timeframeMs: HOUR / 4,
    }).candles;
    const { trades } = simulate(
      [{ ...input, detail }],
      settingsOf({
        stoploss: -0.5,
        participation: 0.1,
        detailTimeframeMs: HOUR / 4,
        callbacks: { customExitPrice: () => 111 },
      }),
    );
    expect(
      trades[0]!.orders!.map(({ filledAt, amount, price }) => [hourOf(filledAt), amount, price]),
    ).toEqual([
      [1, 1, 100],
      [3, 0.4, 111],
      [4, 0.6, 111],
    ]);
  });

  it('an entry below the smallest order of the exchange is dropped', () => {
    const instrument = {
      amountStep: 0.001,
      minAmount: null,
      maxAmount: null,
      minCost: 20,
      maxCost: null,
      contractSize: 1,
      priceTick: null,
    };
    const settings = settingsOf({ participation: 0.01 });
    const tradesWith = (volume: number) => {
      const input = pairOf({ rows: [100, 100, 100, 110].map(flat), enterLong: [0] });
      input.candles.volume.fill(volume);
      return simulate([{ ...input, instrument }], settings);
    };
    expect(tradesWith(30).trades[0]!.amount).toBeCloseTo(0.3, 12);
    const { trades, fills } = tradesWith(15);
    expect(trades).toEqual([]);
    expect(fills![0]).toMatchObject({ cappedEntries: 1, droppedValue: 100 });
  });
});

describe('rests of exits', () => {
  it('an exit takes a rest that is only an error of the last digit', () => {
    const volume = [100, 100, 33.33333333333333, 100, 100, 100];
    const [trade, ...others] = run({
      model: { participation: 1 },
      rows: Array.from({ length: 6 }, () => flat(3)),
      volume,
    }).trades;
    expect(others).toEqual([]);
    expect([trade!.amount, trade!.orders, hourOf(trade!.closedAt)]).toEqual([100 / 3, undefined, 3]);
  });
});
