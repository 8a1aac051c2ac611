import { describe, expect, it } from 'vitest';
import { describeAssumptions } from '#engine/report/assumptions.ts';
import { simulate } from '#engine/simulator/simulate.ts';
import { tradeAt } from '#engine/simulator/trade-table.ts';
import type { PairInput, SimulationSettings } from '#engine/simulator/types.ts';
import { flat, fundingOf, HOUR, pairOf, type Row, START, settingsOf } from '../simulator/market.ts';

const WALLET = 1000;

function assumptionsOf(pairs: readonly PairInput[], changes: Partial<SimulationSettings> = {}) {
  const settings = { ...settingsOf(changes), tradableBalanceRatio: 1, unfilledTimeoutMinutes: 10 };
  const run = simulate(pairs, settings);
  const fillModel = settings.fillModel === 'freqtrade' ? 'conservative' : 'freqtrade';
  const other = simulate(pairs, { ...settings, fillModel });
  const { assumptions, costs } = describeAssumptions({ settings, run, other, pairs, wallet: WALLET });
  const amounts = Object.fromEntries(assumptions.map(({ name, trades, amount }) => [name, [trades, amount]]));
  return { run, other, assumptions, costs, amounts };
}

const NOTHING = [0, 0];

describe('assumptions of a report', () => {
  it('a gap beyond the stop earned the way from the open to the stop', () => {
    const rows: Row[] = [flat(100), flat(100), [85, 98, 84, 97], flat(97)];
    const { amounts } = assumptionsOf([pairOf({ rows, enterLong: [0] })], { stoploss: -0.05 });
    // Filled at 95, at the open 85: both models of a fill alone have the same gap.
    expect(amounts).toEqual({
      gap_at_stop: [1, 10],
      order_in_candle: NOTHING,
      freed_later: NOTHING,
      entry_settlement: NOTHING,
      open_at_end: NOTHING,
    });
  });

  it('a gap beyond a trailing stop earned the way to where the stop was at the open', () => {
    // The stop follows to 104.5, and the next candle opens below it.
    const rows: Row[] = [flat(100), flat(100), [106, 110, 106, 110], [95, 106, 94, 105], flat(105)];
    const settings = { stoploss: -0.05, trailing: { offset: 0, only_offset_is_reached: false } };
    const { amounts, run } = assumptionsOf([pairOf({ rows, enterLong: [0] })], settings);
    expect(run.trades[0]).toMatchObject({ exitReason: 'trailing_stop_loss', exitPrice: 104.5 });
    expect(amounts.gap_at_stop).toEqual([1, 9.5]);
    expect(amounts.order_in_candle).toEqual(NOTHING);
  });

  it('a stop that moves inside the candle of the exit is no gap', () => {
    const rows: Row[] = [flat(100), flat(100), [100, 110, 99, 105], flat(105)];
    const settings = { stoploss: -0.05, trailing: { offset: 0, only_offset_is_reached: false } };
    const { amounts, run } = assumptionsOf([pairOf({ rows, enterLong: [0] })], settings);
    // Filled above the open of 100.
    expect(run.trades[0]).toMatchObject({ exitReason: 'trailing_stop_loss', exitPrice: 104.5 });
    expect(amounts.gap_at_stop).toEqual(NOTHING);
  });

  it('a gap beyond a stop loses the collateral at most, and beyond that it is a liquidation without a gap', () => {
    const gapOf = (open: number) => {
      const rows: Row[] = [flat(100), flat(100), [open, 98, open, 97], flat(97)];
      const settings = { leverage: 10, stoploss: -0.5, fee: 0.02 };
      return assumptionsOf([pairOf({ rows, enterLong: [0] })], settings);
    };
    // The fill at the stop of 95 loses 50, 20 and 19. At 92 it would lose 118.4: of that the collateral counts.
    const { amounts, run } = gapOf(92);
    expect(run.trades[0]!.profit).toBeCloseTo(-89, 8);
    expect(amounts.gap_at_stop![1]).toBeCloseTo(11, 8);
    expect(gapOf(89).amounts.gap_at_stop).toEqual(NOTHING);
  });

  it('a gap beyond the liquidation earned the way from the open to its price', () => {
    // 1,000 bought at 100 with 100 of collateral: 0.5 % of the value is left at 90.4523, and 5 % of the way back is 90.9296.
    const rows: Row[] = [flat(100), flat(100), [90.5, 98, 90.5, 97], flat(97)];
    const liquidation = { maintenanceMarginRate: 0.005, buffer: 0.05, closingFee: 0 };
    const settings = { leverage: 10, stoploss: -0.99, liquidation };
    const { amounts, run } = assumptionsOf([pairOf({ rows, enterLong: [0] })], settings);
    expect(run.trades[0]).toMatchObject({
      exitReason: 'liquidation',
      exitPrice: expect.closeTo(90.92964824, 8),
    });
    expect(amounts.gap_at_stop).toEqual([1, expect.closeTo(10 * (90.92964824 - 90.5), 6)]);
    expect(amounts.order_in_candle).toEqual(NOTHING);
  });

  it('a trade alone says nothing in cross margin, where the account bounds a loss and sets the liquidation', () => {
    // Whichever the model, the account of 1,000 is lost: 10,000 were bought at 100, and the next candle is at 80.
    const rows: Row[] = [flat(100), flat(100), [80, 82, 79, 81], flat(81)];
    const liquidation = { maintenanceMarginRate: 0.005, buffer: 0.05, marginMode: 'cross' } as const;
    const settings = { leverage: 100, stoploss: -0.5, liquidation };
    const { amounts, run, other } = assumptionsOf([pairOf({ rows, enterLong: [0] })], settings);
    expect(run.trades[0]!.profit).toBeCloseTo(-1000, 6);
    expect(other.outcomes.at(0).profit).toBeCloseTo(-1000, 6);
    expect(amounts.order_in_candle).toEqual([null, null]);
  });

  it('a gap of a short, with a fee', () => {
    const rows: Row[] = [flat(100), flat(100), [120, 121, 104, 112], flat(112)];
    const { amounts } = assumptionsOf([pairOf({ rows, enterShort: [0] })], { stoploss: -0.05, fee: 0.001 });
    const [trades, amount] = amounts.gap_at_stop!;
    expect(trades).toBe(1);
    // One unit is bought at the stop of 105 instead of 120, and pays the fee of 15 less.
    expect(amount).toBeCloseTo(15 * 1.001, 6);
  });

  it('a candle that is beyond the stop as a whole fills at its open in every model', () => {
    const rows: Row[] = [flat(100), flat(100), [85, 90, 84, 88], flat(88)];
    const { amounts } = assumptionsOf([pairOf({ rows, enterLong: [0] })], { stoploss: -0.05 });
    expect(amounts.gap_at_stop).toEqual(NOTHING);
    expect(amounts.order_in_candle).toEqual(NOTHING);
  });

  it('an open trade closes at the open of the last candle, not at its close', () => {
    const rows: Row[] = [flat(100), flat(100), [104, 104, 96, 96]];
    const { amounts } = assumptionsOf([pairOf({ rows, enterLong: [0] })]);
    expect(amounts.open_at_end).toEqual([1, 8]);
  });

  it('funding at the time of the entry is an amount, that of later times is not', () => {
    const rows: Row[] = [flat(100), flat(100), flat(100), flat(100), flat(100)];
    const funding = fundingOf([
      { hour: 1, rate: -0.01, markPrice: 100 },
      { hour: 2, rate: -0.05, markPrice: 100 },
    ]);
    const { amounts } = assumptionsOf([pairOf({ rows, enterLong: [0], exitLong: [2], funding })]);
    expect(amounts.entry_settlement).toEqual([1, 1]);
    expect(amounts.order_in_candle).toEqual(NOTHING);
  });

  it('trades that used a slot that a later moment of the candle freed are an amount', () => {
    const rows: Row[] = [flat(100), [100, 145, 100, 145], flat(145)];
    const pairs = ['A', 'B', 'C'].map((pair) => pairOf({ pair, rows, enterLong: [0] }));
    const { amounts } = assumptionsOf(pairs, { minimalRoi: { 0: 0.4 } });
    expect(amounts.freed_later).toEqual([2, 80]);
  });

  it('rows are sorted by size, and costs are values of one, two and five basis points', () => {
    const rows: Row[] = [flat(100), flat(100), [85, 98, 84, 97], flat(97)];
    const { assumptions, costs } = assumptionsOf([pairOf({ rows, enterLong: [0] })], { stoploss: -0.05 });
    expect(assumptions[0]!.name).toBe('gap_at_stop');
    expect(assumptions[0]!.amount_pct).toBe(1);
    // Entry at 100 and exit at 95.
    expect(costs.map(({ amount }) => amount)).toEqual([0.0195, 0.039, 0.0975]);
  });

  it('callbacks that take part in exits make the order inside a candle unknown, with the reason', () => {
    const rows: Row[] = [flat(100), flat(100), flat(100), flat(100)];
    const { assumptions } = assumptionsOf([pairOf({ rows, enterLong: [0] })], {
      callbacks: { customExit: () => null },
    });
    const row = assumptions.find(({ name }) => name === 'order_in_candle')!;
    expect(row).toMatchObject({ trades: null, amount: null, reason: expect.stringContaining('customExit') });
  });

  it('a conservative run has no assumptions on the order inside a candle', () => {
    const rows: Row[] = [flat(100), flat(100), flat(100), flat(100)];
    const { amounts } = assumptionsOf([pairOf({ rows, enterLong: [0] })], { fillModel: 'conservative' });
    expect(Object.keys(amounts).sort()).toEqual(['entry_settlement', 'open_at_end']);
  });

  it.each<[string, string[], Partial<SimulationSettings>]>([
    ['one pair', ['A'], {}],
    ['three pairs with one slot and compounding stakes', ['A', 'B', 'C'], { stake: { kind: 'unlimited' } }],
  ])('the order inside a candle is the sum of each trade alone under conservative fills: %s', (...given) => {
    const [, names, own] = given;
    const rowsOf = Object.fromEntries(names.map((name, index) => [name, walk(600, 7 + index)]));
    const signals = walk(600).map((_, row) => row);
    const enterLong = signals.filter((row) => row % 7 === 0 && row < 590);
    const enterShort = signals.filter((row) => row % 11 === 3 && row < 590);
    const changes = {
      stoploss: -0.02,
      trailing: { positive: 0.03, offset: 0.01, only_offset_is_reached: true },
      minimalRoi: { 0: 0.04, 300: 0.01 },
      fee: 0.0005,
    };
    const pairs = names.map((pair) => pairOf({ pair, rows: rowsOf[pair]!, enterLong, enterShort }));
    const { run, other, amounts } = assumptionsOf(pairs, { ...changes, ...own });
    const { table } = run;
    const entered = new Set(other.trades.map(({ pair, openedAt }) => `${pair} ${openedAt}`));
    // The conservative run has some of the trades, and others in place of the rest.
    const matched = run.trades.filter(({ pair, openedAt }) => entered.has(`${pair} ${openedAt}`)).length;
    expect(matched).toBeGreaterThan(0);
    expect(matched).toBeLessThan(table.length);
    expect(table.length).toBeGreaterThan(30);
    let [sum, changed, gaps, movedGaps] = [0, 0, 0, 0];
    /** The stop of a trade after so many candles; one without a range follows, since the last candle has no entry. */
    const stopAfter = (rows: readonly Row[], count: number, entry: object) => {
      const cut = [...rows.slice(0, count), flat(rows[count - 1]![3])];
      return simulate([pairOf({ rows: cut, ...entry })], settingsOf(changes)).trades[0]!.stopPrice;
    };
    for (let row = 0; row < table.length; row++) {
      const trade = tradeAt(table, row);
      const rows = rowsOf[trade.pair]!;
      const opened = (trade.openedAt - START) / HOUR;
      const entry = { [trade.side === 'long' ? 'enterLong' : 'enterShort']: [opened - 1] };
      const alone = simulate(
        [pairOf({ rows, ...entry })],
        settingsOf({
          ...changes,
          fillModel: 'conservative',
          startingBalance: 1e9,
          stake: { kind: 'fixed', amount: trade.stake },
        }),
      );
      const closed = (trade.closedAt - START) / HOUR;
      const [open, high, low] = rows[closed]!;
      const side = trade.side === 'long' ? 1 : -1;
      const stop = closed > opened ? stopAfter(rows, closed, entry) : Number.NaN;
      const atStop = side === 1 ? high >= stop : low <= stop;
      const isGap = /stop_loss$/.test(trade.exitReason) && atStop && side * (stop - open) > 0;
      const gap = isGap ? side * (stop - open) * trade.amount * (1 - side * 0.0005) : 0;
      if (isGap && trade.exitReason === 'trailing_stop_loss') movedGaps++;
      gaps += gap;
      const withoutGap = trade.profit - gap;
      const difference = withoutGap - alone.trades[0]!.profit;
      sum += difference;
      if (Math.abs(difference) > 1e-7) changed++;
    }
    expect(changed).toBeGreaterThan(0);
    expect(movedGaps).toBeGreaterThan(0);
    expect(amounts.gap_at_stop![1]).toBeCloseTo(gaps, 5);
    expect(amounts.order_in_candle![0]).toBe(changed);
    expect(amounts.order_in_candle![1]).toBeCloseTo(sum, 5);
  });
});

/** Candles of a walk with a fixed seed; each opens at the close before it, now and then with a gap. */
function walk(count: number, seed = 7): Row[] {
  let state = seed;
  const random = () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648 - 0.5;
  };
  const rows: Row[] = [];
  let price = 100;
  for (let row = 0; row < count; row++) {
    const open = price * (row % 5 === 0 ? 1 + random() * 0.06 : 1);
    const close = open * (1 + random() * 0.03);
    const high = Math.max(open, close) * (1 + Math.abs(random()) * 0.03);
    const low = Math.min(open, close) * (1 - Math.abs(random()) * 0.03);
    rows.push([open, high, low, close]);
    price = close;
  }
  return rows;
}
